package ega_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// BenchmarkTile combines tiles into a table of a first pass's size through tables in shared memory
// and row by row: the two strategies that firstpass.strategy decides between. Rows have 8 words, as
// those of db-benchmark's q3, or 9, as those of q10, and a tile is what a parcel of 8 MiB makes.
// The tiles of a run follow on each other, into a table that is empty before the first. ns/tile is
// the device's time.
func BenchmarkTile(b *testing.B) {
	tiles, rows, slots := 8, 470_000, uint32(1<<24) // as a first pass's table that has grown once
	if gputest.Emulated() {
		tiles, rows, slots = 2, 2000, 1<<14
	}
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.5, 1, 1e6)
	for _, l := range []ega.Layout{
		{Hash: true, KeyWords: 2, Ops: []combine.Op{combine.AddLowInt, combine.AddHigh, combine.Sum, combine.SumError, combine.Add}, Mates: []int{1, 0, 3}},
		{Hash: true, KeyWords: 5, Ops: []combine.Op{combine.Sum, combine.SumError, combine.Add}, Mates: []int{1}},
	} {
		for _, k := range []struct {
			name string
			key  func(i int) uint64
		}{
			{"groups=1e6/skew=0", func(int) uint64 { return random.Uint64N(1e6) }},
			{"groups=rows/skew=0", func(i int) uint64 { return uint64(i) }},
			{"groups=1e6/skew=1.5", func(int) uint64 { return zipf.Uint64() }},
			// as hot as goes row by row
			{"groups=1e6/hot=0.1", func(int) uint64 { return max(random.Uint64N(1e6), 1e5) }},
		} {
			b.Run(fmt.Sprintf("words=%d/%s", l.Stride(), k.name), func(b *testing.B) {
				words := tileRows(random, &l, tiles*rows, k.key)
				for _, strategy := range []struct {
					name string
					add  func(r *rig, t *ega.Table, tile cuda.Span) error
				}{
					{"shared", func(r *rig, t *ega.Table, tile cuda.Span) error {
						return t.AddShared(r.Stream, tile, uint64(rows), 1<<40)
					}},
					{"probe", func(r *rig, t *ega.Table, tile cuda.Span) error { return t.Add(r.Stream, tile, uint64(rows)) }},
				} {
					b.Run("path="+strategy.name, func(b *testing.B) { benchTiles(b, &l, words, rows, slots, strategy.add) })
				}
			})
		}
	}
}

// tileRows is rows whose states are those of small numbers.
func tileRows(random *rand.Rand, l *ega.Layout, n int, key func(i int) uint64) []uint64 {
	out := make([]uint64, 0, n*l.Stride())
	words := make([]uint64, l.KeyWords)
	for i := range n {
		words[0] = key(i)
		out = append(append(out, reference.HashOf(words)), words...)
		for _, op := range l.Ops {
			state := uint64(1)
			switch op {
			case combine.Sum:
				state = math.Float64bits(random.Float64() * 100)
			case combine.AddHigh, combine.SumError:
				state = 0
			}
			out = append(out, state)
		}
	}
	return out
}

// benchTiles measures a strategy with tiles of `rows` rows.
func benchTiles(b *testing.B, l *ega.Layout, words []uint64, rows int, slots uint32, add func(*rig, *ega.Table, cuda.Span) error) {
	r := newRig(b)
	all := r.Send(words)
	bytes := cuda.Size(rows) * l.RowBytes()
	tiles := int(all.Size / bytes)
	table := r.Table(r.Load(*l), ega.TableConfig{Slots: slots, Probes: 128})
	from, to := gputest.Keep(b, r.Thread.NewEvent), gputest.Keep(b, r.Thread.NewEvent)
	run := func() time.Duration {
		r.Do(table.Clear(r.Stream))
		r.Do(r.Stream.Record(from))
		for i := range tiles {
			r.Do(add(r, table, all.Slice(cuda.Size(i)*bytes, cuda.Size(i+1)*bytes)))
		}
		r.Do(r.Stream.Record(to))
		r.Do(r.Stream.Synchronize())
		took, err := to.Since(from)
		r.Do(err)
		return took
	}
	run() // warm
	var spent time.Duration
	runs := 0
	for b.Loop() {
		spent += run()
		runs++
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(runs*tiles), "ns/tile")
	b.ReportMetric(float64(runs*tiles*rows)/spent.Seconds(), "rows/s")
}
