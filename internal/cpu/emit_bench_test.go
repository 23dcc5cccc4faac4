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
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// BenchmarkEmit is what becomes of the groups of a device: ordered, decoded,
// finished and made Arrow arrays, each part behind those before it. The groups
// are those of the query of db-benchmark that has as many of them as rows (q10).
// They come in pieces, in order but for buckets of so many.
func BenchmarkEmit(b *testing.B) {
	const groups = 1 << 20 // more bytes than a cache holds
	cfg, all := manyGroups(b, groups)
	for _, c := range []struct{ piece, bucket int }{{24_000, 24}, {3600, 24}, {3600, 1}} {
		rows := shuffled(all, c.bucket)
		for last, name := range emitParts {
			b.Run(fmt.Sprintf("piece=%d/bucket=%d/to=%s", c.piece, c.bucket, name), func(b *testing.B) {
				m := cfg.run().NewMerger([]*partition.Buckets{emptyBuckets(cfg)})
				out := newManyOutput(cfg, last)
				in := slices.Clone(rows)
				spent := int64(0)
				for b.Loop() {
					b.StopTimer()
					copy(in, rows) // what comes from a device is in no cache
					m.Accelerate(counted{slices.Collect(slices.Chunk(in, c.piece*cfg.Stride)), cfg}, nil)
					before := processorTime(b)
					b.StartTimer()
					if err := m.Merge(b.Context(), merge.Range{N: 1}, out.emit); err != nil {
						b.Fatal(err)
					}
					spent += processorTime(b) - before
				}
				b.ReportMetric(float64(spent)/float64(b.N)/groups, "core-ns/group")
			})
		}
	}
}

// emitParts are the parts of what becomes of groups.
var emitParts = []string{"order", "decode", "finish", "arrow"}

// manyOutput makes Arrow arrays of groups, or goes as far as a part of that.
type manyOutput struct {
	cfg   *setup
	last  int // of emitParts
	keys  key.Decoder
	cols  []column.Vector // keys, then aggregates
	alloc *column.Recycler
}

func newManyOutput(cfg *setup, last int) *manyOutput {
	return &manyOutput{
		cfg: cfg, last: last,
		keys:  key.Decoder{Layout: cfg.Keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: 1, Stride: cfg.Stride},
		cols:  make([]column.Vector, len(keysOfMany)+callsOfMany),
		alloc: column.NewRecycler(64 << 20),
	}
}

func (o *manyOutput) emit(rows []uint64) error {
	if o.last > 0 {
		o.keys.Begin(rows)
		for i := range keysOfMany {
			o.keys.Decode(i, rows, &o.cols[i])
		}
	}
	for i := 0; o.last > 1 && i < callsOfMany; i++ {
		if err := o.cfg.States.Finish(i, rows, o.cfg.Stride, o.cfg.Arenas, &o.cols[len(keysOfMany)+i]); err != nil {
			return err
		}
	}
	for i := 0; o.last > 2 && i < len(o.cols); i++ {
		arr, err := column.ToArrow(&o.cols[i], o.alloc)
		if err != nil {
			return err
		}
		arr.Release()
	}
	return nil
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
	cfg *setup
}

func (c counted) Read(p int, _ *arena.Arena, emit func([]uint64) error) error {
	return c.pieces.Read(p, nil, func(rows []uint64) error {
		if c.cfg.run().StandFor(rows) != int64(len(rows)/c.cfg.Stride) {
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

const callsOfMany = 2

// manyGroups is groups of one row each, in order of hash.
func manyGroups(b *testing.B, groups int) (*setup, [][]uint64) {
	cfg := configOf(keysOfMany, 1, feedback.NoTables, noLimit)
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
	return cfg, all
}

// shuffled is rows end to end, in another order within each run of so many.
func shuffled(rows [][]uint64, bucket int) []uint64 {
	rng := rand.New(rand.NewPCG(10, 11))
	rows = slices.Clone(rows)
	for run := range slices.Chunk(rows, bucket) {
		rng.Shuffle(len(run), func(i, j int) { run[i], run[j] = run[j], run[i] })
	}
	return slices.Concat(rows...)
}

func funcOf(b *testing.B, name string, args ...column.Type) agg.Func {
	f, _, err := agg.Resolve(name, args, nil)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// rowsOfMany is n groups of random keys, each of a row with a random value.
func rowsOfMany(cfg *setup, rng *rand.Rand, n int) (rows [][]uint64) {
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
