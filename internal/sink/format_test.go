package sink

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/column"
)

func strings1(name string, values ...column.Value) []testColumn {
	return []testColumn{{name: name, typ: column.Type{Kind: column.String}, values: values}}
}

// What an independent CSV reader makes of our text is what went in.
func TestCSVReadsBack(t *testing.T) {
	t.Parallel()
	words := []string{"a", "", ",", `"`, "a\nb", "a\r\nb", "\t", " x ", "ü", "\x00", "NULL", "a;b", `""`}
	cols := []testColumn{{name: "first,", typ: column.Type{Kind: column.String}}, {name: "", typ: column.Type{Kind: column.String}}}
	for i := range words {
		cols[0].values = append(cols[0].values, str(words[i]))
		cols[1].values = append(cols[1].values, str(words[len(words)-1-i]))
	}
	for format, sep := range map[Format]rune{CSV: ',', TSV: '\t'} {
		r := csv.NewReader(bytes.NewReader(render(t, format, cols, 4, Options{})))
		r.Comma = sep
		got, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(words)+1 || got[0][0] != "first," || got[0][1] != "" {
			t.Fatalf("%s: got %q", format, got)
		}
		for i, row := range got[1:] {
			want := strings.ReplaceAll(words[i], "\r\n", "\n") // encoding/csv folds line ends
			if row[0] != want || row[1] != strings.ReplaceAll(words[len(words)-1-i], "\r\n", "\n") {
				t.Errorf("%s row %d: got %q", format, i, row)
			}
		}
	}
}

// F55: NULL, an empty string and the NULL text as a value stay apart.
func TestCSVNull(t *testing.T) {
	t.Parallel()
	cols := append(strings1("s", null(), str(""), str("NA"), str("a\xff")), testColumn{
		name: "n", typ: column.Type{Kind: column.Int64}, values: []column.Value{null(), integer(0), integer(-1), integer(7)},
	})
	for opt, want := range map[string]string{
		"":   "s,n\n,\n\"\",0\nNA,-1\na\\xFF,7\n",
		"NA": "s,n\nNA,NA\n\"\",0\n\"NA\",-1\na\\xFF,7\n",
		"0":  "s,n\n0,0\n\"\",\"0\"\nNA,-1\na\\xFF,7\n",
	} {
		if got := string(render(t, CSV, cols, 10, Options{Null: opt})); got != want {
			t.Errorf("--null %q: got %q, want %q", opt, got, want)
		}
	}
}

// Any byte in a name or a value gives valid JSON that decodes to it.
func TestJSONReadsBack(t *testing.T) {
	t.Parallel()
	var words []column.Value
	for c := range 0x180 {
		words = append(words, str("x"+string(rune(c))+"y"))
	}
	for _, f := range []Format{JSON, NDJSON} {
		text := render(t, f, strings1("a\"\\\x01", words...), 7, Options{})
		var rows []map[string]string
		if f == JSON {
			if err := json.Unmarshal(text, &rows); err != nil {
				t.Fatal(err)
			}
		} else {
			for _, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
				var row map[string]string
				if err := json.Unmarshal(line, &row); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				rows = append(rows, row)
			}
		}
		if len(rows) != len(words) {
			t.Fatalf("%d rows", len(rows))
		}
		for i, row := range rows {
			if got := row["a\"\\\x01"]; got != words[i].Bytes {
				t.Errorf("got %q, want %q", got, words[i].Bytes)
			}
		}
	}
	if !json.Valid(render(t, JSON, everyType(), 2, Options{})) {
		t.Error("the JSON of every type is not valid")
	}
}

// A result without rows is still a whole document.
func TestNoRows(t *testing.T) {
	t.Parallel()
	cols := strings1("s")
	cols = append(cols, testColumn{name: "n", typ: column.Type{Kind: column.Int64}})
	for f, want := range map[Format]string{
		CSV: "s,n\n", TSV: "s\tn\n", JSON: "[]\n", NDJSON: "", None: "",
		Markdown: "| s | n |\n| --- | ---: |\n", Table: "╭───┬───╮\n│ s │ n │\n├───┼───┤\n╰───┴───╯\n",
	} {
		if got := string(render(t, f, cols, 1, Options{})); got != want {
			t.Errorf("%s: got %q, want %q", f, got, want)
		}
	}
}

// Arrow output, file and stream, holds the same arrays, and knows UUIDs.
func TestArrowReadsBack(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		for _, cols := range [][]testColumn{everyType(), strings1("s")} {
			out := render(t, Arrow, cols, 3, Options{Stream: stream})
			want := recordOf(t, memory.DefaultAllocator, cols)
			got := readIPC(t, out, stream)
			if want.NumRows() == 0 {
				if len(got) != 0 {
					t.Errorf("stream=%t: %d records of no rows", stream, len(got))
				}
				continue
			}
			if !got[0].Schema().Equal(want.Schema()) {
				t.Errorf("stream=%t: schema %s", stream, got[0].Schema())
			}
			row := 0
			for _, rec := range got {
				for c := range cols {
					var v column.Vector
					if err := column.FromArrow(rec.Column(c), &v); err != nil {
						t.Fatal(err)
					}
					for i := range v.Len {
						if g, w := v.At(i), cols[c].values[row+i]; !sameValue(g, w) {
							t.Errorf("stream=%t: column %s row %d: got %+v, want %+v", stream, cols[c].name, row+i, g, w)
						}
					}
				}
				row += int(rec.NumRows())
			}
			if len(cols) > 31 {
				if typ, err := column.FromArrowField(got[0].Schema().Field(31)); err != nil || typ.Kind != column.UUID {
					t.Errorf("the UUID came back as %s, %v", typ, err)
				}
			}
		}
	}
}

func readIPC(t *testing.T, b []byte, stream bool) []arrow.Record {
	t.Helper()
	var out []arrow.Record
	if stream {
		r, err := ipc.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			rec := r.Record()
			rec.Retain()
			out = append(out, rec)
		}
		return out
	}
	r, err := ipc.NewFileReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.NumRecords() {
		rec, err := r.RecordAt(i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rec)
	}
	return out
}

// A table keeps to the terminal: text gives way, the widest column first, and
// numbers stay whole.
func TestTableWidth(t *testing.T) {
	t.Parallel()
	cols := []testColumn{
		{name: "name", typ: column.Type{Kind: column.String}, values: []column.Value{str(strings.Repeat("long ", 20)), str("short")}},
		{name: "other", typ: column.Type{Kind: column.String}, values: []column.Value{str("twenty letters at all"), null()}},
		{name: "sum", typ: column.Type{Kind: column.Int64}, values: []column.Value{integer(1234567890123), integer(1)}},
	}
	const want = `
╭──────────────┬──────────────┬───────────────╮
│ name         │ other        │           sum │
├──────────────┼──────────────┼───────────────┤
│ long long l… │ twenty lett… │ 1234567890123 │
│ short        │ NULL         │             1 │
╰──────────────┴──────────────┴───────────────╯
`
	if got := "\n" + string(render(t, Table, cols, 1, Options{Width: 47})); got != want {
		t.Errorf("got %s", got)
	}
	for _, width := range []int{1, 10, 20, 33, 80} {
		for line := range strings.Lines(string(render(t, Table, cols, 1, Options{Width: width}))) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("width %d: a line of %d: %s", width, n, line)
			}
		}
	}
}

func TestTableMaxRows(t *testing.T) {
	t.Parallel()
	c := testColumn{name: "n", typ: column.Type{Kind: column.Int64}}
	for i := range 2500 {
		c.values = append(c.values, integer(int64(i)))
	}
	got := string(render(t, Table, []testColumn{c}, 7, Options{MaxRows: 100}))
	if !strings.Contains(got, "│ 99 │\n") || strings.Contains(got, " 100 │") || !strings.HasSuffix(got, "╯\n2,400 more rows not shown\n") {
		t.Errorf("got %s", got)
	}
}

// A bar is as long as its number is beside the largest one.
func TestTableBar(t *testing.T) {
	t.Parallel()
	cols := []testColumn{
		{name: "k", typ: column.Type{Kind: column.String}, values: []column.Value{str("a"), str("b"), str("c"), str("d"), str("e")}},
		{name: "n", typ: column.DecimalType(9, 1), values: []column.Value{integer(160), integer(81), integer(1), integer(-5), null()}},
	}
	const want = `
╭───┬──────┬──────────────────────╮
│ k │    n │                      │
├───┼──────┼──────────────────────┤
│ a │ 16.0 │  │██████████████████ │
│ b │  8.1 │  │█████████▏         │
│ c │  0.1 │  │▏                  │
│ d │ -0.5 │ ▐│                   │
│ e │ NULL │  │                   │
╰───┴──────┴──────────────────────╯
`
	if got := "\n" + string(render(t, Table, cols, 5, Options{Bar: "N"})); got != want {
		t.Errorf("got %s", got)
	}
	cols[1].values = []column.Value{integer(-30), integer(-15), integer(-8), integer(10), null()}
	const left = `
│ a │ -3.0 │ ██████████████│      │
│ b │ -1.5 │        ███████│      │
│ c │ -0.8 │           ▐███│      │
│ d │  1.0 │               │████▋ │
`
	if got := "\n" + string(render(t, Table, cols, 5, Options{Bar: "N"})); !strings.Contains(got, left) {
		t.Errorf("got %s", got)
	}
	float := func(x float64) column.Value { return column.Value{Float: x} }
	for _, x := range []float64{math.Inf(1), 1e308, math.SmallestNonzeroFloat64} { // no bar is longer than its place
		cols := []testColumn{{name: "x", typ: column.Type{Kind: column.Float64}, values: []column.Value{float(x), float(-x), float(3), float(-2), float(math.NaN())}}}
		for line := range strings.Lines(string(render(t, Table, cols, 5, Options{Bar: "x", Width: 60}))) {
			if n := utf8.RuneCountInString(line); n > 60 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
	cols[1].values = []column.Value{integer(160), integer(152), integer(0), integer(120), null()}
	const narrow = `
╭───┬──────┬───────╮
│ k │    n │       │
├───┼──────┼───────┤
│ a │ 16.0 │ █████ │
│ b │ 15.2 │ ████▊ │
│ c │  0.0 │       │
│ d │ 12.0 │ ███▊  │
│ e │ NULL │       │
╰───┴──────┴───────╯
`
	if got := "\n" + string(render(t, Table, cols, 5, Options{Bar: "N", Width: 20})); got != narrow {
		t.Errorf("got %s", got)
	}
	for _, width := range []int{12, 15, 16} {
		if got := string(render(t, Table, cols, 5, Options{Bar: "N", Width: width})); strings.Contains(got, "█") {
			t.Errorf("at %d columns bars are cut: %s", width, got)
		}
	}
	for _, name := range []string{"k", "none"} {
		if _, err := NewWriter(Table, io.Discard, recordOf(t, memory.DefaultAllocator, cols).Schema(), Options{Bar: name}); err == nil {
			t.Errorf("bars of %s were drawn", name)
		}
	}
}

// A table of all rows is drawn in parts. The columns of each are as wide as those before, or
// wider: no row is lost, and none is cut.
func TestTableParts(t *testing.T) {
	t.Parallel()
	c := testColumn{name: "n", typ: column.Type{Kind: column.String}}
	for i := range 3*headRows + 5 {
		c.values = append(c.values, str(strconv.Itoa(i)))
	}
	c.values[2*headRows] = str("wider than all before")
	got := strings.Split(string(render(t, Table, []testColumn{c}, 1000, Options{})), "\n")
	if first, last := got[0], got[len(got)-2]; first != "╭──────╮" || last != "╰──────╯" || len(got) != len(c.values)+5 {
		t.Fatalf("%d lines from %s to %s", len(got), first, last)
	}
	for i, line := range got[3 : len(got)-2] {
		if want := string(c.values[i].Bytes); strings.Trim(line, "│ ") != want || i < headRows && len([]rune(line)) != 8 {
			t.Fatalf("row %d: %s, want %s", i, line, want)
		}
	}
	small := strings.Split(string(render(t, Table, []testColumn{c}, 1000, Options{Memory: 1 << 20})), "\n")
	if len(small) != len(got) {
		t.Errorf("%d lines with little memory, want %d", len(small), len(got))
	}
}

// F78: nothing in a table can move the cursor or turn the text.
func TestTableEscapes(t *testing.T) {
	t.Parallel()
	cols := strings1("na\x1bme", str("\x1b[31mred\a"), str("tab\tnew\nline"), str("\u202eright"), str("\u009bC1"), str("|`*"))
	for _, f := range []Format{Table, Markdown} {
		got := string(render(t, f, cols, 9, Options{}))
		if strings.ContainsAny(got, "\x1b\a\t\u202e\u009b") {
			t.Errorf("%s: got %q", f, got)
		}
	}
	if got := string(AppendVisible(nil, []byte("\x1b\n\t\u202e ü\xff"), "\t")); got != "\\x1b\\n\t\\u202e ü\\xFF" {
		t.Errorf("got %s", got)
	}
}

func TestRecordOfOtherSchema(t *testing.T) {
	t.Parallel()
	a := recordOf(t, memory.DefaultAllocator, strings1("s", str("x")))
	b := recordOf(t, memory.DefaultAllocator, everyType()[:1])
	for _, f := range Formats {
		if f == None {
			continue
		}
		w, err := NewWriter(f, io.Discard, a.Schema(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(b); err == nil {
			t.Errorf("%s took a record of another schema", f)
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	const n = 64 << 10
	ints := testColumn{typ: column.Type{Kind: column.Int64}}
	floats := testColumn{typ: column.Type{Kind: column.Float64}}
	texts := testColumn{typ: column.Type{Kind: column.String}}
	for i := range int64(n) {
		x := i * 2654435761 % 1000003
		ints.values = append(ints.values, integer(x))
		floats.values = append(floats.values, double(float64(x)/1e4))
		texts.values = append(texts.values, str(fmt.Sprintf("id%010d", x)))
	}
	named := func(cols ...testColumn) []testColumn {
		for i := range cols {
			cols[i].name = fmt.Sprint("c", i)
		}
		return cols
	}
	for _, set := range []struct {
		name string
		cols []testColumn
	}{{"numbers", named(ints, ints, floats, ints)}, {"ints", named(ints, ints, ints, ints)}, {"texts", named(texts, ints)}} {
		rec := recordOf(b, memory.DefaultAllocator, set.cols)
		for _, f := range []Format{CSV, NDJSON, Parquet, Arrow} {
			b.Run(fmt.Sprintf("cols=%s/format=%s", set.name, f), func(b *testing.B) {
				w, err := NewWriter(f, io.Discard, rec.Schema(), Options{})
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := w.Write(rec); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				rows := float64(n) * float64(b.N) / b.Elapsed().Seconds() / 1e6
				b.ReportMetric(rows, "Mrows/s")
				b.ReportMetric(rows*float64(len(set.cols)), "Mvalues/s")
			})
		}
	}
}
