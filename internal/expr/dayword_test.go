package expr

import (
	"math/rand/v2"
	"testing"
)

// The operations on days give what the functions of days give.
func TestDayWords(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	days := []int64{0, -1, 1, 1e14, -1e14}
	for day := int64(-800_000); day < 800_000; day += 1 + rng.Int64N(7) {
		days = append(days, day)
	}
	for name, ops := range dayWords {
		equalOfDays(t, name, ops, days, partsByName[name].ofDay)
	}
	for name, ops := range truncatedDayWords {
		equalOfDays(t, "date_trunc of "+name, ops, days, truncations[name])
	}
	equalOfDays(t, "last_day", lastDayWords, days, func(day int64) int64 {
		y, m, _ := civilFromDays(day)
		return daysFromCivil(y, m, daysIn(y, m))
	})
	for name, of := range differences() {
		if of.ofDay != nil {
			equalOfDays(t, "date_diff of "+name, of.words, days, of.ofDay)
		}
	}
}

func equalOfDays(t *testing.T, name string, ops []wordOp, days []int64, want func(day int64) int64) {
	t.Helper()
	for _, day := range days {
		if got := computed(t, ofDayWords(ops, 1), day); got != want(day) {
			t.Errorf("%s of day %d: %d, want %d", name, day, got, want(day))
			return
		}
	}
}

// computed does what devices do of operations on an integer.
func computed(t *testing.T, ops []wordOp, value int64) int64 {
	t.Helper()
	made := []int64{value}
	for _, op := range ops {
		a, b, of := value, int64(op.with), int64(op.constant)
		if op.back > 0 {
			a, b = made[len(made)-op.back], value
		}
		switch op.code {
		case CodeFloor:
			value = floorDiv(a, of)
		case CodeFloorRest:
			value = a - floorDiv(a, of)*of
		case CodeCivil:
			year, month, day := civilFromDays(clampDays(a))
			value = [...]int64{year, month, day}[of]
		case CodeAdd:
			value = a + b
		case CodeSubtract:
			value = a - b
		case CodeMultiply:
			value = a * b
		case CodeDivide:
			value = a / b
		default:
			t.Fatalf("operation %d", op.code)
		}
		made = append(made, value)
	}
	return value
}
