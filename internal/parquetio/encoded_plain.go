package parquetio

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file makes PLAIN pages of those in DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY, for a
// reader of encoded chunks that knows neither. In the first a value is where the lengths of all
// before it say, in the second it needs the value before. So they are decoded here, page by page,
// to where the chunk lies in the memory of its unit.
//
//	page in the file:   levels | lengths      | bytes
//	                    levels | prefixes     | lengths | bytes
//	as it is handed on: levels | length bytes | length bytes | …
//
// How much memory that takes is promised from the footer (plainRoom). What takes more is declined.

// madePlain reports whether the values of pages in an encoding are made PLAIN.
func madePlain(enc format.Encoding) bool {
	return enc == format.DeltaLengthByteArray || enc == format.DeltaByteArray
}

// hasMadePlain reports whether a chunk may have pages whose values are made PLAIN, as the footer
// says. Its pages are put one by one, whatever their codec: there is no room for them where they
// are in the file.
func hasMadePlain(m *format.ColumnMetaData) bool { return hasEncoding(m, madePlain) }

// onlyMadePlain reports whether all pages of a chunk are such, so that none crosses compressed.
func onlyMadePlain(m *format.ColumnMetaData) bool {
	return !hasEncoding(m, func(e format.Encoding) bool {
		return e != format.RLE && e != format.BitPacked && !madePlain(e)
	})
}

func hasEncoding(m *format.ColumnMetaData, is func(format.Encoding) bool) bool {
	for _, e := range m.Encoding {
		if is(e) {
			return true
		}
	}
	return false
}

const (
	// plainGuess is how many times their bytes in DELTA_BYTE_ARRAY texts are taken to have, where
	// footers do not tell: sorted texts of some dozens of bytes share two thirds of them. A chunk
	// whose texts share more is read by the CPU.
	plainGuess = 3
	// levelsGuess is the bytes of levels of a chunk beside a quarter of a byte a row, which is the
	// most that runs of one bit take: heads of a thousand pages.
	levelsGuess = 16 << 10
)

// plainRoom is the memory for a chunk with pages that are made PLAIN, of a leaf. All other pages,
// and levels, are part of the size of the chunk.
func (l *leaf) plainRoom(m *format.ColumnMetaData) int64 {
	values, size := min(m.NumValues, mostEncoded), min(m.TotalUncompressedSize, mostEncoded)
	bytes := int64(0) // of values
	switch unencoded := m.SizeStatistics.UnencodedByteArrayDataBytes; {
	case l.physical == format.FixedLenByteArray:
		bytes = values * min(int64(l.length), mostEncoded)
	case unencoded > 0:
		bytes = 4*values + min(unencoded, mostEncoded)
	case hasEncoding(m, func(e format.Encoding) bool { return e == format.DeltaByteArray }):
		return 4*values + plainGuess*size
	default: // a page has the bytes of its values
		return 4*values + size
	}
	if onlyMadePlain(m) {
		size = min(size, values/4+levelsGuess)
	}
	return bytes + size
}

// putPlain puts a page in its place whose values are made PLAIN, or codes if it has a text that is
// too long for the reader (CodeTexts).
func (c *columnReader) putPlain(p *EncodedPage, id format.CompressionCodec, body []byte, place *encodedPlace) error {
	levels, values, err := c.valuesOf(p, id, body)
	if err != nil {
		return err
	}
	room := place.memory[place.at:]
	if !c.moves || len(levels) > len(room) { // the footer lied
		return errNotEncoded
	}
	copy(room, levels)
	plain, longest, err := c.makePlain(room[len(levels):], values, p.Rows)
	if err != nil {
		return err
	}
	if p.At, p.Bytes = place.at, len(levels)+len(plain); p.Bytes == 0 {
		return errNotEncoded
	}
	p.Size, p.Codec = p.Bytes, PageUncompressed
	if c.coding || c.leaf.physical == format.ByteArray && c.codedMost < StoredTexts && longest > c.codedMost {
		err = c.putCodes(p, levels, plain, room, place.at)
	}
	place.at += p.Bytes
	return err
}

// plainStep is how many values are made at a time: what streams keep of each is reserved for more
// (vectorBytes).
const plainStep = minLane

// makePlain makes PLAIN values of the page at hand, which has so many rows. They begin `to`.
// longest is the bytes of the longest.
func (c *columnReader) makePlain(to, values []byte, rows int) (plain []byte, longest int, err error) {
	if len(values) == 0 { // no row has a value
		return to[:0], 0, nil
	}
	enc, most := c.encoding(), min(int64(len(to)), c.f.limits.MaxPage)
	if err := c.streams.start(&c.decoder, enc, values, rows, most); err != nil {
		return nil, 0, err
	}
	left := c.streams.lengths.lengths.left
	if enc == format.DeltaByteArray {
		left = min(c.streams.strings.prefixes.left, c.streams.strings.suffixes.lengths.left)
	}
	used := 0
	for left > 0 {
		n := min(left, plainStep)
		left -= n
		size, long, err := c.plainStep(to[used:], n)
		if err != nil {
			return nil, 0, err
		}
		used, longest = used+size, max(longest, long)
	}
	return to[:used], longest, nil
}

// plainStep makes the next n values.
func (c *columnReader) plainStep(to []byte, n int) (size, longest int, err error) {
	d := &c.decoder
	if d.physical == format.FixedLenByteArray {
		block, err := d.blockSrc.block(n)
		if err != nil || n*d.length > len(to) {
			return 0, 0, notEncoded(err)
		}
		return copy(to, block[:n*d.length]), d.length, nil
	}
	d.spanBuf = grown(d.spanBuf, n)
	data, err := d.spanSrc.spans(d.spanBuf)
	if err != nil {
		return 0, 0, err
	}
	return plainTexts(to, d.spanBuf, data)
}

// plainTexts makes PLAIN values of texts that lie in data.
func plainTexts(to []byte, texts []column.Span, data []byte) (size, longest int, err error) {
	for _, s := range texts {
		if int64(s.Len)+4 > int64(len(to)-size) {
			return 0, 0, errNotEncoded
		}
		binary.LittleEndian.PutUint32(to[size:], s.Len)
		size += 4 + copy(to[size+4:], data[s.Off:s.Off+s.Len])
		longest = max(longest, int(s.Len))
	}
	return size, longest, nil
}

// notEncoded is errNotEncoded, or the error before it.
func notEncoded(err error) error {
	if err != nil {
		return err
	}
	return errNotEncoded
}
