package expr

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// functionCase is a line of testdata/functions.txt.
type functionCase struct {
	text      string
	typ, want string // what DuckDB gives; typ ERROR: an error
	ours      string // "TYPE value" where gagg gives something else; "": nothing else
}

func functionCases(t *testing.T) (cases []functionCase) {
	t.Helper()
	file, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(file)), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) < 3 {
			t.Fatalf("%q has no answer: run functions.mjs", line)
		}
		c := functionCase{text: f[0], typ: f[1], want: f[2]}
		if c.want != "NULL" && json.Unmarshal([]byte(f[2]), &c.want) != nil {
			t.Fatalf("%q: the value is not quoted", line)
		}
		if len(f) > 3 {
			c.ours = f[3]
		}
		cases = append(cases, c)
	}
	return cases
}

// sqlName is DuckDB's name of a type.
func sqlName(t column.Type) string {
	switch {
	case t.Kind == column.Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case t.Kind == column.Time && t.Unit == column.Micro:
		return "TIME"
	case t.Kind == column.Timestamp && t.UTC:
		return "TIMESTAMP WITH TIME ZONE"
	case t.Kind == column.Timestamp && t.Unit == column.Micro:
		return "TIMESTAMP"
	case t.Kind == column.Timestamp:
		return "TIMESTAMP_" + strings.ToUpper(t.Unit.String())
	}
	names := map[string]string{
		"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
		"uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT",
		"float": "FLOAT", "string": "VARCHAR", "binary": "BLOB", "null": "\"NULL\"",
	}
	if name := names[t.String()]; name != "" {
		return name
	}
	return strings.ToUpper(t.String())
}

var beforeChrist = regexp.MustCompile(`^(\d+)(-\d\d-\d\d) \(BC\)`)

// ownText is DuckDB's text of a value of that type as gagg writes it.
func ownText(typ, text string) string {
	switch {
	case text == "NULL":
	case typ == "DOUBLE" || typ == "FLOAT":
		bits := map[string]int{"DOUBLE": 64, "FLOAT": 32}[typ]
		// its sign means nothing
		f, err := strconv.ParseFloat(strings.Replace(text, "-nan", "nan", 1), bits)
		if err != nil {
			return "not a number: " + text
		}
		t := doubleType
		if bits == 32 {
			t = floatType
		}
		return textOf(column.Value{Type: t, Float: f})
	case strings.HasPrefix(typ, "DATE") || strings.HasPrefix(typ, "TIMESTAMP"):
		if m := beforeChrist.FindStringSubmatch(text); m != nil {
			year, _ := new(big.Int).SetString(m[1], 10)
			sign := "-"
			if year.Int64() == 1 {
				sign = ""
			}
			return fmt.Sprintf("%s%04d%s", sign, year.Int64()-1, m[2]) + text[len(m[0]):]
		}
	}
	return text
}

func described(v column.Value) string {
	if v.Null {
		return sqlName(v.Type) + " NULL"
	}
	return sqlName(v.Type) + " " + textOf(v)
}

// ownResults are functions that give something else than DuckDB's of these names, by design.
var ownResults = map[string]bool{"hash": true, "typeof": true, "now": true, "today": true}

// ofLists are functions of what no constant is: TestListFunctions has them.
var ofLists = []string{"list_contains", "list_extract", "list_max", "list_min", "list_sum"}

// TestHash protects that hashes stay as they are: values of many types, known since the first
// version.
func TestHash(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hash(0)": "14374147212387527897", "hash(1)": "3439722301264460078", "hash(-1)": "5841669975847748627", "hash(18446744073709551615::uint64)": "5841669975847748627", "hash(true)": "3439722301264460078",
		"hash(1.5e0)": "2693614958850487384", "hash('NaN'::double)": "7941542138034176421", "hash('')": "3244421341483603138", "hash('é')": "17839895020865391795", "hash(date '2024-01-31')": "16646921479601731782",
		"hash(1.50)": "10464577066838845887", "hash(123456789012345678901234567890.)": "10924351692697443031", "hash(null)": "0", "hash(1, 'a', null)": "2944039914959105777",
	} {
		v, err := evalText(text)
		if err != nil || v.Type != uint64Type || textOf(v) != want {
			t.Errorf("%q: %q, %v", text, textOf(v), err)
		}
	}
	for _, same := range [][2]string{
		{"hash(0e0)", "hash(-0e0)"},
		{"hash(1::int8)", "hash(1::uint64)"},
		{"hash(1)", "hash(1::decimal(38,0))"},
		{"hash(1)", "hash(true)"},
		{"hash(1.5::float)", "hash(1.5e0)"},
		{"hash('ab')", "hash('ab'::binary)"},
		{"hash(1, 2)", "hash(1::int8, 2::decimal(38,0))"},
		{"hash('NaN'::double)", "hash(-('NaN'::double))"},
		{"hash(null::text)", "hash(null::int)"},
		{"typeof(1)", "'int64'"},
		{"typeof(null::decimal(4,2))", "'decimal(4,2)'"},
	} {
		a, err := evalText(same[0])
		b, err2 := evalText(same[1])
		if err != nil || err2 != nil || textOf(a) != textOf(b) || a.Null {
			t.Errorf("%s = %s, %s = %s; %v, %v", same[0], textOf(a), same[1], textOf(b), err, err2)
		}
	}
	for _, other := range [][2]string{{"hash(1, 2)", "hash(2, 1)"}, {"hash(1)", "hash(1, 1)"}, {"hash(null, 1)", "hash(1, null)"}, {"hash('1')", "hash(1)"}} {
		a, _ := evalText(other[0])
		if b, _ := evalText(other[1]); textOf(a) == textOf(b) {
			t.Errorf("%s and %s are both %s", other[0], other[1], textOf(a))
		}
	}
}

// TestFunctionsAsDuckDB protects types and values of the scalar functions:
// those of DuckDB, over edge values, but for the lines that say otherwise.
// Each is computed three times: as a constant, and with its arguments in
// columns, flat and dictionary-coded, beside NULL.
func TestFunctionsAsDuckDB(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range functionCases(t) {
		want := c.ours
		if want == "" {
			want = c.typ + " " + ownText(c.typ, c.want)
		}
		v, err := evalText(c.text)
		got := "ERROR"
		if err == nil {
			got = described(v)
		}
		switch {
		case strings.HasPrefix(want, "ERROR") && err != nil:
			continue
		case got != want:
			t.Errorf("%s = %s (%v), want %s", c.text, got, err, want)
			continue
		case c.ours != "" && c.ours == c.typ+" "+ownText(c.typ, c.want):
			t.Errorf("%s: gagg gives what DuckDB gives, the line says otherwise", c.text)
		}
		for _, name := range lifted(t, c.text, want) {
			seen[name] = true
		}
	}
	edges, err := os.ReadFile("testdata/edges.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i := range functionTable {
		f := &functionTable[i]
		called := regexp.MustCompile(`(?m)^` + f.name + `\(`) // by a template
		if !seen[f.name] && !ownResults[f.name] && !slices.Contains(ofLists, f.name) && !called.Match(edges) {
			t.Errorf("no line of functions.txt or edges.txt calls %s", f.name)
		}
	}
}

// lifted evaluates text with the arguments of its functions in columns. It
// gives the functions that it called so.
func lifted(t *testing.T, text, want string) []string {
	t.Helper()
	liftedWith(t, text, want, true)
	return liftedWith(t, text, want, false)
}

// liftedWith is lifted with intervals as columns too, or as constants.
func liftedWith(t *testing.T, text, want string, spans bool) []string {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	var types []column.Type
	flat, coded := &column.Batch{Rows: 5}, &column.Batch{Rows: 5}
	f := &function{}
	switch n := n.(type) {
	case *Call:
		f = functions[n.Name]
	case *Binary: // the digits that a constant needs are not those of a column of its type
		_, left := n.L.(*Cast)
		if _, right := n.R.(*Cast); (!left || !right) && !addsInterval(n) && !isSpan(n.L) && !isSpan(n.R) {
			return nil
		}
	case *Cast:
		if n.To == intervalType { // only of a literal
			return nil
		}
	default:
		return nil
	}
	args := append([]Node(nil), n.children()...)
	for i, a := range args {
		if len(f.params) > 0 && f.params[min(i, len(f.params)-1)].constant || f.name == "time_bucket" && i != 1 {
			continue
		}
		if lit, ok := a.(*Literal); ok && lit.Value.Type.Kind == column.String && f.section == sectionAny && !strings.HasPrefix(want, "VARCHAR") {
			continue // only a literal is read as another type
		}
		if isSpan(a) && !spans || (f.alike || isSpan(n)) && isTextNode(a) {
			continue
		}
		v, err := evalText(a.String())
		if err != nil || v.Type.Kind == column.Null {
			return nil
		}
		null := column.Value{Type: v.Type, Null: true}
		rows := []column.Value{null, v, v, null, v}
		args[i] = &Column{Name: strconv.Itoa(len(types))}
		types = append(types, v.Type)
		flat.Cols, coded.Cols = append(flat.Cols, flatVector(v.Type, rows)), append(coded.Cols, dictVector(r, v.Type, rows))
	}
	if len(types) == 0 && len(args) > 0 {
		return nil // nothing but intervals and constants
	}
	e, err := Bind(n.with(args), text, func(name string) (int, column.Type, error) {
		i, err := strconv.Atoi(name)
		return i, types[i], err
	})
	if err != nil {
		t.Errorf("%s with columns: %v", text, err)
		return nil
	}
	strict := f.nulls == strictNulls
	for _, b := range []*column.Batch{flat, coded} {
		var out column.Vector
		if err := e.NewEval().Eval(b, &out); err != nil {
			t.Errorf("%s with columns: %v", text, err)
			continue
		}
		for row, isNull := range []bool{true, false, false, true, false} {
			v := out.At(row)
			v.Type = e.Type()
			if got := described(v); !isNull && got != want || isNull && strict && !v.Null && len(args) > 0 || !out.Valid() {
				t.Errorf("%s with columns, row %d: %s, want %s", text, row, got, want)
			}
		}
	}
	return []string{f.name}
}

// addsInterval reports whether n adds an interval to a literal, or takes it from one.
func addsInterval(n *Binary) bool {
	if to, ok := n.L.(*Cast); ok {
		return isInstant(to.To) && isSpan(n.R)
	}
	lit, ok := n.L.(*Literal)
	return ok && isInstant(lit.Value.Type) && isSpan(n.R)
}

// isSpan reports whether n is an interval, or several of them.
func isSpan(n Node) bool {
	found := false
	Walk(n, func(n Node) bool {
		_, is := n.(*Interval)
		found = found || is
		return true
	})
	return found
}

func isTextNode(n Node) bool {
	lit, ok := n.(*Literal)
	return ok && lit.Value.Type.Kind == column.String
}

// Letters of all code points, alone and between others, become what Unicode says, and what is not
// UTF-8 stays.
func TestLetters(t *testing.T) {
	t.Parallel()
	for _, letter := range []func(rune) rune{unicode.ToLower, capital} {
		l := newLetterMap(letter)
		for r := range rune(0x20000) {
			if !utf8.ValidRune(r) {
				continue
			}
			for _, s := range []string{string(r), "aÄ" + string(r) + "Жz"} {
				if got, want := string(l.add(nil, []byte(s))), strings.Map(letter, s); got != want {
					t.Fatalf("%q becomes %q, want %q", s, got, want)
				}
			}
		}
	}
	for _, s := range []string{"\xd0", "A\xd0", "\xd0A", "\xc0\x80", "\xc1\xbf", "\x80A", "Я\xffЯ", "\xe2\x82"} {
		want := strings.NewReplacer("A", "a", "Я", "я").Replace(s)
		if got := string(newLetterMap(unicode.ToLower).add(nil, []byte(s))); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
}
