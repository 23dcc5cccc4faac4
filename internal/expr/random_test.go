package expr

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// randomNumber writes an expression of numbers.
func randomNumber(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(4) == 0 {
		return pick(r, "i", "j", "u", "d", "f", "p", "w", "i", "j", "p",
			"1", "0", "-3", "2.5", "1.25", "-0.5", "1e0", "2.5e0", "9223372036854775807", "18446744073709551616", "null")
	}
	a, b := randomNumber(r, depth-1), randomNumber(r, depth-1)
	switch r.IntN(10) {
	case 3:
		return pick(r, "(i // j)", "(i // 3)", "(j // -1)", "(u // 7)", "(i // 0)", "(i // i)", "(p // 4)")
	case 0:
		return "-(" + a + ")"
	case 2:
		return randomFunction(r, depth)
	case 1:
		return fmt.Sprintf("(case when %s then %s else %s end)", randomBool(r, depth-1), a, b)
	}
	return fmt.Sprintf("(%s %s %s)", a, pick(r, "+", "-", "*", "/", "%"), b)
}

// randomBool writes a condition.
func randomBool(r *rand.Rand, depth int) string {
	if depth == 0 {
		return pick(r, "b", "b is null", "not b", "true", "null", "i is not null", randomCompare(r, 0), randomCompare(r, 0), randomCompare(r, 0))
	}
	a, b := randomBool(r, depth-1), randomBool(r, depth-1)
	switch r.IntN(10) {
	case 7:
		return "(" + a + pick(r, " is true", " is not true", " is false", " is not false", " is unknown", " is not unknown") + ")"
	case 8:
		x, y := randomNumber(r, depth-1), randomNumber(r, depth-1)
		return fmt.Sprintf("((%s) is %sdistinct from (%s))", x, pick(r, "", "not "), y)
	case 6:
		return randomTest(r, depth-1)
	case 0, 1:
		return fmt.Sprintf("(%s and %s)", a, b)
	case 2, 3:
		return fmt.Sprintf("(%s or %s)", a, b)
	case 4:
		return "(not " + a + ")"
	case 5:
		return "(" + a + " is null)"
	}
	return randomCompare(r, depth-1)
}

func randomCompare(r *rand.Rand, depth int) string {
	operand := func() string { return randomNumber(r, depth) }
	switch r.IntN(5) {
	case 0:
		operand = func() string { return randomText(r, depth) }
	case 1:
		operand = func() string {
			return pick(r, "day", "ms", "ns", randomInstant(r, depth), "date '2000-01-01'", "timestamp '2000-01-01 12:00:00'", "date '1999-12-31'",
				"timestamp '2000-01-01 00:00:00.001'", "timestamptz '2000-01-02 00:00:00.000000001'", "timestamp '90000-01-01'")
		}
	}
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s %sbetween %s and %s)", operand(), pick(r, "", "not "), operand(), operand())
	case 1:
		list := []string{operand(), operand(), operand()}
		return fmt.Sprintf("(%s %sin (%s))", operand(), pick(r, "", "not "), strings.Join(list[:1+r.IntN(3)], ", "))
	}
	return fmt.Sprintf("(%s %s %s)", operand(), pick(r, "=", "<>", "<", "<=", ">", ">="), operand())
}

// TestAgainstReference protects the meaning of expressions. Random expressions on random rows
// give what the reference gives, which computes one row at a time: from flat columns and from
// dictionary-coded ones, on batches of several sizes one after the other.
func TestAgainstReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := randomNumber(r, 1+r.IntN(3))
		if r.IntN(2) == 0 {
			text = randomBool(r, r.IntN(3))
		}
		n, err := Parse(text)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		e, err := Bind(n, text, testLookup)
		if err != nil {
			var located *Error
			if !errors.As(err, &located) {
				t.Fatalf("seed %d: %T, want *Error", seed, err)
			}
			continue
		}
		flat, dict, narrow := e.NewEval(), e.NewEval(), e.NewEval()
		narrow.TakeNarrow()
		for _, rows := range []int{7, 0, 33, 1, 20} {
			data := randomRows(r, rows, r.IntN(3) == 0)
			checkRows(t, seed, n, e, flat, data, data.batch(r, false))
			checkRows(t, seed, n, e, dict, data, data.batch(r, true))
			checkRows(t, seed, n, e, narrow, data, data.batch(r, r.IntN(2) == 0))
		}
		if t.Failed() {
			return
		}
	}
}

// checkRows compares Eval, and Filter for a condition, with the reference.
func checkRows(t *testing.T, seed uint64, n Node, e *Expr, v *Eval, data testRows, b *column.Batch) {
	t.Helper()
	var out column.Vector
	err := v.Eval(b, &out)
	var over *OverflowError
	if errors.As(err, &over) {
		if !overflows(n, data) {
			t.Errorf("seed %d: %s: %v, but nothing overflows", seed, n, err)
		}
		return
	}
	if err != nil {
		t.Errorf("seed %d: %s: %v", seed, n, err)
		return
	}
	if overflows(n, data) && !strings.Contains(n.String(), "case") {
		t.Errorf("seed %d: %s overflows without an error", seed, n)
		return
	}
	if out.Len != data.n || out.Type != e.Type() {
		t.Errorf("seed %d: %s: %d rows of %s, want %d of %s", seed, n, out.Len, out.Type, data.n, e.Type())
	}
	if out.Narrow {
		widen(&out, &out)
		out.Narrow = false
	}
	var isTrue []int32
	for row := range data.n {
		want, _ := reference{data, row}.eval(n)
		if got := out.At(row); !want.same(got) {
			t.Fatalf("seed %d: %s of type %s, row %d: got %+v, want %+v", seed, n, e.Type(), row, got, want)
		}
		if want.b {
			isTrue = append(isTrue, int32(row))
		}
	}
	if e.Type().Kind != column.Bool {
		return
	}
	sel, err := v.Filter(b, []int32{-1})
	if err != nil || fmt.Sprint(sel[1:]) != fmt.Sprint(isTrue) {
		t.Errorf("seed %d: filter %s: %v, %v, want %v", seed, n, sel[1:], err, isTrue)
	}
}

// overflows reports whether an operation within n leaves the range of its
// type on some row.
func overflows(n Node, data testRows) bool {
	found := false
	Walk(n, func(n Node) bool {
		switch n := n.(type) {
		case *Unary, *Call:
		case *Binary:
			if verbs[n.Op] == "" {
				return true
			}
		default:
			return true
		}
		e, err := Bind(n, "", testLookup)
		if err != nil {
			return true
		}
		for row := range data.n {
			want, _ := reference{data, row}.eval(n)
			found = found || !want.inRange(e.Type())
		}
		return true
	})
	return found
}

// boundsOf tells of the rows what a file might: true bounds, some left out,
// and counts of NULLs that lie.
func boundsOf(r *rand.Rand, data testRows, col int) column.Bounds {
	b := column.Bounds{Rows: int64(data.n), Nulls: pick(r, int64(-1), 0, int64(data.n))}
	var present []column.Value
	for _, v := range data.values[col] {
		if v.Null || v.Float != v.Float {
			continue
		}
		present = append(present, v)
		if !b.HasMin || compareStored(v, b.Min) < 0 {
			b.HasMin, b.Min = true, v
		}
		if !b.HasMax || compareStored(v, b.Max) > 0 {
			b.HasMax, b.Max = true, v
		}
	}
	if r.IntN(4) == 0 {
		b.HasMin = false
	}
	if r.IntN(4) == 0 {
		b.HasMax = false
	}
	if r.IntN(2) == 0 {
		b.MaybeIn = func(v column.Value) bool {
			for _, p := range present {
				if p == v {
					return true
				}
			}
			return false
		}
	}
	return b
}

// TestCanSkipSound protects answers from statistics: rows with a match are
// never skipped. It also wants skipping to happen at all.
func TestCanSkipSound(t *testing.T) {
	t.Parallel()
	skipped, matched := 0, 0
	for seed := range uint64(10_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		text := randomBool(r, r.IntN(3))
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := BindFilter(n, text, testLookup)
		if err != nil {
			continue
		}
		data := randomRows(r, 1+r.IntN(3), r.IntN(2) == 0)
		sel, err := e.NewEval().Filter(data.batch(r, false), nil)
		if err != nil {
			continue
		}
		skip := e.CanSkip(func(i int) column.Bounds { return boundsOf(r, data, i) })
		switch {
		case skip && len(sel) > 0:
			t.Fatalf("seed %d: %s is skipped, but true for rows %v", seed, text, sel)
		case skip:
			skipped++
		case len(sel) > 0:
			matched++
		}
	}
	if skipped < 1000 || matched < 1000 {
		t.Errorf("%d skipped, %d matched: the test has lost its force", skipped, matched)
	}
}
