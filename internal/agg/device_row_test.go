package agg

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// rowGenerators are columns of all types that have words of values.
var rowGenerators = []generator{
	ints(column.Bool), ints(column.Int8), ints(column.Int16), ints(column.Int32), ints(column.Int64),
	ints(column.Uint8), ints(column.Uint16), ints(column.Uint32), ints(column.Uint64),
	ints(column.Date), ints(column.Timestamp), decimals(9, 2), decimals(18, 4),
	oddFloats(column.Float64), oddFloats(column.Float32),
	narrowDecimals(30), narrowDecimals(60),
	// products and powers overflow, or their errors underflow
	floatsOf(column.Float64, func(rng *rand.Rand) float64 {
		return math.Ldexp(rng.NormFloat64(), []int{-520, -340, -260, 260, 340, 510}[rng.IntN(6)])
	}),
}

// valueWord is a value as a word: see RowSource.
func valueWord(v column.Value) uint64 {
	switch v.Type.Rep() {
	case column.RepFloat64:
		return math.Float64bits(v.Float)
	case column.RepWide:
		return v.Wide.LowBits()
	}
	return uint64(v.Int)
}

// asNumber is a value as a double: see RowSource.
func asNumber(v column.Value) float64 {
	switch {
	case v.Type.IsFloat():
		return v.Float
	case v.Type.Kind == column.Uint64:
		return float64(uint64(v.Int))
	}
	return float64(v.Int) / math.Pow10(int(v.Type.Scale))
}

// sumOfOne is the words of a sum of doubles of one product or power of numbers.
func sumOfOne(from RowSource, x, y float64) compensated {
	product := x * y
	sum := dd{product, math.FMA(x, y, -product)}
	switch from {
	case FromThirdPowerS, FromThirdPowerC:
		sum = square(x).times(x)
	case FromFourthPowerS, FromFourthPowerC:
		sum = square(x).mul(square(x))
	}
	s, c := settle(sum.hi+0.0, sum.lo+0.0)
	return compensated{s, c}
}

// madeRow is the state words of row r of d as DeviceRow says that they are made.
func madeRow(row OneRow, d *testData, r int) []uint64 {
	made := make([]uint64, len(row.Words))
	for i, w := range row.Words {
		if w.From == FromConstant || d.args[w.Arg][r].Null || w.Other > 0 && d.args[w.Other-1][r].Null {
			made[i] = w.Constant
			continue
		}
		x := d.args[w.Arg][r]
		y := x
		if w.From.Times() {
			y = d.args[w.Times][r]
		}
		switch w.From {
		case FromValue:
			made[i] = valueWord(x)
		case FromSum:
			made[i] = math.Float64bits(asNumber(x) + 0.0)
		case FromProduct:
			made[i] = uint64(x.Int * y.Int)
		case FromSign:
			made[i] = uint64(int64(valueWord(x)) >> 63)
		case FromPosition:
			made[i] = uint64(r)
		case FromUnsigned:
			made[i] = valueWord(x) ^ 1<<63
		case FromUnsignedNot:
			made[i] = ^(valueWord(x) ^ 1<<63)
		case FromNot:
			made[i] = ^valueWord(x)
		case FromOrder:
			made[i] = uint64(floatKey(x.Float))
		case FromOrderNot:
			made[i] = ^uint64(floatKey(x.Float))
		case FromProductS, FromThirdPowerS, FromFourthPowerS:
			made[i] = math.Float64bits(sumOfOne(w.From, asNumber(x), asNumber(y)).s)
		case FromProductC, FromThirdPowerC, FromFourthPowerC:
			made[i] = math.Float64bits(sumOfOne(w.From, asNumber(x), asNumber(y)).c)
		case FromFixed, FromFixedProduct, FromFixedThirdPower, FromFixedFourthPower:
			made[i] = fixedWordOf(w, asNumber(x), asNumber(y))
		}
	}
	for _, n := range row.Nulls {
		if d.args[n.Arg][r].Null && (n.Unless == 0 || !d.args[n.Unless-1][r].Null) {
			made[n.Word] += n.Add
		}
	}
	return made
}

// sameSum reports whether two sums of floats mean the same: the errors of sums that are infinite or
// NaN mean nothing.
func sameSum(a, b []uint64) bool {
	s, t := math.Float64frombits(a[0]), math.Float64frombits(b[0])
	if s != s {
		return t != t
	}
	return a[0] == b[0] && (a[1] == b[1] || math.IsInf(s, 0))
}

// mustMake fails unless the rows made of single values are those of Init and Update.
func mustMake(t *testing.T, l *Layout, row OneRow, d *testData) {
	t.Helper()
	for r := range d.gids {
		w := newWorker(l, &arena.Arenas{})
		w.update(d, []int{r})
		want, made := w.row(0)[testBase:], madeRow(row, d, r)
		for i := range l.slots {
			s, at := &l.slots[i], l.slots[i].hot-l.base
			switch row.Words[at].From {
			case FromSum, FromProductS, FromThirdPowerS, FromFourthPowerS:
				if !sameSum(made[at:], want[at:]) {
					t.Fatalf("%s of %s: sum %x, want %x", l.callOf(i).name(), show(d.args[s.x][r]), made[at:at+2], want[at:at+2])
				}
				copy(made[at:at+2], want[at:])
			}
		}
		if !slices.Equal(made, want) {
			t.Fatalf("%v of row %d: words %x, want %x", l.calls, r, made, want)
		}
	}
}

// What a device makes of single values is what Update makes of them, for every aggregate,
// type and value, NULL too, and of several aggregates at once.
func TestDeviceRow(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"none", "some", "all"} {
		rng := testRand()
		d := randomData(rng, 60, 1, kind, rowGenerators)
		if single := makeSingle(t, d); len(single) != len(rowNames) {
			t.Errorf("only %v were tried", single)
		}
		several := 0
		for range 1000 {
			l := Compile(randomCalls(rng, d, rng.IntN(6)), testBase, Options{MaxRows: []int64{-1, 60}[rng.IntN(2)], Device: rng.IntN(2) == 0})
			if row, why := l.DeviceRow(); why == "" {
				several++
				mustMake(t, l, row, d)
			}
		}
		if several < 50 {
			t.Errorf("only %d layouts of several aggregates were tried", several)
		}
	}
}

// rowNames are the aggregates whose rows follow from values, for some types.
var rowNames = []string{
	"count", "sum", "mean", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "var_samp", "stddev_pop", "corr", "covar_pop",
	"skewness", "kurtosis", "min 2", "max 3", "median", "quantile_disc", "mad",
	"first", "last", "any_value", "arg_min", "arg_max",
}

// lacksRow reports whether the row of an aggregate does not follow from values of these types: of
// decimals of more than 18 digits but for sums, and of exact products that may have more than 64
// bits.
func lacksRow(name string, types []column.Type) bool {
	if slices.ContainsFunc(types, func(t column.Type) bool { return t.Rep() == column.RepWide }) {
		return !slices.Contains([]string{"count", "sum", "mean"}, name)
	}
	switch name {
	case "var_samp", "stddev_pop", "corr", "covar_pop":
		return !slices.ContainsFunc(types, column.Type.IsFloat) && slices.ContainsFunc(types, func(t column.Type) bool { return !fitsInt32(t) })
	}
	return false
}

// makeSingle checks single aggregates, and returns which there were.
func makeSingle(t *testing.T, d *testData) map[string]bool {
	t.Helper()
	single := map[string]bool{}
	for arg := range d.args {
		for _, name := range rowNames {
			c := Call{Args: []int{arg}, Types: []column.Type{d.args[arg][0].Type}}
			if slices.Contains([]string{"corr", "covar_pop", "arg_min", "arg_max"}, name) {
				other := (arg + 3) % len(d.args)
				c.Args, c.Types = append(c.Args, other), append(c.Types, d.args[other][0].Type)
			}
			var err error
			function, n, several := strings.Cut(name, " ")
			if several {
				c.Params = theBest(int(n[0] - '0'))
			}
			if name == "quantile_disc" {
				c.Params = []column.Value{{Type: column.Type{Kind: column.Float64}, Float: 0.3}}
			}
			if c.Func, _, err = Resolve(function, c.Types, c.Params); err != nil {
				continue
			}
			for _, o := range []Options{{MaxRows: -1}, {MaxRows: 60}, {MaxRows: 60, Device: true}} {
				l := Compile([]Call{c}, testBase, o)
				row, why := l.DeviceRow()
				if why != "" {
					if !lacksRow(name, c.Types) {
						t.Errorf("%s of %v: %s", name, c.Types, why)
					}
					continue
				}
				single[name] = true
				mustMake(t, l, row, d)
			}
		}
	}
	return single
}

// An aggregate whose states do not follow from single values is refused by name and reason.
func TestDeviceRowLacks(t *testing.T) {
	t.Parallel()
	d := randomData(testRand(), 10, 1, "none", rowGenerators)
	const i32, i64, u64, double = 3, 4, 8, 13
	for _, x := range []struct {
		name string
		args []int
		want string
	}{
		{"stddev_samp", []int{i64}, "stddev_samp(int64): the device makes no states of it from values"},
		{"var_pop", []int{u64}, "var_pop(uint64): the device makes no states of it from values"},
		{"corr", []int{i32, u64}, "corr(int32, uint64): the device makes no states of it from values"},
	} {
		calls := []Call{callOf(t, d, "sum", i32), callOf(t, d, x.name, x.args...)}
		if row, why := Compile(calls, testBase, Options{MaxRows: -1}).DeviceRow(); row.Words != nil || why != x.want {
			t.Errorf("%v and %q, want %q", row, why, x.want)
		}
	}
	var many []Call
	for arg := range d.args {
		for _, name := range []string{"min", "max", "sum", "count"} {
			c := Call{Args: []int{arg}, Types: []column.Type{d.args[arg][0].Type}}
			if f, _, err := Resolve(name, c.Types, nil); err == nil {
				c.Func = f
				many = append(many, c)
			}
		}
	}
	if _, why := Compile(many, testBase, Options{MaxRows: -1}).DeviceRow(); !strings.Contains(why, "and the device combines at most ") {
		t.Errorf("too many words: %q", why)
	}
}

// The words of the least and the greatest text of one row are those of Init and Update, but for the
// ref, which is the device's: it is that of the text, or 0.
func TestDeviceRowTexts(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"none", "some"} {
		d := randomData(testRand(), 60, 1, kind, deviceGenerators)
		const i32, text = 0, 12
		l := Compile([]Call{callOf(t, d, "max", i32), callOf(t, d, "min", text), callOf(t, d, "max", text)}, testBase, Options{MaxRows: -1, Device: true})
		row, why := l.DeviceRow()
		if why != "" {
			t.Fatal(why)
		}
		for r := range d.gids {
			reg := &arena.Arenas{}
			w := newWorker(l, reg)
			w.update(d, []int{r})
			want, v, texts := w.row(0)[testBase:], d.args[text][r], 0
			for i, word := range row.Words {
				switch {
				case word.From != FromPrefix && word.From != FromText:
				case v.Null && want[i] != word.Constant:
					t.Errorf("row %d: word %d of NULL is %#x, want %#x", r, i, word.Constant, want[i])
				case v.Null:
				case word.From == FromPrefix && want[i] != prefixOf([]byte(v.Bytes)), word.From == FromText && string(reg.Get(want[i])) != v.Bytes:
					t.Errorf("row %d: word %d is %#x, of %q", r, i, want[i], v.Bytes)
				default:
					texts++
				}
			}
			if refs := len(l.Texts(w.row(0))); !v.Null && (texts != 4 || refs != 2) || v.Null && refs > 0 {
				t.Errorf("row %d: %d words of texts, %d refs", r, texts, refs)
			}
		}
		if _, why := Compile([]Call{{Func: callOf(t, d, "min", text).Func, Args: []int{text}, Types: []column.Type{d.args[text][0].Type}, Part: 1}}, testBase, Options{MaxRows: -1, Device: true}).DevicePart(1); why == "" {
			t.Error("a device makes texts of distinct values")
		}
	}
}
