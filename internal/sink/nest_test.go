package sink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/column"
)

var (
	stringType = column.Type{Kind: column.String}
	doubleType = column.Type{Kind: column.Float64}
	int64Type  = column.Type{Kind: column.Int64}
)

// nestedValue is a list or map, whose counts are 1, 2, 3, ….
func nestedValue(t column.Type, elems ...column.Value) column.Value {
	v := &column.Vector{Type: t, Len: 1, Span: []column.Span{{Len: uint32(len(elems))}}, Elem: vectorOf(t.Elem(), elems)}
	v.Elem.Null = nil
	for i := range elems {
		v.Counts = append(v.Counts, int64(i+1))
	}
	return column.Value{List: v}
}

// listsOf is vectorOf for lists and maps.
func listsOf(t column.Type, values []column.Value) *column.Vector {
	parts := []column.Vector{{Type: t}}
	for _, x := range values {
		if x.Null {
			parts = append(parts, column.Vector{Type: t, Len: 1, Null: []bool{true}, Span: make([]column.Span, 1)})
		} else {
			parts = append(parts, *x.List)
		}
	}
	v := column.Concat(parts)
	return &v
}

// everyNested has a column of lists and one of maps for each type: a row with
// all values of the type, NULL, an empty row, and two with some values.
func everyNested() (cols []testColumn) {
	for _, c := range everyType()[:len(everyType())-2] { // the last two are about names
		values := slices.DeleteFunc(slices.Clone(c.values), func(v column.Value) bool { return v.Null })
		for _, t := range []column.Type{column.ListOf(c.typ), column.MapOf(c.typ)} {
			n := len(values)
			cols = append(cols, testColumn{
				name: map[column.Nest]string{column.List: "list_", column.Map: "map_"}[t.Nest] + c.name, typ: t,
				values: []column.Value{
					nestedValue(t, values...), null(), nestedValue(t), nestedValue(t, values[:min(n, 1)]...), nestedValue(t, values[n/2:]...),
				},
			})
		}
	}
	return cols
}

// Lists and maps of every type in every text format are what testdata says,
// however the rows are cut into records.
func TestNestedGolden(t *testing.T) {
	for file, format := range map[string]Format{
		"nested.csv": CSV, "nested.json": JSON, "nested.ndjson": NDJSON, "nested.md": Markdown, "nested.txt": Table,
	} {
		path := filepath.Join("testdata", file)
		got := render(t, format, everyNested(), 5, Options{})
		if *update {
			os.WriteFile(path, got, 0o644)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; run with -update and read the diff\n%s", path, got)
		}
		if cut := render(t, format, everyNested(), 2, Options{}); !bytes.Equal(cut, want) {
			t.Errorf("%s: differs when cut into records of two rows", path)
		}
	}
}

// textOf is a value as the text formats have it before their own quotes.
func textOf(t column.Type, v column.Value) string {
	_, value := formOf(t)
	return string(value(nil, vectorOf(t, []column.Value{v}), 0))
}

// The quotes are those of DuckDB 1.5.6, which gave these texts.
func TestElementQuotes(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"a": "a", "b c": "b c", "": "''", "a,b": "'a,b'", "a'b": `'a\'b'`, `a"b`: `'a"b'`, "a[b": "'a[b'", "a]b": "'a]b'", "a{b": "'a{b'",
		"a}b": "'a}b'", "a(b": "'a(b'", "a)b": "'a)b'", "a=b": "'a=b'", "a:b": "'a:b'", `a\b`: `a\b`, `\`: `\`, `a'\b`: `'a\'\\b'`,
		`a,\b`: `'a,\\b'`, `\\,`: `'\\\\,'`, `\'`: `'\\\''`, "null": "'null'", "nULL": "'nULL'", "NULL,": "'NULL,'", "nul": "nul",
		"nullx": "nullx", " a": "' a'", "a ": "'a '", "a\nb": "a\nb", "\na": "'\na'", "\t": "'\t'", "\v": "'\v'", "a\u00a0": "a\u00a0", "é": "é",
		"a;b": "a;b", `"`: `'"'`, "'": `'\''`, "'a'": `'\'a\''`, "1": "1", "true": "true",
	} {
		list, m := column.ListOf(stringType), column.MapOf(stringType)
		if got := textOf(list, nestedValue(list, str(s), str("x"))); got != "["+want+", x]" {
			t.Errorf("%q: %s, want [%s, x]", s, got, want)
		}
		if got := textOf(m, nestedValue(m, str(s))); got != "{"+want+"=1}" {
			t.Errorf("%q: %s, want {%s=1}", s, got, want)
		}
	}
	blob := column.ListOf(column.Type{Kind: column.Binary})
	if got := textOf(blob, nestedValue(blob, str(`a,b\`), str("\x00"))); got != `['a,b\\x5C', \x00]` {
		t.Errorf("binary: %s", got)
	}
}

// readElements takes the text of a list of strings apart, by the rules of
// its quotes.
func readElements(s string) (elems []string, err error) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	for s != "" {
		var e string
		if s[0] == '\'' {
			for s = s[1:]; s[0] != '\''; s = s[1:] {
				if s[0] == '\\' {
					s = s[1:]
				}
				e += s[:1]
			}
			s = s[1:]
		} else if end := strings.IndexByte(s, ','); end >= 0 {
			e, s = s[:end], s[end:]
		} else {
			e, s = s, ""
		}
		elems = append(elems, e)
		if s != "" && !strings.HasPrefix(s, ", ") {
			return elems, fmt.Errorf("%q after an element", s)
		}
		s = strings.TrimPrefix(s, ", ")
	}
	return elems, nil
}

// The text of a list of any strings reads back as them: nothing else has the
// same text.
func TestListTextReadsBack(t *testing.T) {
	t.Parallel()
	const marks = `,=:'"[](){}\ ab` + "\n\t\x00NULé"
	rng := rand.New(rand.NewPCG(1, 2))
	list := column.ListOf(stringType)
	for range 20_000 {
		var elems []string
		var values []column.Value
		for range rng.IntN(4) {
			s := ""
			for range rng.IntN(5) {
				runes := []rune(marks)
				s += string(runes[rng.IntN(len(runes))])
			}
			elems, values = append(elems, s), append(values, str(s))
		}
		text := textOf(list, nestedValue(list, values...))
		if got, err := readElements(text); err != nil || !slices.Equal(got, elems) {
			t.Fatalf("%q became %s, which reads back as %q, %v", elems, text, got, err)
		}
	}
}

// Any string in a list, and as the key of a map, decodes from JSON to itself.
func TestNestedJSONReadsBack(t *testing.T) {
	t.Parallel()
	var words []string
	var values []column.Value
	for c := range 0x180 {
		words = append(words, "x"+string(rune(c))+`"`)
		values = append(values, str(words[c]))
	}
	list, m := column.ListOf(stringType), column.MapOf(stringType)
	text := render(t, JSON, []testColumn{
		{name: "l", typ: list, values: []column.Value{nestedValue(list, values...), null()}},
		{name: "m", typ: m, values: []column.Value{nestedValue(m, values...), nestedValue(m)}},
	}, 1, Options{})
	var rows []struct {
		L []string
		M map[string]int64
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rows[0].L, words) || rows[1].L != nil || len(rows[0].M) != len(words) || rows[1].M == nil {
		t.Errorf("%+v", rows)
	}
	for i, w := range words {
		if rows[0].M[w] != int64(i+1) {
			t.Errorf("%q: %d", w, rows[0].M[w])
		}
	}
	if !json.Valid(render(t, JSON, everyNested(), 2, Options{})) {
		t.Error("the JSON of lists of every type is not valid")
	}
}

// The NULL mark does not pass for a list, nor a list for it.
func TestNestedCSVNull(t *testing.T) {
	t.Parallel()
	list := column.ListOf(doubleType)
	cols := []testColumn{{name: "l", typ: list, values: []column.Value{null(), nestedValue(list), nestedValue(list, double(1)), nestedValue(list, double(1), double(math.NaN()))}}}
	for mark, want := range map[string]string{
		"": "l\n\n[]\n[1.0]\n\"[1.0, NaN]\"\n", "[]": "l\n[]\n\"[]\"\n[1.0]\n\"[1.0, NaN]\"\n",
	} {
		if got := string(render(t, CSV, cols, 3, Options{Null: mark})); got != want {
			t.Errorf("--null %q: got %q, want %q", mark, got, want)
		}
	}
}

func TestNestedArrowReadsBack(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		cols := everyNested()
		out := render(t, Arrow, cols, 2, Options{Stream: stream})
		want := recordOf(t, memory.DefaultAllocator, cols)
		row := int64(0)
		for _, rec := range readIPC(t, out, stream) {
			for c, f := range rec.Schema().Fields() {
				// The library's reader drops the metadata of map keys.
				if typ := want.Schema().Field(c).Type; !arrow.TypeEqual(f.Type, typ) {
					t.Fatalf("stream=%t: %s is %s, want %s", stream, f.Name, f.Type, typ)
				}
			}
			part := want.NewSlice(row, row+rec.NumRows())
			for c := range cols {
				if g, w := fmt.Sprint(rec.Column(c)), fmt.Sprint(part.Column(c)); g != w {
					t.Errorf("stream=%t, row %d: %s is %s, want %s", stream, row, cols[c].name, g, w)
				}
			}
			row += rec.NumRows()
		}
		if row != want.NumRows() {
			t.Errorf("stream=%t: %d rows", stream, row)
		}
	}
}
