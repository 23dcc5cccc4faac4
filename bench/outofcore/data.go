package main

import (
	"errors"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// The words of a row.
const (
	wordHash = iota
	wordKey
	wordCount
	stride
)

const rowBytes = 8 * stride

var layout = ega.Layout{Hash: true, KeyWords: 1, Ops: []combine.Op{combine.Add}}

// data is the rows, in pinned memory: lent to the device as they are, or copied
// by processors as if they were pageable, which is the same to them.
type data struct {
	memory *cuda.Pinned
	words  []uint64
	rows   int
}

func newData(t *cuda.Thread, rows int) (*data, error) {
	m, err := t.AllocPinned(cuda.Size(rows * rowBytes))
	if err != nil {
		return nil, err
	}
	b := m.Bytes()
	return &data{memory: m, rows: rows, words: unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)}, nil
}

func (d *data) close() error { return d.memory.Close() }

// span is the pinned memory of some rows.
func (d *data) span(from, end int) cuda.PinnedSpan {
	return d.memory.Span(cuda.Size(from*rowBytes), cuda.Size(end*rowBytes))
}

// fill draws every row's key from 0 … groups-1, all alike.
func (d *data) fill(groups uint64, goroutines int) {
	const piece = 1 << 20
	_ = spread(goroutines, (d.rows+piece-1)/piece, func(_, n int) error { // nothing can fail
		for i := n * piece; i < min((n+1)*piece, d.rows); i++ {
			key, _ := bits.Mul64(scrambled(uint64(i)), groups)
			row := d.words[i*stride:][:stride]
			row[wordHash], row[wordKey], row[wordCount] = reference.HashOf([]uint64{key}), key, 1
		}
		return nil
	})
}

// scrambled is a random number for each i: splitmix64's.
func scrambled(i uint64) uint64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// spread calls do for 0 … n-1, from so many goroutines, each with its number,
// until one fails.
func spread(goroutines, n int, do func(goroutine, i int) error) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	next := 0
	errs := make([]error, goroutines)
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1
	}
	for g := range goroutines {
		all.Go(func() {
			for i := take(); i < n && errs[g] == nil; i = take() {
				errs[g] = do(g, i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
