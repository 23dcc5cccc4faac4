package oracle

import (
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Two texts of lists or maps of one SQL type, as the same value or two.
func TestListCells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sqlType, a, b string
		same          bool
	}{
		{"BIGINT[]", "[1, 2]", "['1', '2']", true},
		{"BIGINT[]", "[1, 2]", "[2, 1]", false},
		{"BIGINT[]", "[1, 2]", "[1, 2, 3]", false},
		{"BIGINT[]", "[]", "[0]", false},
		{"DOUBLE[]", "[1.0, nan]", "[1.0000000000001, NaN]", true},
		{"DOUBLE[]", "[1.0]", "[1.0001]", false},
		{"DECIMAL(4,2)[]", "[1.50]", "[1.5]", true},
		{"DECIMAL(4,2)[]", "[1.50]", "[1.51]", false},
		{"VARCHAR[]", "[a, '']", "['a', '']", true},
		{"VARCHAR[]", "['a, b']", "[a, b]", false},
		{"VARCHAR[]", `['it\'s', 'a\\,b', a\b, ']', 'NULL']`, `['it\'s', 'a\\,b', 'a\\b', ']', 'NULL']`, true},
		{"VARCHAR[]", "['NULL']", "[NULL]", false},
		{"BLOB[]", `['a,\\x00']`, `['\\x61,\\x00']`, true},
		{"TIMESTAMP[]", "['2024-01-31 12:34:56']", "['2024-01-31 12:34:56.0']", true},
		{"MAP(VARCHAR, BIGINT)", "{a=1, 'b=c'=2}", "{'a'=1, 'b=c'=2}", true},
		{"MAP(VARCHAR, BIGINT)", "{a=1}", "{a=2}", false},
		{"MAP(VARCHAR, BIGINT)", "{a=1, b=2}", "{b=2, a=1}", false},
		{"MAP(DECIMAL(4,2), UBIGINT)", "{1.50=1}", "{1.5=1}", true},
		{"MAP(DOUBLE, BIGINT)", "{}", "{1.0=1}", false},
	} {
		a, errA := ReadCell(Field{Text: c.a}, c.sqlType)
		b, errB := ReadCell(Field{Text: c.b}, c.sqlType)
		if errA != nil || errB != nil {
			t.Errorf("%s %s, %s: %v, %v", c.sqlType, c.a, c.b, errA, errB)
		} else if a.Matches(b) != c.same || b.Matches(a) != c.same {
			t.Errorf("%s: %s matches %s: %t", c.sqlType, a, b, !c.same)
		}
	}
	for sqlType, texts := range map[string][]string{
		"BIGINT[]":             {"", "[", "1", "[1", "1]", "[1,2]", "[1, x]", "[1 2]", "[['1']]"},
		"VARCHAR[]":            {"['a]", "['a'b]", `['a\`, "{a}"},
		"MAP(VARCHAR, BIGINT)": {"{a}", "{a=}", "{a=x}", "{a=1", "[a=1]", "{a=1,b=2}", "{'a'1}"},
	} {
		for _, text := range texts {
			if c, err := ReadCell(Field{Text: text}, sqlType); err == nil {
				t.Errorf("%s %q is read as %s", sqlType, text, c)
			}
		}
	}
}

// Values of the engine, CSV and JSON of a list are one cell.
func TestListCellOf(t *testing.T) {
	t.Parallel()
	words := []string{"a", "it's", `a\b, "c"`, "null", "", "{=}", "\n"}
	str := column.Type{Kind: column.String}
	elem := column.Vector{Type: str, Len: len(words)}
	var counts []int64
	for i, w := range words {
		elem.Span = append(elem.Span, column.Span{Off: uint32(len(elem.Data)), Len: uint32(len(w))})
		elem.Data = append(elem.Data, w...)
		counts = append(counts, int64(i+1))
	}
	spans := []column.Span{{Len: 7}, {}, {}}
	batch := column.Batch{Rows: 3, Cols: []column.Vector{
		{Type: column.ListOf(str), Len: 3, Null: []bool{false, true, false}, Span: spans, Elem: &elem},
		{Type: column.MapOf(str), Len: 3, Null: []bool{false, true, false}, Span: spans, Elem: &elem, Counts: counts},
	}}
	got := Rows([]column.Batch{batch}, 0)
	table, err := ReadNDJSON(strings.NewReader(
		`{"l":["a","it's","a\\b, \"c\"","null","","{=}","\n"],"m":{"a":1,"it's":2,"a\\b, \"c\"":3,"null":4,"":5,"{=}":6,"\n":7}}`+
			`{"l":null,"m":null} {"l":[],"m":{}}`), []string{"l", "m"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Expectation{Types: []string{"VARCHAR[]", "MAP(VARCHAR, BIGINT)"}}.result(table)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Rows {
		if err := equalRows(got.Rows[i], want.Rows[i]); err != nil {
			t.Errorf("row %d: %v", i, err)
		}
		if err := equalRows(got.Rows[i], want.Rows[(i+1)%3]); err == nil {
			t.Errorf("row %d is taken for the next", i)
		}
	}
	if s := got.Rows[2][0].String() + got.Rows[2][1].String() + got.Rows[1][0].String(); s != "[]{}NULL" {
		t.Errorf("shown as %s", s)
	}
	if s := got.Rows[0][1].String(); !strings.HasPrefix(s, `{"a"=1, "it's"=2, `) {
		t.Errorf("shown as %s", s)
	}
	if _, err := ReadNDJSON(strings.NewReader(`{"l":[[1]]}`), []string{"l"}); err == nil {
		t.Error("a list of lists is read")
	}
}
