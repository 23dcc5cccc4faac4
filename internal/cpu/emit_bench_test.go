//go:build unix

package cpu

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// BenchmarkEmit is what becomes of the groups of a device: ordered, decoded, finished and made
// Arrow arrays. Each part comes after those before it. The groups are those of the query of db-benchmark that has
// as many of them as rows (q10).
func BenchmarkEmit(b *testing.B) {
	const groups = 1 << 20 // more bytes than a cache holds
	cfg, rows := manyGroups(b, groups)
	calls := 2
	for _, pieceRows := range []int{3600, 24_000} {
		for part, name := range []string{"order", "decode", "finish", "arrow"} {
			b.Run(fmt.Sprintf("piece=%d/to=%s", pieceRows, name), func(b *testing.B) {
				m := NewMerger(cfg, []*partition.Buckets{emptyBuckets(cfg)})
				d := key.Decoder{Layout: cfg.Keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: 1, Stride: cfg.Stride}
				out := make([]column.Vector, len(keysOfMany)+calls)
				alloc := column.NewRecycler(64 << 20)
				emit := func(rows []uint64) error {
					if part > 0 {
						d.Begin(rows)
						for i := range keysOfMany {
							d.Decode(i, rows, &out[i])
						}
					}
					for i := range calls {
						if part > 1 {
							if err := cfg.States.Finish(i, rows, cfg.Stride, cfg.Arenas, &out[len(keysOfMany)+i]); err != nil {
								return err
							}
						}
					}
					for i := range out {
						if part > 2 {
							arr, err := column.ToArrow(&out[i], alloc)
							if err != nil {
								return err
							}
							arr.Release()
						}
					}
					return nil
				}
				scratch := slices.Clone(rows)
				spent := int64(0)
				for b.Loop() {
					b.StopTimer()
					copy(scratch, rows)
					before := processorTime(b)
					m.Device(counted{slices.Collect(slices.Chunk(scratch, pieceRows*cfg.Stride)), cfg}, nil)
					b.StartTimer()
					if err := m.Merge(b.Context(), merge.Range{N: 1}, emit); err != nil {
						b.Fatal(err)
					}
					spent += processorTime(b) - before
				}
				b.ReportMetric(float64(spent)/float64(b.N)/groups, "core-ns/group")
			})
		}
	}
}

// processorTime is the nanoseconds that the process has had of all processors.
func processorTime(b *testing.B) int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

// counted is pieces whose rows are counted, as those of a device are.
type counted struct {
	pieces
	cfg *Config
}

func (c counted) Read(p int, emit func([]uint64) error) error {
	return c.pieces.Read(p, func(rows []uint64) error {
		if c.cfg.StandFor(rows) != int64(len(rows)/c.cfg.Stride) {
			return errFake
		}
		return emit(rows)
	})
}

var (
	int32Type  = column.Type{Kind: column.Int32}
	doubleType = column.Type{Kind: column.Float64}
	keysOfMany = []key.Column{
		{Type: stringType, Intern: true},
		{Type: stringType, Intern: true},
		{Type: stringType},
		{Type: int32Type},
		{Type: int32Type},
		{Type: int32Type},
	}
)

// manyGroups is groups of one row each, in order of hash but for runs of a dozen.
func manyGroups(b *testing.B, groups int) (*Config, []uint64) {
	cfg := configOf(keysOfMany, 1, feedback.NoTiles, noLimit)
	cfg.States = agg.Compile([]agg.Call{
		{Func: funcOf(b, "sum", doubleType), Args: []int{0}, Types: []column.Type{doubleType}}, {Func: funcOf(b, "count")},
	}, 1+cfg.Keys.Words, agg.Options{MaxRows: int64(groups), Device: true})
	cfg.Stride = Stride(cfg.Keys, cfg.States)
	rng := rand.New(rand.NewPCG(10, 10))
	var all [][]uint64
	for len(all) < groups {
		all = append(all, rowsOfMany(cfg, rng, min(4096, groups-len(all)))...)
	}
	slices.SortFunc(all, func(a, b []uint64) int { return cmp.Compare(a[0], b[0]) })
	for bucket := range slices.Chunk(all, 12) {
		rng.Shuffle(len(bucket), func(i, j int) { bucket[i], bucket[j] = bucket[j], bucket[i] })
	}
	return cfg, slices.Concat(all...)
}

func funcOf(b *testing.B, name string, args ...column.Type) agg.Func {
	f, _, err := agg.Resolve(name, args, nil)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// rowsOfMany is n groups of random keys, each of a row with a random value.
func rowsOfMany(cfg *Config, rng *rand.Rand, n int) (rows [][]uint64) {
	cols := []column.Vector{stringsOf(rng, n, 100, 5), stringsOf(rng, n, 100, 5), stringsOf(rng, n, 1<<20, 12)}
	for range 3 {
		v := column.Vector{Type: int32Type, Len: n}
		for range n {
			v.Int = append(v.Int, rng.Int64N(1<<20))
		}
		cols = append(cols, v)
	}
	e := key.NewEncoder(cfg.Keys, cfg.Intern)
	e.Encode(cols, n)
	x := column.Vector{Type: doubleType, Len: n}
	t := agg.Table{Stride: cfg.Stride, Rows: make([]uint64, n*cfg.Stride)}
	gids := make([]uint32, n)
	for i := range n {
		gids[i] = uint32(i)
		x.Float = append(x.Float, 100*rng.Float64())
		row := t.Rows[i*cfg.Stride:][:cfg.Stride]
		row[0] = e.Hash[i]
		for w := range e.Words {
			row[1+w] = e.Words[w][i]
		}
		cfg.States.Init(row)
		rows = append(rows, row)
	}
	cfg.States.Update(&t, gids, 0, &agg.Input{Rows: n, Args: []column.Vector{x}})
	return rows
}
