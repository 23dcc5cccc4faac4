package expr

import "testing"

// Parts of days in order, in none, and outside of the table are those of each day by itself.
func TestOfDays(t *testing.T) {
	t.Parallel()
	perDay := newDivisor(microsPerDay)
	month := func(days int64) int64 { _, m, _ := civilFromDays(days); return m }
	days := &ofDays{value: month}
	for round, from := range []int64{0, firstTabled - 3000, firstTabled + tabledDays - 3000, mostDays - 10_000} {
		for _, step := range []int64{1, 7919, microsPerDay / 3, 5 * microsPerDay / 2} {
			in, out := make([]int64, 2048), make([]int64, 2048)
			for i := range in {
				in[i] = from*microsPerDay + int64(i)*step%(6000*microsPerDay)
			}
			days.put(out, in, perDay)
			for i, v := range in {
				if want := month(floorDiv(v, microsPerDay)); out[i] != want {
					t.Fatalf("round %d, step %d: the month of %d is %d, want %d", round, step, v, out[i], want)
				}
			}
		}
	}
	if days.table.Load() == nil {
		t.Error("no table was made")
	}
}
