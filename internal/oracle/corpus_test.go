package oracle

import (
	"strings"
	"testing"
)

func TestReadCSV(t *testing.T) {
	t.Parallel()
	text := "a,\"b\"\"c\"\r\n\\N,\"\\N\"\n\"x\n,y\",\n\"\",\"é\"\n"
	table, err := ReadCSV(strings.NewReader(text), `\N`)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]Field{
		{{`\N`, true}, {`\N`, false}},
		{{"x\n,y", false}, {"", false}},
		{{"", false}, {"é", false}},
	}
	if table.Header[1] != `b"c` || len(table.Rows) != len(want) {
		t.Fatalf("%+v", table)
	}
	for i := range want {
		for j := range want[i] {
			if table.Rows[i][j] != want[i][j] {
				t.Errorf("row %d, field %d: %+v, want %+v", i, j, table.Rows[i][j], want[i][j])
			}
		}
	}
	for _, bad := range []string{"", "a\n\"x", "a\n\"x\"y\n", "a\n1,2\n"} {
		if _, err := ReadCSV(strings.NewReader(bad), ""); err == nil {
			t.Errorf("%q is read without an error", bad)
		}
	}
}

func TestReadNDJSON(t *testing.T) {
	t.Parallel()
	table, err := ReadNDJSON(strings.NewReader(`{"k":"x","n":12345678901234567890.10}`+"\n"+`{"k":null,"n":true}`), []string{"k", "n"})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]Field{{{"x", false}, {"12345678901234567890.10", false}}, {{"null", true}, {"true", false}}}
	for i := range want {
		for j := range want[i] {
			if table.Rows[i][j] != want[i][j] {
				t.Errorf("row %d, field %d: %+v", i, j, table.Rows[i][j])
			}
		}
	}
}

// Two spellings of one value, or of two, by SQL type.
func TestCellsBySQLType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sqlType, a, b string
		same          bool
	}{
		{"DECIMAL(4,2)", "-.5", "-0.50", true},
		{"HUGEINT", "170141183460469231731687303715884105727", "170141183460469231731687303715884105728", false},
		{"DOUBLE", "-0.0", "0", true},
		{"DOUBLE", "nan", "NaN", true},
		{"DOUBLE", "inf", "Infinity", true},
		{"FLOAT", "1.1", "1.10000002", true},
		{"DATE", "11961-06-30", "+11961-06-30", true},
		{"DATE", "0044-03-15 (BC)", "-0043-03-15", true},
		{"DATE", "2024-01-31", "2024-02-01", false},
		{"TIMESTAMP", "0044-03-15 (BC) 12:34:56.5", "-0043-03-15 12:34:56.5", true},
		{"TIMESTAMP WITH TIME ZONE", "0001-01-01 (BC) 00:00:00+00", "0000-01-01T00:00:00Z", true},
		{"TIMESTAMP", "2024-01-31 00:00:00", "2024-01-31", true},
		{"TIMESTAMP", "2024-01-31 12:34:56.5", "2024-01-31 12:34:56.500000", true},
		{"TIMESTAMP WITH TIME ZONE", "2024-01-31 12:34:56+00", "2024-01-31 12:34:56.000000+00", true},
		{"TIME", "12:34:56.1", "12:34:56.100", true},
		{"BLOB", `a\x00`, `\x61\x00`, true},
		{"UUID", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", true},
		{"VARCHAR", "a", "a ", false},
		{"BOOLEAN", "true", "false", false},
	} {
		a, errA := ReadCell(Field{Text: c.a}, c.sqlType)
		b, errB := ReadCell(Field{Text: c.b}, c.sqlType)
		if errA != nil || errB != nil || a.Matches(b) != c.same {
			t.Errorf("%s %q against %q: %v %v, %v %v", c.sqlType, c.a, c.b, a, b, errA, errB)
		}
	}
	for sqlType, bad := range map[string]string{"DATE": "yesterday", "BIGINT": "1/2", "BOOLEAN": "1", "BLOB": `\q`, "TIME": "12", "GEOMETRY": ""} {
		if _, err := ReadCell(Field{Text: bad}, sqlType); err == nil {
			t.Errorf("%s %q is read without an error", sqlType, bad)
		}
	}
}

// A sampled answer is checked by its sample, its number of groups and its
// totals.
func TestSampledExpectation(t *testing.T) {
	t.Parallel()
	read := func(text string) Table {
		table, err := ReadCSV(strings.NewReader(text), `\N`)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	e := Expectation{
		Table: read("k,sum(x),max(d)\na,1.5,2024-01-01\n"), Types: []string{"VARCHAR", "DOUBLE", "DATE"}, Keys: 1,
		Sampled: true, Groups: 3, Totals: map[string]string{"sum(x)": "4.0", "max(d)": "2 non-null"},
	}
	for _, c := range []struct {
		protects, text string
		ok             bool
	}{
		{"the right answer", "k,s,m\nb,2,2024-01-02\na,1.5,2024-01-01\nc,0.5,\\N\n", true},
		{"a wrong sampled group", "k,s,m\nb,2,2024-01-02\na,1.5,2024-01-02\nc,0.5,\\N\n", false},
		{"a wrong total", "k,s,m\nb,2.5,2024-01-02\na,1.5,2024-01-01\nc,0.5,\\N\n", false},
		{"a wrong count of values", "k,s,m\nb,2,\\N\na,1.5,2024-01-01\nc,0.5,\\N\n", false},
		{"a missing group", "k,s,m\nb,2,2024-01-02\na,1.5,2024-01-01\n", false},
		{"a group twice", "k,s,m\nb,1.5,2024-01-02\na,1.5,2024-01-01\nb,1,\\N\n", false},
	} {
		if err := e.Check(read(c.text)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.protects, err)
		}
	}
}
