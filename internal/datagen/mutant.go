package datagen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Mutant returns a Parquet file that is wrong, or right in another way, in one to three places, and
// says where. What it does knows the format, so that readers get past the footer and the headers:
//
//	footer    a field of the metadata, at any depth
//	header    a field of a page's header
//	values    bytes of a page, decompressed: levels, dictionaries, codes, values. The page is compressed
//	          again; its sizes and checksum are right
//	payload   bytes of a compressed page behind a header whose sizes and checksum are right
//	pages     one is left out, comes twice, or in the place of another, also of another column
//	codec     the pages of a column are compressed with another codec, which changes no value
//
// Where a file cannot be taken apart some of its bytes are changed.
func Mutant(file []byte, rng *rand.Rand) (mutant []byte, what string) {
	defer func() {
		if recover() != nil { // the library cannot write such a footer
			mutant, what = changed(file, rng), "bytes"
		}
	}()
	p, ok := takeApart(file)
	if !ok || rng.IntN(20) == 0 {
		return changed(file, rng), "bytes"
	}
	if rng.IntN(3) == 0 {
		for _, c := range p.chunks() {
			c.recompress(rng)
		}
	}
	var did []string
	footer := 0
	for range 1 + rng.IntN(3) {
		if kind := rng.IntN(10); kind < 2 || len(p.chunks()) == 0 {
			footer++
		} else {
			did = append(did, p.mutate(rng, kind))
		}
	}
	p.layOut()
	for range footer {
		did = append(did, "footer"+mutateField(&p.meta, rng))
	}
	return p.file(), strings.Join(did, "; ")
}

// mutate changes pages of a chunk.
func (p *parts) mutate(rng *rand.Rand, kind int) string {
	chunks := p.chunks()
	n := rng.IntN(len(chunks))
	c := chunks[n]
	if len(c.pages) == 0 {
		return "nothing"
	}
	k := rng.IntN(len(c.pages))
	pg := &c.pages[k]
	where := fmt.Sprintf(" of page %d of chunk %d", k, n)
	switch {
	case kind < 4:
		return "header" + mutateField(&pg.header, rng) + where
	case kind < 7:
		if body, ok := c.unpack(pg); ok && c.pack(pg, changed(body, rng)) {
			return "values" + where
		}
		fallthrough
	case kind < 9:
		pg.body = changed(pg.body, rng)
		pg.settle()
		return "payload" + where
	}
	other := chunks[rng.IntN(len(chunks))]
	if len(other.pages) == 0 {
		return "nothing"
	}
	from := other.pages[rng.IntN(len(other.pages))]
	switch rng.IntN(3) {
	case 0:
		c.pages = append(c.pages[:k:k], c.pages[k+1:]...)
		return "no more" + where
	case 1:
		c.pages = append(c.pages[:k:k], append([]page{from}, c.pages[k:]...)...)
		return "one more before that" + where
	}
	*pg = from
	return "another in the place" + where
}

// changed returns b with some bytes changed, often near its beginning, where levels and headers of
// encodings are.
func changed(b []byte, rng *rand.Rand) []byte {
	b = append([]byte(nil), b...)
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(b) + 1)
		if rng.IntN(2) == 0 {
			at = rng.IntN(min(len(b), 24) + 1)
		}
		rest := b[at:]
		switch rng.IntN(8) {
		case 0:
			if len(rest) > 0 {
				rest[0] ^= 1 << rng.IntN(8)
			}
		case 1:
			if len(rest) > 0 {
				rest[0] = byte(rng.Uint32())
			}
		case 2:
			n := number(rng)
			for i := range min(len(rest), 1<<rng.IntN(4)) {
				rest[i] = byte(n >> (8 * i))
			}
		case 3: // a variable-length number without end
			for i := range min(len(rest), rng.IntN(12)) {
				rest[i] |= 0x80
			}
		case 4:
			clear(rest[:rng.IntN(min(len(rest), 64)+1)])
		case 5:
			b = append(b[:at:at], rest[rng.IntN(min(len(rest), 16)+1):]...)
		case 6:
			more := make([]byte, rng.IntN(16))
			for i := range more {
				more[i] = byte(rng.Uint32())
			}
			b = append(b[:at:at], append(more, rest...)...)
		case 7:
			copy(rest, b[rng.IntN(len(b)+1):])
		}
	}
	return b
}

// number returns a number that is more often than not an edge of something.
func number(rng *rand.Rand) int64 {
	switch rng.IntN(4) {
	case 0:
		return int64(rng.IntN(300)) - 20
	case 1:
		return int64(1)<<rng.IntN(64) - int64(rng.IntN(3))
	case 2:
		return -int64(1) << rng.IntN(64)
	}
	return int64(rng.Uint64())
}
