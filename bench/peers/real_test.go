package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/bench/table"
	"github.com/gagg-dev/gagg/internal/datagen"
)

func TestClauses(t *testing.T) {
	all, err := pick("clickbench,tpch", "")
	if err != nil || len(all) != 38+7 {
		t.Fatalf("%d questions, %v", len(all), err)
	}
	if _, err := pick("tpcds", ""); err == nil || !strings.Contains(err.Error(), "tpcds") {
		t.Errorf("tpcds: %v", err)
	}
	some, err := pick("h2o", "c28,c29,t6,c18")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ engine, sql string }{
		{"duckdb", "select CounterID, avg(strlen(URL)) as l, count(*) as c from {table} where URL <> '' group by 1 having count(*) > 100000 order by l desc limit 25"},
		{"clickhouse", `select regexp_replace(Referer, '^https?://(?:www\\.)?([^/]+)/.*$', '\\1') as k, avg(length(Referer)) as l, count(*) as c, min(Referer) as r ` +
			"from {table} where Referer <> '' group by 1 having count(*) > 100000 order by l desc limit 25"},
		{"polars", "select sum(l_extendedprice::double * l_discount::double) as revenue from {table} where l_shipdate >= date '1994-01-01' " +
			"and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24"},
		{"duckdb", "select UserID, SearchPhrase, count(*) as c from {table} group by 1, 2 limit 10"},
	} {
		if got := some[i].sql(c.engine); got != c.sql {
			t.Errorf("%s for %s is\n%s, want\n%s", some[i].name, c.engine, got, c.sql)
		}
	}
	want := []string{
		"-k", "CounterID", "-a", "avg(strlen(URL)) as l, count(*) as c", "--where", "URL <> ''",
		"--having", "count(*) > 100000", "--order-by", "l desc", "--limit", "25",
	}
	if got := some[0].flags(); !slices.Equal(got, want) {
		t.Errorf("flags %q, want %q", got, want)
	}
}

// Equals have one order when answers are compared, and the question that is timed stays as it is.
func TestSettled(t *testing.T) {
	asked, err := pick("", "c18,c40,t15")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"UserID, SearchPhrase", "v desc, TraficSourceID, SearchEngineID, AdvEngineID, Src, Dst", ""} {
		before := asked[i].real.order
		if got := asked[i].settled().real.order; got != want {
			t.Errorf("%s: order by %q, want %q", asked[i].name, got, want)
		}
		if asked[i].real.order != before {
			t.Errorf("%s: the question has changed", asked[i].name)
		}
	}
}

func TestCommand(t *testing.T) {
	c := clauses{keys: []string{"a"}, aggs: []string{"count(*) as c"}, where: "b <> ''", limit: 3}
	if got, want := c.command("t.parquet"), `gagg -k a -a 'count(*) as c' --where 'b <> '\'''\''' --limit 3 t.parquet`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The slower ones come first, the worst at the top; what is not known is no
// ratio; a small question has 25 ms more.
func TestRealReport(t *testing.T) {
	r := realReport{Engines: []string{"duckdb"}, Rounds: 3}
	for _, c := range []struct {
		name         string
		gagg, duckdb cell
	}{
		{"fast", cell{Seconds: []float64{1}, CPU: []float64{1.5}, Peak: 5e6}, cell{Seconds: []float64{4}, Peak: 4e6}},
		{"slow", cell{Seconds: []float64{2}}, cell{Seconds: []float64{1}}},
		{"small", cell{Seconds: []float64{.02}}, cell{Seconds: []float64{.01}}},
		{"started", cell{Seconds: []float64{.05}}, cell{Seconds: []float64{.01}}},
		{"lacking", cell{Failed: "unknown function"}, cell{Seconds: []float64{1}}},
	} {
		r.Results = append(r.Results, realResult{result: result{Question: c.name, Cells: map[string]*cell{"gagg": &c.gagg, "duckdb": &c.duckdb}}})
	}
	var out strings.Builder
	r.markdown(&out)
	text := out.String()
	last := 0
	for _, want := range []string{
		"| | gagg s | duckdb s | gagg CPU s | duckdb CPU s | gagg MB | duckdb MB | duckdb ÷ gagg |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
		"| started | 0.050 | 0.010 | - | - | - | - | 0.20 |\n",
		"| slow | 2.000 | 1.000 |",
		"| small | 0.020 |",
		"| fast | 1.000 | 4.000 | 1.500 | - | 5 | 4 | 4.00 |\n",
		"| lacking | - | 1.000 |",
		"| geometric mean | | | | | | | 0.67 |\n",
		"4 of 5 questions compared with DuckDB; 3 slower, of which 2 miss the mark",
		"; 1 with a higher peak",
		"lacking: gagg has no answer: unknown function",
	} {
		at := strings.Index(text, want)
		if at < last {
			t.Fatalf("%q is not there, or too early, in\n%s", want, text)
		}
		last = at
	}
}

// The fit finds the share that seconds were made with, whatever their size.
func TestSerial(t *testing.T) {
	counts := []int{1, 2, 4, 8, 16}
	for _, share := range []float64{0, .1, 1} {
		var c curve
		for _, n := range counts {
			c = append(c, &cell{Seconds: []float64{3 * (share + (1-share)/float64(n))}})
		}
		if got, ok := c.serial(counts); !ok || math.Abs(got-share) > 1e-9 {
			t.Errorf("a share of %v, %v, want %v", got, ok, share)
		}
		if got, want := c.speedUp(), 1/(share+(1-share)/16); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v times as fast, want %v", got, want)
		}
	}
	if _, ok := (curve{{Seconds: []float64{1}}, {Failed: "no"}}).serial([]int{1, 2}); ok {
		t.Error("one number of threads has a share")
	}
}

func TestScalingReport(t *testing.T) {
	at := func(seconds float64) *cell { return &cell{Seconds: []float64{seconds}} }
	r := scalingReport{Counts: []int{1, 4}, Engines: []string{"gagg", "duckdb"}, Results: []scalingResult{
		{"c1", map[string]curve{"gagg": {at(4), at(1)}, "duckdb": {at(4), {Failed: "killed"}}}},
	}}
	var out strings.Builder
	r.markdown(&out)
	for _, want := range []string{
		"| | | 1 | 4 | speed-up | serial |\n|---|---|---:|---:|---:|---:|\n",
		"| c1 | gagg | 4.000 | 1.000 | 4.0 | 0 % |\n",
		"| c1 | duckdb | 4.000 | - | - | - |\n",
		"c1: duckdb has no answer with 4 threads: killed\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
}

// On small data gagg answers every real query as DuckDB does.
func TestRealAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds gagg and asks 106 questions")
	}
	t.Chdir("../..") // where peer.mjs is found
	if _, err := os.Stat("bench/peers/node_modules"); err != nil {
		t.Skip("there is no DuckDB: npm install --prefix bench/peers --no-package-lock")
	}
	dir := t.TempDir()
	s := settings{rows: 60_000, data: dir}
	for name, made := range map[string]table.Table{"hits": datagen.Hits{Rows: 60_000, Seed: 5}, "lineitem": datagen.Lineitem{Rows: 60_000, Seed: 5}, "trips": datagen.Trips{Rows: 60_000, Seed: 5}} {
		if err := table.Write(filepath.Join(dir, name+"_60000.parquet"), made); err != nil {
			t.Fatal(err)
		}
	}
	command := filepath.Join(dir, "gagg")
	if out, err := exec.Command("go", "build", "-o", command, "./cmd/gagg").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := bench{gagg: gagg{path: command, threads: 2}, engines: []string{"duckdb"}, versions: map[string]string{}}
	for _, q := range slices.Concat(clickbench, tpch, others, trips) {
		line, err := b.realQuestion(t.Context(), s, q)
		if err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		for engine, c := range line.Cells {
			if c.Failed != "" || c.Differs != "" {
				t.Errorf("%s: %s: %s%s", q.name, engine, c.Failed, c.Differs)
			}
		}
	}
}
