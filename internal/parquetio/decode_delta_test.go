package parquetio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestDeltas: what parquet-go writes, read in any steps.
func TestDeltas(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		want := make([]int64, r.IntN(700))
		for i := range want {
			want[i] = int64(r.Uint64()) >> r.IntN(64)
		}
		data, err := parquet.DeltaBinaryPacked.EncodeInt64(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		var d deltas
		if err := d.reset(pad(append(data, "rest"...)), len(want)); err != nil {
			t.Fatal(err)
		}
		if end, err := d.end(); err != nil || string(end) != "rest" {
			t.Fatalf("seed %d: end %q, %v", seed, end, err)
		}
		got := make([]int64, len(want))
		for rest := got; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			if err := d.read(rest[:n]); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			rest = rest[n:]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

// TestDeltaHeader: the numbers of a header are checked before they count.
func TestDeltaHeader(t *testing.T) {
	header := func(block, minis, count uint64) []byte {
		b := binary.AppendUvarint(nil, block)
		b = binary.AppendUvarint(b, minis)
		b = binary.AppendUvarint(b, count)
		return append(b, 0)
	}
	tests := []struct {
		name string
		data []byte
		ok   bool
	}{
		{"good", header(128, 4, 5), true},
		{"one miniblock", header(128, 1, 5), true},
		{"no block", header(0, 4, 5), false},
		{"odd block", header(100, 4, 5), false},
		{"huge block", header(1<<40, 4, 5), false},
		{"no miniblocks", header(128, 0, 5), false},
		{"odd miniblocks", header(128, 3, 5), false},
		{"small miniblocks", header(128, 8, 5), false},
		{"more miniblocks than values", header(128, 1<<40, 5), false},
		{"more values than rows", header(128, 4, 11), false},
		{"cut", header(128, 4, 5)[:3], false},
		{"empty", nil, false},
	}
	for _, test := range tests {
		var d deltas
		if err := d.reset(pad(test.data), 10); (err == nil) != test.ok || err != nil && !errors.Is(err, errDelta) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestDeltaBlock: damaged blocks.
func TestDeltaBlock(t *testing.T) {
	head := []byte{0x80, 1, 4, 10, 2} // 10 values, the first is 1
	for _, test := range []struct {
		name  string
		block []byte
		want  error
	}{
		{"no difference but the least", []byte{2, 0, 0, 0, 0}, nil},
		{"last miniblock not filled", []byte{2, 1, 0, 0, 0, 0, 0}, nil},
		{"no block", nil, errValuesEnd},
		{"no widths", []byte{2, 0, 0}, errValuesEnd},
		{"no miniblock", []byte{2, 1, 0, 0, 0}, errValuesEnd},
	} {
		var d deltas
		if err := d.reset(pad(cat(head, test.block)), 10); err != nil {
			t.Fatal(err)
		}
		got := make([]int64, 10)
		err := d.read(got)
		if !errors.Is(err, test.want) || err == nil && !slices.Equal(got, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
			t.Errorf("%s: %v, %v", test.name, got, err)
		}
	}
	var d deltas
	if err := d.reset(pad(cat(head, []byte{2, 65, 0, 0, 0})), 10); err != nil {
		t.Fatal(err)
	}
	if err := d.read(make([]int64, 10)); err == nil {
		t.Error("differences of 65 bits")
	}
}

// deltaOf encodes lengths.
func deltaOf(t *testing.T, v ...int32) []byte {
	b, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDeltaStringsDamaged: lengths are checked against the bytes there are,
// and against the limit, since shared prefixes may multiply them.
func TestDeltaStringsDamaged(t *testing.T) {
	for _, test := range []struct {
		name               string
		prefixes, suffixes []int32
		data               string
		width              int
		ok                 bool
	}{
		{"good", []int32{0, 1, 2}, []int32{1, 1, 1}, "abc", 0, true},
		{"prefix too long", []int32{0, 2, 2}, []int32{1, 1, 1}, "abc", 0, false},
		{"prefix of the first", []int32{1, 1, 2}, []int32{1, 1, 1}, "abc", 0, false},
		{"negative prefix", []int32{0, -1, 0}, []int32{1, 1, 1}, "abc", 0, false},
		{"negative suffix", []int32{0, 0, 0}, []int32{1, -1, 1}, "abc", 0, false},
		{"suffix too long", []int32{0, 0, 0}, []int32{1, 1, 2}, "abc", 0, false},
		{"beyond the limit", []int32{0, 90, 90}, []int32{90, 0, 0}, string(bytes.Repeat([]byte("a"), 90)), 0, false},
		{"other width", []int32{0, 1, 2}, []int32{1, 1, 1}, "abc", 2, false},
		{"fewer suffixes", []int32{0, 1, 2}, []int32{1, 1}, "abc", 0, false},
		{"fewer prefixes", []int32{0, 1}, []int32{1, 1, 1}, "abc", 0, false},
	} {
		var s streams
		s.use(new(account))
		d := &s.strings
		data := cat(deltaOf(t, test.prefixes...), deltaOf(t, test.suffixes...), []byte(test.data))
		if err := d.reset(pad(data), 3, 200, test.width); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		_, err := d.block(3)
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
