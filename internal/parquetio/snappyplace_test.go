package parquetio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/snappy"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
)

// placed is a page of size bytes as placePage reads it.
func placed(packed []byte, size int, mem *account) snappyPage {
	memory := make([]byte, size+placeMargin, size+placeMargin+padding)
	at := len(memory) - copy(memory[len(memory)-len(packed):], packed)
	_, ip := binary.Uvarint(packed)
	return snappyPage{src: memory[at:], behind: at, data: memory[:size], ip: ip, aside: buffer{mem: mem}}
}

// shrinking is a page whose first part takes few bytes compressed, and whose last part of so many
// bytes two for each.
func shrinking(first, last int) (plain, packed []byte) {
	plain = bytes.Repeat([]byte{'a'}, first)
	packed = binary.AppendUvarint(nil, uint64(first+last))
	packed = append(packed, 0, 'a')
	for left := first - 1; left > 0; left -= min(left, 64) {
		packed = append(packed, byte(min(left, 64)-1)<<2|2, 1, 0)
	}
	for i := range last {
		plain = append(plain, byte(i))
		packed = append(packed, 0, byte(i))
	}
	return plain, packed
}

// A page that is decompressed where it lies gives what it gives elsewhere, in whatever steps; one
// that would be written over goes aside, and nothing else does (PLACED).
func TestSnappyPlaced(t *testing.T) {
	if !snappyResumes {
		t.Skip("pages are decompressed elsewhere")
	}
	r := rand.New(rand.NewPCG(7, 7))
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var texts []byte
	for i := range 40_000 {
		texts = fmt.Appendf(texts, "http://example.com/%d/%x", i, r.Uint64()>>r.IntN(60))
	}
	half := append(bytes.Repeat([]byte{0}, 1<<20), noise[:1<<20]...)
	wide, wasteful := shrinking(400_000, 300_000)
	for _, test := range []struct {
		name          string
		plain, packed []byte
		aside         bool
	}{
		{"noise", noise, snappy.Encode(nil, noise), false},
		{"texts", texts, snappy.Encode(nil, texts), false},
		{"zeros, then noise", half, snappy.Encode(nil, half), false},
		{"noise, then zeros", append(noise[:1<<20:1<<20], make([]byte, 1<<20)...), snappy.Encode(nil, append(noise[:1<<20:1<<20], make([]byte, 1<<20)...)), false},
		{"small", texts[:1000], snappy.Encode(nil, texts[:1000]), false},
		{"two bytes for one at the end", wide, wasteful, true},
	} {
		for _, step := range []int{1 << 30, 1 << 17, 5000} {
			mem, went := &account{}, false
			p := placed(test.packed, len(test.plain), mem)
			for upTo := step; p.op < len(p.data); upTo += step {
				if err := p.decompress(upTo); err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
				if min(upTo, len(p.data)) > p.op || !bytes.Equal(p.data[:p.op], test.plain[:p.op]) {
					t.Fatalf("%s: the first %d bytes are wrong", test.name, p.op)
				}
				went = went || mem.used > 0
			}
			if err := p.all(); err != nil || went != test.aside || mem.used != 0 {
				t.Errorf("%s, steps of %d: %v, aside: %v, %d bytes not given back", test.name, step, err, went, mem.used)
			}
		}
	}
}

// Where there is no memory to go aside that is an error, and damage is too, whatever is behind it.
func TestSnappyPlacedFails(t *testing.T) {
	if !snappyResumes {
		t.Skip("pages are decompressed elsewhere")
	}
	plain, packed := shrinking(400_000, 300_000)
	p := placed(packed, len(plain), &account{from: budgettest.Lender(func(int64) error { return errRefused })})
	if err := p.all(); !errors.Is(err, errRefused) {
		t.Errorf("refused: %v", err)
	}
	for cut := range 40 {
		mem := &account{}
		p := placed(packed[:len(packed)-1-cut*cut*300], len(plain), mem)
		if err := p.all(); !errors.Is(err, errSnappy) || mem.used != 0 {
			t.Fatalf("cut short: %v, %d bytes not given back", err, mem.used)
		}
	}
	p = placed(append(packed[:len(packed):len(packed)], 0, 'x'), len(plain), &account{})
	if err := p.all(); !errors.Is(err, errSnappyEnd) {
		t.Errorf("more than promised: %v", err)
	}
}
