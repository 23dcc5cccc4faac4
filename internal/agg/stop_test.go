package agg

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

var errStopped = errors.New("the run was cancelled")

// looks counts how often it is asked whether the run was cancelled, which it was from number `last`
// on.
type looks struct{ n, last int }

func (l *looks) cancelled() error {
	if l.n++; l.n >= l.last {
		return errStopped
	}
	return nil
}

// F17: while any result is made of the values of one group, in memory or on disk, a cancelled run
// stops after a bounded part of the work.
func TestCancelOneGroup(t *testing.T) {
	t.Parallel()
	const rows, work, never = 6_000, 100, 1 << 60
	text := column.Type{Kind: column.String}
	gens := map[string]generator{
		"double": floatsOf(column.Float64, (*rand.Rand).Float64),
		"string": func(r *rand.Rand) column.Value {
			return column.Value{Type: text, Bytes: fmt.Sprintf("%08d", r.IntN(1e8))}
		},
		"decimal": decimals(30, 2),
	}
	list := []holistic{
		{"median", nil},
		{"mad", nil},
		{"mode", nil},
		{"approx_top_k", 10},
		{"entropy", nil},
		{"histogram", nil},
		{"list", nil},
		{"string_agg", "-"},
		{"min", 3000},
		{"approx_count_distinct", nil},
		{"approx_quantile", 0.5},
	}
	onDisk := limits{compact: 4096, inline: 2000, piece: 2000, block: 1 << 10, fanIn: 4}
	inMemory := limits{compact: 4096, inline: 1 << 30, piece: 2000}
	for name, gen := range gens {
		d := randomData(testRand(), rows, 1, "none", []generator{gen})
		for _, h := range list {
			for place, limits := range map[string]limits{"in memory": inMemory, "on disk": onDisk} {
				if name == "string" && (h.name == "mad" || h.name == "approx_quantile") || name != "string" && h.name == "string_agg" {
					continue
				}
				t.Run(fmt.Sprint(h.name, " ", name, " ", place), func(t *testing.T) {
					asked := &looks{last: never}
					o := Options{MaxRows: -1, Cancelled: func() error { return asked.cancelled() }}
					if place == "on disk" {
						o.Runs = new(memoryRuns)
					}
					l := Compile([]Call{h.call(t, d)}, testBase, o)
					l.limits = limits
					l.limits.look = work
					end := func() (err error) {
						w := newWorker(l, new(arena.Arenas))
						for _, part := range split(seq(rows), testRand()) {
							w.updateOne(d, part)
						}
						asked.n = 0
						if o.Runs != nil {
							var s arena.Section
							defer s.Free()
							if err := l.Move(w.row(0), w.t.Arena.Registry(), &s); err != nil {
								return err
							}
							l.Rebase(w.row(0), w.t.Arena.Registry().Adopt(s.Bytes()))
						}
						var out column.Vector
						return l.Finish(0, w.row(0), w.t.Stride, w.t.Arena.Registry(), &out)
					}
					if err := end(); err != nil {
						t.Fatal(err)
					}
					all := asked.n
					// which has few values left
					sketch := h.name == "approx_count_distinct" || h.name == "approx_quantile"
					if least := rows / work / 2; all < least && !sketch {
						t.Errorf("%d looks for %d values, want %d at least", all, rows, least)
					}
					for last := 1; last <= all; last += 1 + all/20 {
						asked.last = last
						if err := end(); !errors.Is(err, errStopped) {
							t.Fatalf("look %d of %d: error %v", last, all, err)
						}
						if more := asked.n - last; more > 5 {
							t.Errorf("%d looks after the one that was told, %d of %d", more, last, all)
						}
					}
				})
			}
		}
	}
}
