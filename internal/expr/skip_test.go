package expr

import (
	"math"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// TestCanSkip protects each rule of interval reasoning by name, and above
// all those that keep rows which bounds do not show.
func TestCanSkip(t *testing.T) {
	t.Parallel()
	ints := func(lo, hi int64) column.Bounds {
		return column.Bounds{Rows: 10, HasMin: true, HasMax: true, Min: intValue(lo), Max: intValue(hi)}
	}
	doubles := func(lo, hi float64) column.Bounds {
		return column.Bounds{Rows: 10, HasMin: true, HasMax: true, Min: doubleValue(lo), Max: doubleValue(hi)}
	}
	with := func(b column.Bounds, change func(*column.Bounds)) column.Bounds {
		change(&b)
		return b
	}
	noMax := func(b *column.Bounds) { b.HasMax = false }
	bloom := func(answer bool) func(*column.Bounds) {
		return func(b *column.Bounds) { b.MaybeIn = func(column.Value) bool { return answer } }
	}
	letters := column.Bounds{HasMin: true, HasMax: true, Min: stringValue("b"), Max: stringValue("d")}
	cases := []struct {
		text   string
		bounds column.Bounds
		want   bool
		why    string
	}{
		{"i > 5", ints(1, 5), true, "all at most 5"},
		{"i >= 5", ints(1, 5), false, "5 may be there"},
		{"i < 1", ints(1, 5), true, "all at least 1"},
		{"i <= 1", ints(1, 5), false, "1 may be there"},
		{"i = 6", ints(1, 5), true, "above"},
		{"i = 0", ints(1, 5), true, "below"},
		{"i = 3", ints(1, 5), false, "within"},
		{"i = 3", with(ints(1, 5), bloom(false)), true, "the bloom filter knows better"},
		{"i = 3", with(ints(1, 5), bloom(true)), false, "the bloom filter is not sure"},
		{"i < 3", with(ints(1, 5), bloom(false)), false, "a bloom filter says nothing on ranges"},
		{"i <> 3", with(ints(1, 5), bloom(false)), false, "nor on inequality"},
		{"i <> 3", ints(3, 3), true, "all equal"},
		{"not i = 3", ints(3, 3), true, "the same said with not"},
		{"not i < 6", ints(1, 5), true, "none at least 6"},
		{"i > 5", with(ints(1, 5), noMax), false, "no upper bound"},
		{"i < 1", with(ints(1, 5), noMax), true, "the lower bound suffices"},
		{"i > 4.5", ints(1, 4), true, "a constant between integers"},
		{"i > 1e300", ints(1, 4), true, "a constant beyond integers"},
		{"i > 5 and b", ints(1, 5), true, "one operand of and suffices"},
		{"i > 5 or b", ints(1, 5), false, "or needs both"},
		{"i > 5 or i < 0", ints(1, 5), true, "and has both here"},
		{"i between 6 and 9", ints(1, 5), true, "a range beside"},
		{"i not between 1 and 5", ints(1, 5), true, "a range around"},
		{"i in (0, 6, 7)", ints(1, 5), true, "no member within"},
		{"i in (0, 3, 7)", ints(1, 5), false, "a member within"},
		{"i in (0, null)", ints(1, 5), true, "NULL in a list is no match"},
		{"i not in (3, null)", ints(1, 5), true, "not in with NULL is never true"},
		{"i not in (3, 4)", ints(3, 3), true, "all are members"},
		{"i not in (3, 4)", ints(3, 5), false, "5 is none"},
		{"i is null", with(ints(1, 5), func(b *column.Bounds) { b.Nulls = 0 }), false, "counts of NULLs lie"},
		{"i is not null", with(ints(1, 5), func(b *column.Bounds) { b.Nulls = 10 }), false, "in both directions"},
		{"i + 1 > 9", ints(1, 5), false, "nothing is known of an operation"},
		{"i > j", ints(1, 5), false, "nor of two columns"},
		{"null", ints(1, 5), true, "NULL is not true"},
		{"i = null", ints(1, 5), true, "nor is a comparison with it"},
		{"1 > 2", ints(1, 5), true, "nor is false"},
		{"i < 0", column.Bounds{HasMin: true, Min: column.Value{Type: column.Type{Kind: column.Int32}}}, false, "bounds of another type are not used"},
		{"s < 'b'", letters, true, "strings have bounds"},
		{"s = 'c'", letters, false, "and members"},
		{"u > 9223372036854775808", column.Bounds{HasMax: true, Max: column.Value{Type: uint64Type, Int: 5}}, true, "unsigned bounds"},
		{"u < 5", column.Bounds{HasMin: true, Min: column.Value{Type: uint64Type, Int: math.MinInt64}}, true, "unsigned bounds beyond int64"},
		{"d > 5", doubles(1, 5), false, "NaN, not in the bounds, is above 5"},
		{"d >= 6", doubles(1, 5), false, "and above 6"},
		{"d <> 5", doubles(5, 5), false, "and not 5"},
		{"not d < 6", doubles(1, 5), false, "and not below 6"},
		{"d not between 1 and 5", doubles(1, 5), false, "and not between"},
		{"d not in (5)", doubles(5, 5), false, "and no member"},
		{"d < 1", doubles(1, 5), true, "but NaN is never below"},
		{"d = 6", doubles(1, 5), true, "nor equal"},
		{"not d > 0", doubles(1, 5), true, "nor not above"},
		{"d = 'nan'", doubles(1, 5), false, "unless NaN is asked for"},
		{"d < 'nan'", doubles(1, 5), false, "and all is below NaN"},
		{"d = 0", with(doubles(0, 5), bloom(false)), false, "a bloom filter knows one zero of two"},
		{"d = 3", with(doubles(0, 5), bloom(false)), true, "and all of the others"},
		{"d = 0", doubles(math.Copysign(0, -1), math.Copysign(0, -1)), false, "-0 is 0"},
		{"d < 1", doubles(math.NaN(), 5), false, "a bound that is NaN is none"},
		{"b", column.Bounds{HasMax: true, Max: boolValue(false)}, true, "a column of booleans"},
		{"not b", column.Bounds{HasMin: true, Min: boolValue(true)}, true, "and its negation"},
		{"s like 'e%'", letters, true, "texts that begin so are above"},
		{"s like 'az_%'", letters, true, "texts that begin so are below"},
		{"s like 'd%'", letters, false, "d itself begins so"},
		{"s like 'da%'", letters, true, "all of them are above d"},
		{"s like 'b_x'", letters, false, "a beginning within"},
		{"s like 'ba%'", letters, false, "behind the least"},
		{"s like '%e'", letters, false, "nothing is known of ends"},
		{"s not like 'e%'", letters, false, "all of them"},
		{"s ilike 'E%'", letters, false, "nothing is known of texts without regard to case"},
		{"s like 'b%'", column.Bounds{HasMin: true, HasMax: true, Min: stringValue("bcd"), Max: stringValue("be")}, false, "the least begins so"},
		{"starts_with(s, 'e')", letters, true, "the same as a function"},
		{"starts_with(s, 'c')", letters, false, "within"},
		{"not starts_with(s, 'c')", letters, false, "others are there too"},
		{"s ^@ 'a'", letters, true, "the same as an operator"},
		{"case when i > 9 then true else false end", ints(1, 5), false, "nothing is known of case"},
	}
	for _, c := range cases {
		n, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := BindFilter(n, c.text, testLookup)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.CanSkip(func(int) column.Bounds { return c.bounds }); got != c.want {
			t.Errorf("%s: CanSkip(%s) = %t", c.why, c.text, got)
		}
	}
}

// TestConstDomain protects constants that have no exact counterpart in the
// column's type, on the values around them.
func TestConstDomain(t *testing.T) {
	t.Parallel()
	type row struct {
		col   int
		value column.Value
	}
	d := func(f float64) row { return row{3, doubleValue(f)} }
	i := func(n int64) row { return row{0, intValue(n)} }
	f := func(x float32) row { return row{4, column.Value{Type: floatType, Float: float64(x)}} }
	p := func(n int64) row { return row{5, column.Value{Type: testColumns[5].Type, Int: n}} }
	const big = 1 << 53
	cases := []struct {
		text string
		row  row
		want bool
	}{
		{"d <= 9007199254740993", d(big), true}, // 2^53+1, rounded down to 2^53
		{"d < 9007199254740993", d(big), true},
		{"d >= 9007199254740993", d(big), false},
		{"d > 9007199254740993", d(big), false},
		{"d = 9007199254740993", d(big), false},
		{"d <> 9007199254740993", d(big), true},
		{"d in (9007199254740993)", d(big), false},
		{"d >= 9007199254740993", d(big + 2), true},
		{"d <= 9007199254740995", d(big + 4), false}, // 2^53+3, rounded up to 2^53+4
		{"d < 9007199254740995", d(big + 4), false},
		{"d >= 9007199254740995", d(big + 4), true},
		{"d > 9007199254740995", d(big + 4), true},
		{"d < 9007199254740995", d(big + 2), true},
		{"d = 0.1", d(0.1), true},
		{"f = 0.1", f(0.1), true},
		{"f in (0.1, 0.2)", f(0.2), true},
		{"i = 0.5", i(0), false},
		{"i <> 0.5", i(0), true},
		{"i < 0.5", i(0), true},
		{"i > -0.5", i(0), true},
		{"i >= -0.5", i(-1), false},
		{"i < 9223372036854775808", i(math.MaxInt64), true},
		{"i > -1e19", i(math.MinInt64), true},
		{"i < 'nan'::double", i(math.MaxInt64), true},
		{"p > 2.005", p(200), false},
		{"p > 2.005", p(201), true},
		{"p = 2.0e0", p(200), true},
		{"p in (2, 2.005)", p(200), true},
		{"p = '2'", p(200), true},
	}
	for _, c := range cases {
		b := &column.Batch{Rows: 1, Cols: make([]column.Vector, len(testColumns))}
		b.Cols[c.row.col] = flatVector(c.row.value.Type, []column.Value{c.row.value})
		var out column.Vector
		if err := bindText(t, c.text).NewEval().Eval(b, &out); err != nil {
			t.Fatal(err)
		}
		if got := out.At(0).Int != 0; got != c.want {
			t.Errorf("%s for %s is %t", c.text, textOf(c.row.value), got)
		}
	}
}
