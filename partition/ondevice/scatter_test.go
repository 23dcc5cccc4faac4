package ondevice_test

import (
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/partition/ondevice"
	"github.com/gagg-dev/gagg/partition/reference"
)

// deviceCases are the divisions that every way is tested with.
func deviceCases(each func(name string, d ondevice.Rows, n int, words []uint64)) {
	large, some, someBits, strides := 100_000, 20_000, []uint{0, 1, 4, 11}, 12
	if testing.Short() { // as under sanitizers
		large, some, someBits, strides = 5_000, 5_000, []uint{4, 11}, 5
	}
	add := func(d ondevice.Rows, n, skew int) {
		s := skews[skew]
		name := fmt.Sprintf("rows=%d/stride=%d/skip=%d/bits=%d/keyed=%v/tile=%d/%s", n, d.Stride, d.Skip, d.Bits, d.Keyed, d.TileRows, s.name)
		each(name, d, n, rows(n, d.Stride, s.word))
	}
	for _, n := range []int{0, 1, 31, 32, 33, 1000, large} {
		for _, bits := range someBits {
			add(ondevice.Rows{Stride: 2, Bits: bits}, n, 0)
		}
	}
	for skew := range skews {
		if skew == 0 || !testing.Short() {
			add(ondevice.Rows{Stride: 2, Bits: 6, Keyed: true}, some, skew)
			add(ondevice.Rows{Stride: 2, Bits: 6, Skip: 10}, some, skew)
		}
		add(ondevice.Rows{Stride: 3, Bits: 8, TileRows: 100}, 3000, skew)
	}
	for stride := 1; stride <= strides; stride++ {
		add(ondevice.Rows{Stride: stride, Bits: 5}, 2500, 0)
	}
	add(ondevice.Rows{Stride: ondevice.MaxStride, Bits: 11}, 700, 0)
	add(ondevice.Rows{Stride: 2, Bits: 11, Skip: 53}, 2000, 0) // the last bits of a hash
}

func TestDeviceScatter(t *testing.T) {
	deviceCases(func(name string, d ondevice.Rows, n int, words []uint64) {
		t.Run(name, func(t *testing.T) { newDeviceRig(t).scatter(d, n, words) })
	})
}

// More partitions than one level has, which divide the partitions of the first.
func TestDeviceScatterLevels(t *testing.T) {
	n := 30_000
	if !gputest.Emulated() {
		n = 3_000_000
	}
	if testing.Short() {
		n = 4_000
	}
	for skew := range skews {
		for _, bits := range []uint{12, 15} {
			d := ondevice.Rows{Stride: 2, Skip: 3, Bits: bits}
			t.Run(fmt.Sprintf("bits=%d/%s", bits, skews[skew].name), func(t *testing.T) {
				newDeviceRig(t).scatter(d, n, rows(n, d.Stride, skews[skew].word))
			})
		}
	}
}

// scatter divides rows on the device, twice, and compares.
func (r *deviceRig) scatter(d ondevice.Rows, n int, words []uint64) {
	r.TB.Helper()
	k := load(r, kerneltest.LoadEgaScatter)
	s := gputest.Keep(r.TB, func() (*reference.DeviceScatter, error) { return reference.NewDeviceScatter(r.Thread, k, d, n) })
	src, dst := r.write(words), r.span(len(words))
	for range 2 {
		divided, err := s.Scatter(r.Stream, src, dst, n)
		r.Do(err)
		out := r.Read64(divided.Rows, len(words))
		from, err := s.From(divided)
		r.Do(err)
		if len(from) != d.Partitions()+1 || from[0] != 0 || int(from[d.Partitions()]) != n {
			r.TB.Fatalf("%d partitions begin at %d and end at %d of %d", len(from)-1, from[0], from[len(from)-1], n)
		}
		for p := range d.Partitions() {
			checkPartition(r.TB, d, out[int(from[p])*d.Stride:int(from[p+1])*d.Stride], p)
		}
		sameRows(r.TB, out, words, d.Stride)
		if divided.Rows == dst {
			src, dst = dst, src // the second division is of rows in order
		}
	}
}

// An invalid division is refused, and the refusal leaves nothing allocated.
func TestDeviceScatterRefuses(t *testing.T) {
	r := newDeviceRig(t)
	k := load(r, kerneltest.LoadEgaScatter)
	for _, d := range []ondevice.Rows{
		{Stride: 0},
		{Stride: ondevice.MaxStride + 1},
		{Stride: 2, Bits: ondevice.MaxBits + 1},
		{Stride: 2, Skip: 60, Bits: 5},
		{Stride: 2, Skip: 64},
		{Stride: 2, TileRows: -1},
	} {
		if s, err := reference.NewDeviceScatter(r.Thread, k, d, 10); err == nil {
			t.Errorf("%+v is accepted", d)
			s.Close()
		}
	}
	s := gputest.Keep(t, func() (*reference.DeviceScatter, error) {
		return reference.NewDeviceScatter(r.Thread, k, ondevice.Rows{Stride: 2, Bits: 3}, 10)
	})
	room := r.span(20)
	for _, c := range []struct {
		src, dst cuda.Span
		n        int
	}{{room, room, 11}, {room.Slice(0, 100), room, 10}, {room, room.Slice(0, 100), 10}, {room, room, -1}} {
		if _, err := s.Scatter(r.Stream, c.src, c.dst, c.n); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// A keyed row is where package key and Buckets would have it.
func TestDevicePartition(t *testing.T) {
	values := []int64{0, 1, -1, 1 << 40, -1 << 63, 0x123456789abcdef}
	cols := []column.Vector{{Type: column.Type{Kind: column.Int64}, Len: len(values), Int: values}}
	layout := key.NewLayout([]key.Column{{Type: cols[0].Type}})
	e := key.NewEncoder(layout, key.NewInterner(nil))
	e.Encode(cols, len(values))
	for i, hash := range e.Hash {
		for _, d := range []ondevice.Rows{{Bits: 11}, {Bits: 22, Skip: 5}, {Bits: 0}, {Bits: 1, Skip: 63}} {
			keyed := d
			keyed.Keyed = true
			want := int(hash << d.Skip >> (64 - d.Bits))
			if got := d.Partition([]uint64{hash}); got != want {
				t.Errorf("%+v: hash %#x is in partition %d, want %d", d, hash, got, want)
			}
			if got := keyed.Partition([]uint64{e.Words[0][i]}); got != want {
				t.Errorf("%+v: key %d is in partition %d, want %d", keyed, values[i], got, want)
			}
		}
	}
}
