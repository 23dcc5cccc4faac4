package expr

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/gagg-dev/gagg/internal/column"
)

// evalText evaluates text on one row without columns.
func evalText(text string) (column.Value, error) {
	n, err := Parse(text)
	if err != nil {
		return column.Value{}, err
	}
	e, err := Bind(n, text, testLookup)
	if err != nil {
		return column.Value{}, err
	}
	var out column.Vector
	if err := e.NewEval().Eval(&column.Batch{Rows: 1}, &out); err != nil {
		return column.Value{}, err
	}
	return out.At(0), nil
}

// TestValues protects results and their types on constants: a sentence each
// for what the random test does not reach or what a rule of SPEC.md says.
func TestValues(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, typ, want, why string }{
		{"1 + 2", "int64", "3", "integers add to int64"},
		{"7 / 2", "double", "3.5", "division is never integer division"},
		{"1 / 0", "double", "NULL", "division by zero is NULL"},
		{"5 % 0", "int64", "NULL", "so is the remainder"},
		{"-7 % 3", "int64", "-1", "the remainder has the sign of the dividend"},
		{"1.50 + 0.005", "decimal(5,3)", "1.505", "decimals align their scales"},
		{"1.5 * 1.25", "decimal(5,3)", "1.875", "scales of factors add up"},
		{"1 - 0.05", "decimal(4,2)", "0.95", "an integer constant takes the digits it needs"},
		{"9223372036854775807 * 1.0", "decimal(21,1)", "9223372036854775807.0", "a product beyond 64 bits is exact"},
		{"1.5 + 1e0", "double", "2.5", "a decimal meets a double as a double"},
		{"0.1 + 0.2 = 0.3", "boolean", "true", "decimals are exact"},
		{"0.1e0 + 0.2e0 = 0.3", "boolean", "false", "doubles are not"},
		{"null + 1", "int64", "NULL", "NULL in arithmetic"},
		{"null = null", "boolean", "NULL", "NULL equals nothing"},
		{"null is null", "boolean", "true", "but is null"},
		{"null and false", "boolean", "false", "false decides and"},
		{"null or true", "boolean", "true", "true decides or"},
		{"null and true", "boolean", "NULL", "true does not"},
		{"not null", "boolean", "NULL", "not NULL is NULL"},
		{"1 in (2, null)", "boolean", "NULL", "not found among NULL"},
		{"1 in (1, null)", "boolean", "true", "found beside NULL"},
		{"1 not in (2, null)", "boolean", "NULL", "nor is not in sure"},
		{"2 between 1 and null", "boolean", "NULL", "half a range"},
		{"2 between 3 and null", "boolean", "false", "decided by the other half"},
		{"true = 1", "boolean", "true", "booleans are 0 and 1"},
		{"true > false", "boolean", "true", "false comes first"},
		{"9007199254740993 = 9007199254740992e0", "boolean", "false", "an integer is not rounded to meet a double"},
		{"18446744073709551615 > -1", "boolean", "true", "great integers have a sign"},
		{"'b' > 'a'", "boolean", "true", "strings by bytes"},
		{"'B' < 'a'", "boolean", "true", "capital letters come first"},
		{"date '2000-01-01' = timestamp '2000-01-01 00:00:00'", "boolean", "true", "a date is its midnight"},
		{"date '2000-01-01' + 31", "date", "2000-02-01", "days added to a date"},
		{"date '2000-03-01' - date '2000-02-01'", "int64", "29", "days between dates"},
		{"timestamp '2000-01-01 12:00:00+02' = '2000-01-01T10:00:00Z'", "boolean", "true", "zones are resolved"},
		{"date '2000-01-01' = '2000-01-01'", "boolean", "true", "a string is read as what it meets"},
		{"1 = '1'", "boolean", "true", "a number too"},
		{"1.50 < '1.505'", "boolean", "true", "with all its digits"},
		{"true = 'TRUE'", "boolean", "true", "and a boolean"},
		{"'a' || 1 || null", "string", "NULL", "NULL in a concatenation"},
		{"'a' || 1.50 || true", "string", "a1.50true", "other types by their text"},
		{"'hello' like 'h%o'", "boolean", "true", "pieces at both ends"},
		{"'hello' like 'h%l%l%o'", "boolean", "true", "pieces in order"},
		{"'hello' like 'hel%llo'", "boolean", "false", "pieces do not overlap"},
		{"'hello' like 'h_llo'", "boolean", "true", "one character"},
		{"'€xz' like '%__x%'", "boolean", "false", "a character is not a byte"},
		{"'héllo' ilike 'HÉ%'", "boolean", "true", "ilike knows letters"},
		{"'a%' not like 'a'", "boolean", "true", "% in the text is no wildcard"},
		{"case when 1 > 2 then 'x' end", "string", "NULL", "no branch, no else"},
		{"case 3 when 1 then 'a' when 3 then 'c' else 'z' end", "string", "c", "case with an operand"},
		{"case when true then 1 else 2.5 end", "decimal(20,1)", "1.0", "branches have one type"},
		{"case when false then cast('x' as int) else 7 end", "int64", "7", "a branch not taken is not computed"},
		{"coalesce(null, 1, 2)", "int64", "1", "the first that is not NULL"},
		{"coalesce(null, null)", "null", "NULL", "nothing but NULL"},
		{"nullif(1, 1)", "int64", "NULL", "equal"},
		{"nullif('a', 'b')", "string", "a", "not equal"},
		{"abs(-3)", "int64", "3", "abs of an integer"},
		{"abs(-1.50)", "decimal(3,2)", "1.50", "abs of a decimal"},
		{"abs(-2e0)", "double", "2.0", "abs of a double"},
		{"upper('é') || lower('ÀB')", "string", "Éàb", "letters of other scripts"},
		{"length('héé')", "int64", "3", "characters, not bytes"},
		{"year(date '2024-02-29') * 10000 + month(date '2024-02-29') * 100 + day(date '2024-02-29')", "int64", "20240229", "parts of a date"},
		{"year(timestamp '1969-12-31 23:59:59.999')", "int64", "1969", "before 1970 days are counted down"},
		{"year(date '-0044-03-15')", "int64", "-44", "years before the first"},
		{"regexp_matches('a\nb', 'a.b')", "boolean", "false", "a dot is no line's end"},
		{"regexp_matches('a\nb', 'a.b', 's')", "boolean", "true", "but with flag s"},
		{"regexp_matches('a\nb', 'a.b', 'sm')", "boolean", "false", "of several flags the last counts"},
		{"regexp_matches('a\nb', '^b')", "boolean", "false", "^ is the beginning of the text"},
		{"regexp_replace('x\ny', '.', '-', 'g')", "string", "-\n-", "every match"},
		{"'42'::int", "int32", "42", "text to a number"},
		{"'4.5'::int", "int32", "5", "rounded"},
		{"2.5::int", "int32", "3", "decimals round halves up"},
		{"-2.5::int", "int64", "-3", "(minus is applied after the cast)"},
		{"2.5e0::int", "int32", "2", "doubles round halves to even"},
		{"1.005::decimal(5,2)", "decimal(5,2)", "1.01", "to fewer digits"},
		{"1::decimal(5,2)", "decimal(5,2)", "1.00", "to more digits"},
		{"'0.1'::float", "float", "0.1", "a float32 prints as such"},
		{"'nan'::double > 1e308", "boolean", "true", "NaN is the greatest"},
		{"'nan'::double = 'nan'::double", "boolean", "true", "NaN equals NaN"},
		{"-0e0 = 0", "boolean", "true", "zero has no sign"},
		{"timestamp '2000-01-01 23:59:59'::date", "date", "2000-01-01", "a timestamp's day"},
		{"timestamp '1969-12-31 23:59:59.9'::timestamp_s", "timestamp[s]", "1969-12-31 23:59:59", "coarser units cut downwards"},
		{"'2000-01-01 12:00:00.5'::timestamp_ms", "timestamp[ms]", "2000-01-01 12:00:00.5", "text to a timestamp"},
		{"date '2000-01-01'::timestamptz", "timestamp[us, UTC]", "2000-01-01 00:00:00+00", "midnight in UTC"},
		{"1.45e0::decimal(5,1)", "decimal(5,1)", "1.5", "a double rounds as it prints"},
		{"-1.45e0::decimal(5,1)", "decimal(5,1)", "-1.5", "away from zero"},
		{"'inf'::double::string || 2e0 || 1e16", "string", "Infinity2.01e+16", "doubles as text look like those of a result"},
		{"'\\x00\\xff'::blob", "binary", `\x00\xFF`, "text to bytes"},
		{"'\\x00\\xff'::binary::string || 'x'", "string", `\x00\xFFx`, "bytes to text, which is UTF-8"},
		{"+1 - +2", "int64", "-1", "a plus sign"},
		{"1::boolean and not 0::boolean", "boolean", "true", "numbers to booleans"},
	}
	for _, c := range cases {
		v, err := evalText(c.text)
		if err != nil {
			t.Errorf("%s: %s: %v", c.why, c.text, err)
			continue
		}
		got := "NULL"
		if !v.Null {
			got = textOf(v)
		}
		if got != c.want || v.Type.String() != c.typ {
			t.Errorf("%s: %s = %s %s, want %s %s", c.why, c.text, v.Type, got, c.typ, c.want)
		}
	}
}

// TestBindErrors protects the wording and place of mistakes of meaning.
func TestBindErrors(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want string }{
		{"i + x", `unknown column "x", at character 5 of "i + x"`},
		{"s + i", `cannot add string and int64, at character 3 of "s + i"`},
		{"i - b", `cannot subtract int64 and boolean, at character 3 of "i - b"`},
		{"s = 1", `cannot compare string and int64, at character 3 of "s = 1"`},
		{"s = i", `cannot compare string and int64, at character 3 of "s = i"`},
		{"day > 5", `cannot compare date and int64, at character 5 of "day > 5"`},
		{"i = 'x'", `'x' is not a value of type int64, at character 5 of "i = 'x'"`},
		{"i = '4.5'", `'4.5' is not a value of type int64, at character 5 of "i = '4.5'"`},
		{"day between '2000-01-01' and 'soon'", `'soon' is not a value of type date, at character 30 of "day between '2000-01-01' and 'soon'"`},
		{"ms in ('2000-01-01', 'x')", `'x' is not a value of type timestamp[ms], at character 22 of "ms in ('2000-01-01', 'x')"`},
		{"i and b", `and needs boolean operands, not int64, at character 3 of "i and b"`},
		{"not s", `not needs boolean operands, not string, at character 1 of "not s"`},
		{"-s", `cannot negate string, at character 1 of "-s"`},
		{"lowwer(s)", `unknown function "lowwer" (did you mean "lower"?), at character 1 of "lowwer(s)"`},
		{"sum(i) + 1", `unknown function "sum", at character 1 of "sum(i) + 1"`},
		{"abs(distinct i)", `abs is not an aggregate: it takes no *, distinct, order by or filter, at character 1 of "abs(distinct i)"`},
		{"abs(i, i)", `abs takes 1 argument, not 2: abs(x), at character 1 of "abs(i, i)"`},
		{"extract(minutw from ms)", `date_part knows no part 'minutw' (did you mean "minute"?), at character 9 of "extract(minutw from ms)"`},
		{"date_trunc('dow', ms)", `date_trunc knows no part 'dow', at character 12 of "date_trunc('dow', ms)"`},
		{"year(time '12:00:00')", `year needs a date or a timestamp, not time[us], at character 6 of "year(time '12:00:00')"`},
		{"extract(year from time '12:00:00')", `the year is part of a date or a timestamp, not of a time[us], at character 19 of "extract(year from time '12:00:00')"`},
		{"date_part(s, day)", `the part of date_part must be a constant, at character 11 of "date_part(s, day)"`},
		{"regexp_matches(s, 'a(')", "missing closing ): `a(`, at character 19 of \"regexp_matches(s, 'a(')\""},
		{"regexp_matches(s, 'a', 'g')", `flag g is for regexp_replace, at character 24 of "regexp_matches(s, 'a', 'g')"`},
		{"regexp_replace(s, 'a', '\\1')", `\1: the pattern has 0 groups, at character 24 of "regexp_replace(s, 'a', '\1')"`},
		{"regexp_replace(s, 'a')", `regexp_replace takes 3 to 4 arguments, not 2: regexp_replace(s, pattern, replacement[, flags]), at character 1 of "regexp_replace(s, 'a')"`},
		{"round(p, i)", "the digits of round must be a constant, at character 10 of \"round(p, i)\""},
		{"substring(s, 1.5)", `substring needs an integer, not decimal(2,1), at character 14 of "substring(s, 1.5)"`},
		{"coalesce(i, 'x')", `'x' is not a value of type int64, at character 13 of "coalesce(i, 'x')"`},
		{"greatest(day, 'soon', ms)", `'soon' is not a value of type timestamp[ms], at character 15 of "greatest(day, 'soon', ms)"`},
		{"coalesce()", `coalesce takes at least 1 argument, not 0, at character 1 of "coalesce()"`},
		{"upper(i)", `upper needs a string, not int64, at character 7 of "upper(i)"`},
		{"i like 'x'", `like needs strings, not int64, at character 3 of "i like 'x'"`},
		{"i::date", `cannot cast int64 to date, at character 2 of "i::date"`},
		{"case when b then i else s end", `int64 and string have no common type, at character 1 of "case when b then i else s end"`},
		{"case when i then 1 end", `a condition must be boolean, this is int64, at character 11 of "case when i then 1 end"`},
		{"w*w*w*w*w*w*w*w*w*w", `the product of decimal(38,36) and decimal(30,4) has more than 38 digits after the point; cast one to double, at character 18 of "w*w*w*w*w*w*w*w*w*w"`},
	}
	for _, c := range cases {
		n, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Bind(n, c.text, testLookup)
		var located *Error
		if !errors.As(err, &located) {
			t.Errorf("Bind(%q) gives %v, want an *Error", c.text, err)
		} else if err.Error() != c.want {
			t.Errorf("Bind(%q):\n got %s\nwant %s", c.text, err, c.want)
		}
	}
	n, _ := Parse("i + 1")
	if _, err := BindFilter(n, "i + 1", testLookup); err == nil || err.Error() != `a condition must be boolean, this is int64, at character 3 of "i + 1"` {
		t.Errorf("BindFilter of a number: %v", err)
	}
}

// TestRunErrors protects that what goes wrong on values is typed, and that it
// goes wrong when a row is computed, not before.
func TestRunErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"9223372036854775807 + 1", "-9223372036854775807 - 2", "4611686018427387904 * 2", "abs(-9223372036854775808)",
		"date '2000-01-01' + 9000000000", "99999999999999999999999999999999999999. + 1",
	} {
		_, err := evalText(text)
		var over *OverflowError
		if !errors.As(err, &over) {
			t.Errorf("%s: %v, want an *OverflowError", text, err)
		}
	}
	for text, want := range map[string]string{
		"'abc'::int":             `cast('abc' as int32): cannot convert "abc" to int32`,
		"300::tinyint":           `cast(300 as int8): cannot convert "300" to int8`,
		"-1e0::uint8 + 'x'::int": `cast('x' as int32): cannot convert "x" to int32`,
		"1e300::float":           `cast(1e+300 as float): cannot convert "1e+300" to float`,
		"'1e39'::float":          `cast('1e39' as float): cannot convert "1e39" to float`,
		"1e300::decimal(5,2)":    `cast(1e+300 as decimal(5,2)): cannot convert "1e+300" to decimal(5,2)`,
	} {
		_, err := evalText(text)
		var bad *ValueError
		if !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"ln(0)":          "ln(0): there is no logarithm of 0.0",
		"sqrt(1 - 2)":    "sqrt(1 - 2): there is no square root of -1.0",
		"log(1, 2) + 1":  "log(1, 2): there is no logarithm to base 1.0",
		"log10(-0.5e0)":  "log10(-5e-01): there is no logarithm of -0.5",
		"log(-2, 1) > 1": "log(-2, 1): there is no logarithm of -2.0",
	} {
		_, err := evalText(text)
		var outside *DomainError
		if !errors.As(err, &outside) || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	n, _ := Parse("9223372036854775807 + 1")
	e, err := Bind(n, "", testLookup)
	if err != nil {
		t.Fatal(err)
	}
	var out column.Vector
	if err := e.NewEval().Eval(&column.Batch{}, &out); err != nil {
		t.Errorf("no rows, but %v", err)
	}
}

// TestBeyondPrecision protects against wrong numbers from files whose values
// have more digits than their type admits.
func TestBeyondPrecision(t *testing.T) {
	t.Parallel()
	typ := testColumns[5].Type
	b := &column.Batch{Rows: 1, Cols: []column.Vector{5: flatVector(typ, []column.Value{{Type: typ, Int: 1e17}})}}
	for _, text := range []string{"p + 0.00001", "p * 1000000", "p + p * 0.00000001"} {
		var out column.Vector
		err := bindText(t, text).NewEval().Eval(b, &out)
		var over *OverflowError
		if !errors.As(err, &over) {
			t.Errorf("%s: %v, want an *OverflowError", text, err)
		}
	}
}

// TestLongChain protects against work that grows with the square of an
// expression: programs write long ones.
func TestLongChain(t *testing.T) {
	const terms = 100_000
	typ := testColumns[0].Type
	b := &column.Batch{Rows: 1, Cols: []column.Vector{flatVector(typ, []column.Value{intValue(1)})}}
	var out column.Vector
	if err := bindText(t, "i"+strings.Repeat("+i", terms-1)).NewEval().Eval(b, &out); err != nil {
		t.Fatal(err)
	}
	if out.Int[0] != terms {
		t.Errorf("the sum of %d ones is %d", terms, out.Int[0])
	}
}

// bindText binds text or fails the test.
func bindText(t testing.TB, text string) *Expr {
	t.Helper()
	return bindBy(t, &Binder{lookup: testLookup}, text)
}

// bindBy is bindText by a Binder, which may share parts.
func bindBy(t testing.TB, by *Binder, text string) *Expr {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := by.Bind(n, text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestNullStringsArePadded protects readers of 16 bytes from where a span
// begins: a column of NULLs has no bytes of its own to give them.
func TestNullStringsArePadded(t *testing.T) {
	t.Parallel()
	b := &column.Batch{Rows: 2, Cols: []column.Vector{{Type: int64Type, Len: 2, Int: []int64{1, 2}}}}
	for _, text := range []string{"case when i > 2 then 'a' end", "cast(nullif(i, i) as varchar)", "nullif(i, i)::varchar || 'b'"} {
		var out column.Vector
		if err := bindText(t, text).NewEval().Eval(b, &out); err != nil || !out.Valid() || !out.IsNull(1) {
			t.Errorf("%s: %v, valid %t", text, err, out.Valid())
		}
	}
}

// TestColumnIsAliased protects that a plain column costs nothing.
func TestColumnIsAliased(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	b := randomRows(r, 10, false).batch(r, false)
	e := bindText(t, "(i)")
	var out column.Vector
	if err := e.NewEval().Eval(b, &out); err != nil {
		t.Fatal(err)
	}
	if &out.Int[0] != &b.Cols[0].Int[0] {
		t.Error("the column was copied")
	}
	if c, ok := e.Column(); c != 0 || !ok {
		t.Errorf("Column() = %d, %t", c, ok)
	}
	if _, ok := bindText(t, "i + 1").Column(); ok {
		t.Error("i + 1 is a column")
	}
	if cols := bindText(t, "s = 'a' or i + p > i").Columns(); len(cols) != 3 || cols[0] != 0 || cols[1] != 5 || cols[2] != 8 {
		t.Errorf("Columns() = %v", cols)
	}
	if v, ok := bindText(t, "1 + 2 * 3").Const(); !ok || v.Int != 7 {
		t.Errorf("Const() = %v, %t", v, ok)
	}
}

// TestDictionary protects the identity of translated dictionaries, which
// consumers use as a key: one for each Dict that comes by, kept when the
// Dict comes again, never one for two.
func TestDictionary(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	str := func(s string) column.Value { return column.Value{Type: stringType, Bytes: s} }
	values := []column.Value{str("a"), str("b"), {Type: stringType, Null: true}, str("c")}
	batch := func(v column.Vector) *column.Batch {
		return &column.Batch{Rows: v.Len, Cols: []column.Vector{8: v}}
	}
	first, second := dictVector(r, stringType, values), dictVector(r, stringType, values)
	v := bindText(t, "upper(s) || '!'").NewEval()
	var out [3]column.Vector
	for i, in := range []column.Vector{first, second, first} {
		if err := v.Eval(batch(in), &out[i]); err != nil {
			t.Fatal(err)
		}
		if out[i].Dict == nil || &out[i].Codes[0] != &in.Codes[0] {
			t.Fatal("the codes of the column were not kept")
		}
		if got := out[i].At(1).Bytes; got != "B!" || !out[i].IsNull(2) {
			t.Errorf("row 1 is %q", got)
		}
	}
	if out[0].Dict != out[2].Dict || out[0].Dict == out[1].Dict {
		t.Error("the identity of the dictionaries is lost")
	}
}

// F12: nobody keeps the strings of a dictionary that has gone by. They may be a large part of the
// memory.
func TestDictionaryGone(t *testing.T) {
	v := bindText(t, "length(s)").NewEval()
	pass := func() weak.Pointer[column.Dict] {
		in := dictVector(rand.New(rand.NewPCG(1, 1)), stringType, []column.Value{{Type: stringType, Bytes: "a"}})
		var out column.Vector
		if err := v.Eval(&column.Batch{Rows: in.Len, Cols: []column.Vector{8: in}}, &out); err != nil || out.Dict == nil {
			t.Fatal("not translated:", err)
		}
		return weak.Make(in.Dict)
	}
	gone := pass()
	pass()
	runtime.GC()
	if gone.Value() != nil {
		t.Error("the dictionary of the batch before is still there")
	}
	runtime.KeepAlive(v)
}

// TestLargeDictionary protects from translating a large dictionary for the sake of a few rows. It
// is translated when many rows come with it, and the next one when it is seen a second time.
func TestLargeDictionary(t *testing.T) {
	t.Parallel()
	const rows, entries = 50, 1000
	batch := func() *column.Batch {
		dict := column.Vector{Type: int64Type, Len: entries, Int: make([]int64, entries)}
		dict.Int[7] = math.MaxInt64
		in := column.Vector{Type: int64Type, Len: rows, Codes: make([]int32, rows), Dict: &column.Dict{Values: dict}}
		return &column.Batch{Rows: rows, Cols: []column.Vector{in}}
	}
	first, second := batch(), batch()
	const enough = entries/entryLater/rows - 1 // rounds of the first one without
	for text, wantDict := range map[string]bool{"i - 1": true, "i + 1": false} {
		v := bindText(t, text).NewEval()
		for round := range enough + 5 {
			b, want := first, round >= enough
			if round > enough+2 {
				b, want = second, round > enough+3
			}
			var out column.Vector
			if err := v.Eval(b, &out); err != nil {
				t.Fatalf("%s: %v: only an entry without a row overflows", text, err)
			}
			if got := out.Dict != nil; got != (wantDict && want) {
				t.Errorf("%s, round %d: dictionary-coded is %t", text, round, got)
			}
		}
	}
}

// TestUnits protects comparisons of timestamps whose conversion to one unit
// would overflow.
func TestUnits(t *testing.T) {
	t.Parallel()
	ms, ns := testColumns[10].Type, testColumns[11].Type
	for _, c := range []struct{ ms, ns, want int64 }{
		{math.MaxInt64, math.MaxInt64, 0}, {math.MinInt64, math.MinInt64, 1}, {-1, -1, 1}, {-1, -1_000_000, 0}, {0, 1, 1}, {1, 1_000_000, 0},
	} {
		b := &column.Batch{Rows: 1, Cols: []column.Vector{
			10: flatVector(ms, []column.Value{{Type: ms, Int: c.ms}}), 11: flatVector(ns, []column.Value{{Type: ns, Int: c.ns}}),
		}}
		var out column.Vector
		if err := bindText(t, "ms < ns").NewEval().Eval(b, &out); err != nil {
			t.Fatal(err)
		}
		if out.Int[0] != c.want {
			t.Errorf("%d ms < %d ns is %d, want %d", c.ms, c.ns, out.Int[0], c.want)
		}
	}
}

// TestSteadyState protects from allocating for every batch.
func TestSteadyState(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	data := randomRows(r, 1000, false)
	for _, dict := range []bool{false, true} {
		b := data.batch(r, dict)
		for _, text := range []string{
			"i * 2 + j", "p * (1 - p)", "d / i", "s = 'a' or i < 3 and not b", "s like 'a%' and day <= '2000-01-02'", "w + p", "w * p", "p * i * (1 - p)", "-w", "i in (1, 2, 3)",
			"round(d, 1)", "round(p)", "floor(d)", "substr(s, 1, 1)", "trim(s)", "left(s, -1)", "replace(s, 'a', 'b')", "contains(s, 'a')", "greatest(i, j)",
			"sqrt(abs(d))", "concat(s, s)", "upper(s)", "minute(ms) + year(day)", "date_trunc('month', ns)", "strlen(s)", "regexp_matches(s, 'a+b')", "case when i > 0 then d else f end",
		} {
			v := bindText(t, text).NewEval()
			var out column.Vector
			run := func() {
				if err := v.Eval(b, &out); err != nil {
					t.Fatal(err)
				}
			}
			if n := testing.AllocsPerRun(10, run); n > 0 {
				t.Errorf("%s: %v allocations a batch", text, n)
			}
		}
	}
}
