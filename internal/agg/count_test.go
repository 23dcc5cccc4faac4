package agg

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

func wantCount(vals [][]column.Value) column.Value {
	return column.Value{Type: column.Type{Kind: column.Int64}, Int: int64(len(present(vals)[0]))}
}

// count(*) has no arguments, so its rows come from another call's.
func TestCount(t *testing.T) {
	t.Parallel()
	gens := []generator{ints(column.Int32), stringsOf(column.Type{Kind: column.String}), oddFloats(column.Float64)}
	tables(t, gens, func(t *testing.T, d *testData) {
		rows := make([]int64, d.groups)
		for _, g := range d.gids {
			rows[g]++
		}
		calls := []Call{callOf(t, d, "count", 0), callOf(t, d, "count", 1), callOf(t, d, "count", 2)}
		check(t, d, calls, []want{wantCount, wantCount, wantCount}, 0)

		next := 0
		star := func([][]column.Value) column.Value {
			next++
			return column.Value{Type: column.Type{Kind: column.Int64}, Int: rows[next-1]}
		}
		check(t, d, []Call{callOf(t, d, "count")}, []want{star}, 0)
	})
}

// F50: no test has 2^32 rows, so the count is put into the row.
func TestCountBeyond32Bits(t *testing.T) {
	t.Parallel()
	d := &testData{groups: 1, args: [][]column.Value{{{Type: column.Type{Kind: column.Int32}, Int: 1}}}, gids: []uint32{0}}
	for _, maxRows := range []int64{-1, 1 << 33} {
		l := Compile([]Call{callOf(t, d, "count", 0), callOf(t, d, "count")}, testBase, Options{MaxRows: maxRows})
		w := ways["one batch"](l, d, nil)
		w.t.Rows[l.rows.off] += (1<<33 - 1) * l.rows.one()
		got, err := w.results(t, 1)
		if err != nil || got[0][0].Int != 1<<33 || got[1][0].Int != 1<<33 {
			t.Errorf("at most %d rows: %v, error %v", maxRows, got, err)
		}
	}
}

func wantMean(vals [][]column.Value) column.Value {
	rows := present(vals)[0]
	result := column.Value{Type: column.Type{Kind: column.Float64}}
	if len(rows) == 0 {
		result.Null = true
		return result
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(rows[0].Type.Scale)), nil)
	mean := new(big.Rat).SetInt(bigSum(rows))
	mean.Quo(mean, new(big.Rat).SetInt(scale.Mul(scale, big.NewInt(int64(len(rows))))))
	result.Float, _ = mean.Float64()
	return result
}

// The exact sum is divided last: the mean of 64-bit integers keeps all digits
// that a double has.
func TestMeanExact(t *testing.T) {
	t.Parallel()
	for name, gen := range map[string]generator{
		"int8": ints(column.Int8), "int32": ints(column.Int32), "uint32": ints(column.Uint32),
		"int64": ints(column.Int64), "uint64": ints(column.Uint64), "decimal(9,2)": decimals(9, 2),
		"decimal(18,9)": decimals(18, 9), "decimal(30,4)": decimals(30, 4), "decimal(75,30)": decimals(75, 30),
	} {
		t.Run(name, func(t *testing.T) {
			tables(t, []generator{gen}, func(t *testing.T, d *testData) {
				check(t, d, []Call{callOf(t, d, "mean", 0)}, []want{wantMean}, 0x1p-52)
			})
		})
	}
}

// A row that stands for three counts three times, also where it is NULL, and
// is one value to what it does not change.
func TestTimes(t *testing.T) {
	t.Parallel()
	const times = 3
	tables(t, []generator{ints(column.Int32), ints(column.Bool)}, func(t *testing.T, d *testData) {
		var calls []Call
		for id, s := range signatures {
			f := Func{funcID(id)}
			if !f.Repeats() {
				continue
			}
			x := 0
			if s.class == booleans {
				x = 1
			}
			args := []int{x, x}
			calls = append(calls, callOf(t, d, s.name, args[:s.args]...))
		}
		calls = append(calls, callOf(t, d, "count"), callOf(t, d, "count", 1))
		each := &testData{groups: d.groups, args: make([][]column.Value, len(d.args))}
		for r, g := range d.gids {
			for range times {
				each.gids = append(each.gids, g)
				for k := range d.args {
					each.args[k] = append(each.args[k], d.args[k][r])
				}
			}
		}
		for k, col := range d.args {
			// the type, where there is no row
			each.args[k] = append(each.args[k], col[len(d.gids):]...)
		}
		repeated := *d
		repeated.times = times
		for _, maxRows := range []int64{-1, int64(len(each.gids))} {
			l := Compile(calls, testBase, Options{MaxRows: maxRows})
			for name, way := range ways {
				want, err := way(l, each, rand.New(rand.NewPCG(1, 1))).results(t, d.groups)
				if err != nil {
					t.Fatal(err)
				}
				got, err := way(l, &repeated, rand.New(rand.NewPCG(1, 1))).results(t, d.groups)
				if err != nil {
					t.Fatal(err)
				}
				for c := range calls {
					for g := range want[c] {
						if !same(got[c][g], want[c][g], 0) {
							t.Fatalf("%s, at most %d rows: %s of group %d = %s, want %s", name, maxRows,
								calls[c].Func.Name(), g, show(got[c][g]), show(want[c][g]))
						}
					}
				}
			}
		}
	})
}
