package main

import (
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/partition"
)

// query is count(*) by an integer that is never NULL, as mergers and passes know it.
type query struct {
	config *cpu.Config
	layout ega.Layout
	count  int // the word of a row that has the count
}

func newQuery() (*query, error) {
	integer := column.Type{Kind: column.Int64}
	keys := key.NewLayout([]key.Column{{Type: integer}})
	count, _, err := agg.Resolve("count", nil, nil)
	if err != nil {
		return nil, err
	}
	states := agg.Compile([]agg.Call{{Func: count}}, 1+keys.Words, agg.Options{MaxRows: -1})
	ops, mates, why := states.DeviceOps()
	if why != "" {
		return nil, fmt.Errorf("not for a device: %s", why)
	}
	q := &query{
		config: &cpu.Config{
			Keys: keys, Intern: key.NewInterner(nil), States: states, Arenas: arena.New(nil),
			Stride: cpu.Stride(keys, states), AtMost: -1, Budget: budget.Or(nil),
		},
		layout: ega.Layout{Hash: true, KeyWords: keys.Words, Ops: ops, Mates: mates},
		count:  1 + keys.Words,
	}
	for q.layout.Stride() < q.config.Stride { // words that fill a row up are 0
		q.layout.Ops = append(q.layout.Ops, combine.Or)
	}
	return q, nil
}

// rows is partitions as several owners have filled them.
type rows struct {
	pools   []*partition.Pool
	buckets []*partition.Buckets
}

// owners is how many goroutines make rows.
const owners = 8

// newRows makes 2^shift rows of random groups.
func (q *query) newRows(shift uint, c testCase) (*rows, error) {
	r := &rows{}
	for range owners {
		pool := partition.NewPool(q.config.Stride, nil)
		r.pools = append(r.pools, pool)
		r.buckets = append(r.buckets, partition.New(0, c.Bits, pool, nil))
	}
	const tile = 1 << 12
	groups := uint64(1) << shift / uint64(c.Repeats)
	err := spread(owners, 1<<shift/tile, func(owner, t int) error {
		words := make([]uint64, tile*q.config.Stride)
		for i := range tile {
			row := words[i*q.config.Stride:]
			k, _ := bits.Mul64(scrambled(uint64(t*tile+i)), groups)
			row[1], row[q.count] = k, 1
			row[0] = reference.HashOf(row[1:q.count])
		}
		_, err := r.buckets[owner].Scatter(words)
		return err
	})
	return r, err
}

func (r *rows) free() {
	for _, p := range r.pools {
		p.Reset()
	}
}

// scrambled is a random number for each i: splitmix64's.
func scrambled(i uint64) uint64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
