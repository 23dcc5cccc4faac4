package parquetio

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// putRun appends an RLE run, putPacked a bit-packed one of whole groups.
func putRun(b []byte, width uint, count int, value int32) []byte {
	b = binary.AppendUvarint(b, uint64(count)<<1)
	for i := uint(0); i < width; i += 8 {
		b = append(b, byte(uint32(value)>>i))
	}
	return b
}

func putPacked(b []byte, width uint, values []int32) []byte {
	b = binary.AppendUvarint(b, uint64(len(values)/8)<<1|1)
	at := len(b)
	b = append(b, make([]byte, len(values)/8*int(width))...)
	for i, v := range values {
		for k := range width {
			bit := uint(i)*width + k
			b[at+int(bit/8)] |= byte(uint32(v)>>k&1) << (bit % 8)
		}
	}
	return b
}

// randomRuns makes a stream and its values.
func randomRuns(r *rand.Rand, width uint) (data []byte, values []int32) {
	draw := func() int32 { return int32(r.Uint64() & (1<<width - 1)) }
	for range 1 + r.IntN(6) {
		if r.IntN(2) == 0 {
			n, v := r.IntN(30), draw()
			data = putRun(data, width, n, v)
			values = append(values, slices.Repeat([]int32{v}, n)...)
			continue
		}
		group := make([]int32, 8*r.IntN(5))
		for i := range group {
			group[i] = draw()
		}
		data = putPacked(data, width, group)
		values = append(values, group...)
	}
	return data, values
}

// pad returns a copy of b that satisfies PAD.
func pad(b []byte) []byte {
	out := make([]byte, len(b), len(b)+padding)
	copy(out, b)
	return out
}

// TestHybrid: any runs of any width, read in any steps.
func TestHybrid(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		width := uint(r.IntN(33))
		data, want := randomRuns(r, width)
		var h hybrid
		h.reset(pad(data), width)
		got := make([]int32, len(want))
		for rest := got; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			if v, ok, err := h.constant(n); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			} else if ok {
				fill(rest[:n], v)
			} else if err := h.read(rest[:n]); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			rest = rest[n:]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, width %d: %v, want %v", seed, width, got, want)
		}
		if err := h.read(make([]int32, 1)); width > 0 && !errors.Is(err, errRunsEnd) {
			t.Fatalf("seed %d: read past the end: %v", seed, err)
		}
	}
}

// TestHybridCut: the last group may lack the bytes of values that are not
// needed, but not of those that are.
func TestHybridCut(t *testing.T) {
	var h hybrid
	h.reset(pad([]byte{3, 0x21, 0x03}), 4) // 4 values of 8
	got := make([]int32, 4)
	if err := h.read(got); err != nil || !slices.Equal(got, []int32{1, 2, 3, 0}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := h.read(got[:1]); !errors.Is(err, errRunsEnd) {
		t.Errorf("a fifth value: %v", err)
	}
}

// TestHybridLies: runs that promise more than memory could hold cost nothing.
func TestHybridLies(t *testing.T) {
	for _, data := range [][]byte{
		{0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 1}, // RLE
		{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 1}, // bit-packed
	} {
		var h hybrid
		h.reset(pad(data), 1)
		if err := h.read(make([]int32, 8)); err != nil {
			t.Errorf("%x: %v", data, err)
		}
	}
}

// TestCodesBelow: against the plain loop, around every limit.
func TestCodesBelow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		n := 1 + int(r.Uint32()>>1>>r.IntN(31))
		codes := make([]int32, r.IntN(150))
		want := true
		for i := range codes {
			codes[i] = int32(r.IntN(n))
			if r.IntN(200) == 0 {
				codes[i] = []int32{int32(n - 1), int32(n), -1, -1 << 31, 1<<31 - 1}[r.IntN(5)]
			}
			want = want && codes[i] >= 0 && int(codes[i]) < n
		}
		if got := codesBelow(codes, n); got != want {
			t.Fatalf("codesBelow(%v, %d) = %v", codes, n, got)
		}
		if got := codesBelowGeneric(codes, n); got != want {
			t.Fatalf("codesBelowGeneric(%v, %d) = %v", codes, n, got)
		}
	}
}
