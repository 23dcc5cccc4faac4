package agg

import (
	"encoding/binary"
	"hash/maphash"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// F10: values that were made to crowd in the table of dedupe lie near the slots where they are
// looked for.
func TestDedupeColliding(t *testing.T) {
	t.Parallel()
	// slots: of so many values that were not chosen to collide, none lies 100 from home
	const n, most = 20_000, 200
	inverse := uint64(1) // of the multiplier of a hash that is known
	for range 6 {
		inverse *= 2 - 0x9e3779b97f4a7c15*inverse
	}
	var ints, texts []uint64
	for i := range uint64(n) {
		v := i * inverse
		ints = append(ints, 1, v^v>>32)
		text := make([]byte, 32)
		// the secret of xxh3 there, which makes a factor zero
		binary.LittleEndian.PutUint64(text, 0xbe4ba423396cfeb8)
		binary.LittleEndian.PutUint64(text[8:], i)
		texts = append(texts, 1, uint64(len(text)))
		texts = append(texts, wordsOf(text)...)
	}
	for _, c := range []struct {
		name  string
		kind  column.Kind
		words []uint64
	}{{"integers", column.Int64, ints}, {"texts", column.String, texts}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			chain := newChain(keepCounts, column.Type{Kind: c.kind}, 0)
			var w workspace
			hash := func(number uint32) uint64 { return chain.hash(c.words[number:]) }
			if chain.words == 0 {
				w.chunks = [][]byte{bytesOf(c.words)}
				for at := 0; at < len(c.words); at += chain.entryWords(c.words[at:]) {
					w.items = append(w.items, item{at: uint64(at)})
				}
				if w.dedupeStrings(&chain); len(w.items) != n {
					t.Fatalf("%d of %d texts are left", len(w.items), n)
				}
				hash = func(number uint32) uint64 {
					return maphash.Bytes(secret, w.textOf(&chain, item{at: uint64(number)}))
				}
			} else if left := w.dedupe(&chain, c.words); len(left) != len(c.words) {
				t.Fatalf("%d words of %d are left", len(left), len(c.words))
			}
			mask, values := len(w.table)-1, 0
			for slot, at := range w.table {
				if at == 0 {
					continue
				}
				values++
				home := int(hash(at-1) / (1 << 63 / uint64(len(w.table)) * 2))
				if far := (slot - home) & mask; far > most {
					t.Fatalf("a value lies %d slots from home", far)
				}
			}
			if values != n {
				t.Errorf("%d values, want %d", values, n)
			}
		})
	}
}
