package gagg_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
)

// formsFile is a file with texts that are JSON, of an enum, and only texts. e2 has other texts than
// in a second file of the same columns.
func formsFile(t *testing.T, e2 parquet.Node) *bytes.Reader {
	t.Helper()
	schema := parquet.NewSchema("forms", parquet.Group{
		"e": parquet.Enum(), "e2": e2, "j": parquet.Optional(parquet.JSON()), "s": parquet.String(),
	})
	var b bytes.Buffer
	w := parquet.NewWriter(&b, schema)
	for i := range 6 {
		j := parquet.ByteArrayValue(fmt.Appendf(nil, `{"a": %d}`, i%3)).Level(0, 1, 2)
		if i == 5 {
			j = parquet.NullValue().Level(0, 0, 2)
		}
		if _, err := w.WriteRows([]parquet.Row{{
			parquet.ByteArrayValue([]byte{'x' + byte(i%2)}).Level(0, 0, 0), parquet.ByteArrayValue([]byte("e")).Level(0, 0, 1), j,
			parquet.ByteArrayValue([]byte("s")).Level(0, 0, 3),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}

// types are the columns of an input, as NAME TYPE.
func typesOf(t *testing.T, src gagg.Source) string {
	t.Helper()
	d, err := gagg.Describe(t.Context(), src, gagg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range d.Columns {
		all = append(all, c.Name+" "+c.Type)
	}
	return strings.Join(all, ", ")
}

// Columns that Parquet or Arrow call JSON or an enum are that where they are put out as they are,
// as keys and as values that an aggregate gives, and texts in all that is computed of them.
func TestForms(t *testing.T) {
	one, two := formsFile(t, parquet.Enum()), formsFile(t, parquet.String())
	from := gagg.Parquet("one", one, one.Size())
	both := gagg.Readers(gagg.Reader{Name: "one", Reader: one, Size: one.Size()}, gagg.Reader{Name: "two", Reader: two, Size: two.Size()})
	if got := typesOf(t, from); got != "e enum, e2 enum, j json, s string" {
		t.Error(got)
	}
	if got := typesOf(t, both); got != "e enum, e2 string, j json, s string" {
		t.Errorf("of two files: %s", got)
	}
	q := gagg.Query{
		From: from, By: []string{"e", "upper(e) as u"},
		Aggs: []gagg.Agg{gagg.Expr(`min(j) as j, any_value(s) as s, arg_max(j, s) as am, mode(e2) as m, min(j) || '' as text, list(j) as l,
			string_agg(e2, '') as agg, max(j ->> '$.a') as a, count_if(j -> '$.a' = '1') as ones`)},
		Where: "json_valid(j) and e < 'z' and e in ('x', 'y') and length(j) = 8", OrderBy: []string{"e"},
	}
	const values = `x|X|{"a": 0}|s|{"a": 0}|e|{"a": 0}|["{\"a\": 0}","{\"a\": 2}","{\"a\": 1}"]|eee|2|1;y|Y|{"a": 0}|s|{"a": 1}|e|{"a": 0}|["{\"a\": 1}","{\"a\": 0}"]|ee|1|1`
	if got, err := answer(t, q, gagg.Options{}); err != nil || strings.Join(got, ";") != values {
		t.Errorf("%s; %v", strings.Join(got, ";"), err)
	}
	q.Aggs = []gagg.Agg{gagg.Expr("min(j) as j, any_value(s) as s, arg_max(j, s) as am, mode(e2) as m, min(j) || '' as text")}
	q.OrderBy = nil
	const put = "e enum, u string, j json, s string, am json, m enum, text string"
	states := filepath.Join(t.TempDir(), "states.arrow")
	for _, step := range []struct {
		path    string
		from    gagg.Source
		partial bool
	}{
		{states, from, true}, {"merged.parquet", gagg.Merge(gagg.Files(states)), false}, {"x.parquet", from, false}, {"x.arrow", from, false},
	} {
		q := q
		q.Partial = step.partial
		if q.From = step.from; step.path == "merged.parquet" {
			q = gagg.Query{From: step.from}
		}
		rows, err := gagg.Run(t.Context(), q, gagg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		path := step.path
		if !filepath.IsAbs(path) {
			path = filepath.Join(t.TempDir(), path)
		}
		if err := gagg.WriteFile(t.Context(), path, rows, gagg.Output{}); err != nil {
			t.Fatal(err)
		}
		rows.Release()
		if step.partial {
			continue
		}
		if got := typesOf(t, gagg.Files(path)); got != put {
			t.Errorf("%s: %s, want %s", step.path, got, put)
		}
	}
}
