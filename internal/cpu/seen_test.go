package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Rows are dropped only if their keys, NULL among them, came with their value before. Most such
// rows are dropped, with any dictionaries.
func TestSeenCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for keys := range 3 {
		var s seenCodes
		met := map[string]bool{}
		rows, again, dropped := 0, 0, 0
		for range 20 { // dictionaries
			dicts := make([]*column.Dict, keys+1)
			for i := range dicts {
				n := []int{1, 3, 200}[rng.IntN(3)]
				dicts[i] = &column.Dict{Values: column.Vector{Type: int64Type, Len: n}}
			}
			clear(met)
			for range 30 { // batches
				cols := codedColumns(rng, dicts, 100)
				picked := s.pick(cols[:keys], &cols[keys], 100)
				left := map[int32]bool{}
				for _, row := range picked {
					left[row] = true
				}
				for i := range 100 {
					tuple := tupleOf(cols, i)
					if picked != nil && !left[int32(i)] {
						dropped++
						if !met[tuple] {
							t.Fatalf("%d keys: row %d of %s is dropped, the first of its kind", keys, i, tuple)
						}
					}
					if rows++; met[tuple] {
						again++
					}
					met[tuple] = true
				}
			}
		}
		if dropped == 0 || keys == 0 && dropped < again/2 {
			t.Errorf("%d keys: of %d rows %d had come before, and %d are dropped", keys, rows, again, dropped)
		}
	}
}

// codedColumns makes columns of random codes; all but the last have NULLs.
func codedColumns(rng *rand.Rand, dicts []*column.Dict, rows int) []column.Vector {
	cols := make([]column.Vector, len(dicts))
	for i, d := range dicts {
		v := column.Vector{Type: int64Type, Len: rows, Dict: d}
		for range rows {
			v.Codes = append(v.Codes, int32(rng.IntN(d.Len())))
			v.Null = append(v.Null, rng.IntN(5) == 0)
		}
		if i == len(dicts)-1 {
			v.Null = nil
		}
		cols[i] = v
	}
	return cols
}

func tupleOf(cols []column.Vector, row int) (s string) {
	for i := range cols {
		if cols[i].IsNull(row) {
			s += "NULL "
		} else {
			s += fmt.Sprint(cols[i].Codes[row], " ")
		}
	}
	return s
}
