package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const ordersFile = "../../testdata/orders.parquet"

// completed is what gagg answers for words, the one with a § at the cursor, which is behind all of
// it. Quotes there are of the expression, within those of the shell.
func completed(t *testing.T, words ...string) (kind string, candidates []string) {
	t.Helper()
	at := slices.IndexFunc(words, func(word string) bool { return strings.HasSuffix(word, "§") })
	words[at] = strings.TrimSuffix(words[at], "§")
	if strings.ContainsAny(words[at], `"'`) {
		words[at] = `"` + strings.ReplaceAll(words[at], `"`, `\"`)
	}
	var out, log bytes.Buffer
	status := run(context.Background(), append([]string{completeWord, "fish", strconv.Itoa(at)}, words...), nil, nil, &out, &log)
	if status != statusDone || log.Len() > 0 {
		t.Errorf("%q: status %d, %q", words, status, &log)
	}
	kind, rest, _ := strings.Cut(out.String(), "\n")
	for line := range strings.Lines(rest) {
		text, _, _ := strings.Cut(line, "\t")
		candidates = append(candidates, text)
	}
	return kind, candidates
}

// At each place of the command line: what is offered there, or the first of it, and one word that
// is not.
func TestComplete(t *testing.T) {
	states := filepath.Join(t.TempDir(), "x.state")
	var log bytes.Buffer
	if status := run(context.Background(), []string{"-k", "region", "-a", "sum(price) as sold, count(*)", "--partial", "-o", states, ordersFile}, nil, nil, &log, &log); status != statusDone {
		t.Fatalf("status %d, %s", status, &log)
	}
	for _, c := range []struct{ words, want, not string }{
		{"--temp-d§", "--temp-dir", "--trace"},
		{"-§", "--by | --agg", "region"},
		{"-- | -x§ | F", "", "--by"},
		{"-f§", "", "csv"}, // its value is the next word
		{"-f | §", "parquet | csv | tsv | json | ndjson | arrow | markdown | table | none", ""},
		{"-fma§", "-fmarkdown", ""},
		{"--format=ma§", "--format=markdown", ""},
		{"--compression | z§", "zstd", "snappy"},
		{"--device | §", "auto | cpu | gpu", ""},
		{"--explain=§", "--explain=text | --explain=json", ""},
		{"--explain | x§", "", "json"}, // an input
		{"--progress | a§", "auto | always", "never"},
		{"--limit | §", "", "1"},
		{"-qk | re§ | F", "region | regexp_extract(", "price"},
		{"-kre§ | F", "-kregion", ""},
		{"-k | § | F", "region | customer | product | quantity | price | ordered_at | discount", "lower("},
		{"-k | § | -- | F", "region | customer", ""},
		{"-k | region,low§ | F", "region,lower(", ""},
		{"-k | region as § | F", "", "region as region"},
		{"-k | 5 § | F", "5 as ", "5 region"},
		{"-k | \"re§ | F", "\"region\"", "lower("},
		{"-k | § | no-such-file", "", ""},
		{"-k | § | . | -", "", ""},
		{"-a | su§ | F", "sum(", "substring("},
		{"-a | § | F", "count(*) | count( | sum(", "price"},
		{"-a | sum(§ | F", "sum(region", "sum(sum("},
		{"-a | count(d§ | F", "count(discount | count(distinct ", ""},
		{"-a | count(*§ | F", "count(*)", ""},
		{"-a | count(distinct § | F", "count(distinct region", "count(distinct distinct "},
		{"-a | sum(price * (1 - disc§ | F", "sum(price * (1 - discount", ""},
		{"-a | sum(price) as x,me§ | F", "sum(price) as x,mean( | sum(price) as x,median(", ""},
		{"-a | sum(price) § | F", "sum(price) as  | sum(price) filter (where ", "sum(price) price"},
		{"-a | sum(price) filter (§ | F", "sum(price) filter (where ", ""},
		{"-a | sum(price) filter (where re§ | F", "sum(price) filter (where region", ""},
		{"-a | quantile(price, § | F", "quantile(price, region", ""},
		{"--where | region like 'As§ | F", "", "region like 'Asia"},
		{"--where | region like 'it''s' and di§ | F", "region like 'it''s' and discount", ""},
		{"--where | region i§ | F", "region in | region ilike | region is", "region as"},
		{"--where | region sim§ | F", "region similar to", ""},
		{"--where | region is not distinct from cu§ | F", "region is not distinct from customer", ""},
		{"--where | case when true then region end i§ | F", "case when true then region end in", "case when true then region end isnan("},
		{"-k | extract(minute from o§ | F", "extract(minute from ordered_at", ""},
		{"--where | not re§ | F", "not region", ""},
		{"-k | region | -a | sum(price) as sold, count(*) | --having | so§", "sold", ""},
		{"-k | region | -a | Sum(price) AS Sold, quantile(price, 0.5) | --order-by | §", "region | Sold | \"quantile(price, 0.5)\"", "price"},
		{"-k | region | --order-by | -re§", "-region", ""},
		{"-k | region | --order-by | region de§", "region desc", ""},
		{"-k | region,product | --pivot | p§", "product", "price"},
		{"-k | region,product | --sets | (region,§", "(region,region | (region,product", ""},
		{"-k | region | -a | count(*) as n | --bar | §", "region | n", "price"},
		{"help | date_t§", "date_trunc", ""},
		{"help | GAGG_LIM§", "GAGG_LIMIT", ""},
		{"help | extr§", "extract", ""},
		{"-k | region | hel§", "", "help"},
		{"-k | price::dou§ | F", "price::double", "price::degrees("},
		{"-k | price::dec§ | F", "price::decimal(", "price::decade("},
		{"-k | cast(price as § | F", "cast(price as binary | cast(price as blob", "cast(price as region"},
		{"-k | try_cast(price as i§ | F", "try_cast(price as int16", "try_cast(price as region"},
		{"-k | cast(price a§ | F", "cast(price as ", ""},
		{"-k | extr§ | F", "extract(", ""},
		{"-k | posi§ | F", "position(", ""},
		{"-k | inter§ | F", "interval ", ""},
		{"-k | extract(mi§ | F", "extract(microsecond from  | extract(millennium from ", "extract(minute("},
		{"-k | extract(minute f§ | F", "extract(minute from ", ""},
		{"-k | date_trunc('mo§ | F", "date_trunc('month'", "date_trunc(mod("},
		{"-k | date_trunc('§ | F", "date_trunc('century'", "date_trunc('epoch'"},
		{"-k | date_trunc('month', '§ | F", "", ""},
		{"-k | date_diff('hou§ | F", "date_diff('hour'", ""},
		{"-k | date_trunc('month', or§ | F", "date_trunc('month', ordered_at", ""},
		{"-k | ordered_at at time zone 'Europe/Berl§ | F", "ordered_at at time zone 'Europe/Berlin'", ""},
		{"-k | region similar to cust§ | F", "region similar to customer", ""},
		{"-a | percentile_c§ | F", "percentile_cont(", ""},
		{"-a | percentile_cont(0.5) wi§ | F", "percentile_cont(0.5) within group (order by ", ""},
		{"-a | percentile_cont(0.5) within group (order by pri§ | F", "percentile_cont(0.5) within group (order by price", ""},
		{"-a | list(product order by pri§ | F", "list(product order by price", ""},
		{"-a | list(product o§ | F", "list(product order by ", ""},
		{"--merge | --order-by | § | S", "region | sold | \"count(*)\"", "price"},
		{"--merge | --order-by | -so§ | S", "-sold", ""},
		{"--merge | --having | so§ | S", "sold", ""},
	} {
		words := strings.Split(c.words, " | ")
		for i := range words {
			if words[i] == "F" {
				words[i] = ordersFile
			}
			if words[i] == "S" {
				words[i] = states
			}
		}
		_, got := completed(t, words...)
		want := strings.Split(c.want, " | ")
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.Equal(got[:min(len(got), len(want))], want) {
			t.Errorf("%s: %q, want it to begin with %q", c.words, got[:min(len(got), 12)], want)
		}
		if c.not != "" && slices.Contains(got, c.not) {
			t.Errorf("%s: %s is among %q", c.words, c.not, got)
		}
	}
}

// The first word may be help, unless a file begins so: those the shell knows.
func TestCompleteHelp(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, got := completed(t, "he§"); !slices.Equal(got, []string{"help"}) {
		t.Errorf("%q", got)
	}
	if kind, got := completed(t, "§"); kind != completeFiles || len(got) > 0 {
		t.Errorf("%s %q", kind, got)
	}
	if err := os.WriteFile("heights.parquet", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if kind, got := completed(t, "he§"); kind != completeFiles || len(got) > 0 {
		t.Errorf("%s %q", kind, got)
	}
}

// A system has zones in folders; one that has none gets some that there are.
func TestZoneNames(t *testing.T) {
	got := zonesIn(fstest.MapFS{"Europe/Berlin": {}, "UTC": {}, "CET": {}, "posix/Europe/Berlin": {}, "zone.tab": {}, "America/Indiana/Knox": {}})
	if want := []string{"America/Indiana/Knox", "Europe/Berlin", "UTC"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := zonesIn(os.DirFS(filepath.Join(t.TempDir(), "none"))); len(got) > 0 {
		t.Errorf("%q", got)
	}
	for _, name := range usualZones {
		if _, err := time.LoadLocation(name); err != nil {
			t.Error(err)
		}
	}
}

// The shell completes paths where a flag takes one, and inputs.
func TestCompletePaths(t *testing.T) {
	for _, c := range []struct{ words, kind string }{
		{"§", completeFiles},
		{"-k | region | §", completeFiles},
		{"--output | §", completeFiles},
		{"--stats=§", completeFiles},
		{"--trace | §", completeFiles},
		{"--temp-dir | §", completeFolders},
		{"--limit | §", completeWords},
		{"-k | §", completeParts},
	} {
		if kind, _ := completed(t, strings.Split(c.words, " | ")...); kind != c.kind {
			t.Errorf("%s: %s, want %s", c.words, kind, c.kind)
		}
	}
}

// What cannot be read, or is damaged, has no columns, and nothing is said of it.
func TestCompleteUnreadable(t *testing.T) {
	dir := t.TempDir()
	damaged := filepath.Join(dir, "damaged.parquet")
	if err := os.WriteFile(damaged, []byte("PAR1 and then nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{damaged, filepath.Join(dir, "missing"), filepath.Join(dir, "*"), "s3://", "-"} {
		if _, got := completed(t, "-k", "§", input); len(got) > 0 {
			t.Errorf("%s: %q", input, got)
		}
	}
	for _, args := range [][]string{{}, {"fish"}, {"fish", "x", "y"}, {"fish", "1", "y"}, {"fish", "-1", "y"}, {"", "0", ""}} {
		var out, log bytes.Buffer
		if status := run(context.Background(), append([]string{completeWord}, args...), nil, nil, &out, &log); status != statusDone || log.Len() > 0 {
			t.Errorf("%q: status %d, %q", args, status, &log)
		}
	}
}

// Wherever a line ends there is an answer, whose candidates begin as the word does.
func TestCompletePrefixes(t *testing.T) {
	for _, flag := range []string{"-k", "-a", "--where", "--having", "--order-by", "--sets"} {
		const text = `sum(price * (1 - "disc ""x")) filter (where region like 'it''s' and case when x then 1e3 end) as "a b", ü::int <> -1`
		for i := range text {
			word := text[:i]
			if _, got := completed(t, flag, word+"§", ordersFile); slices.ContainsFunc(got, func(c string) bool {
				return !strings.HasPrefix(c, word[:max(strings.LastIndexAny(word, `"`), 0)])
			}) {
				t.Errorf("%s %s: %q", flag, word, got)
			}
		}
	}
}

// A server that does not answer is not waited for.
func TestCompleteIsQuick(t *testing.T) {
	never := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-never:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(never)
	started := time.Now()
	if _, got := completed(t, "-k", "§", server.URL+"/x.parquet"); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if took := time.Since(started); took > 10*completionTime {
		t.Errorf("%v", took)
	}
}
