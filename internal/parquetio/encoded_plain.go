package parquetio

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file makes PLAIN pages, for a reader of encoded chunks, of those that it does not know. In
// DELTA_LENGTH_BYTE_ARRAY a value is where the lengths of all before it say, in DELTA_BYTE_ARRAY it
// needs the value before. Decimals of byte arrays, which have any number of bytes, become INT64,
// and floats of 16 bits FLOAT. So such pages are decoded here, page by page, to where the chunk
// lies in the memory of its unit.
//
//	page in the file:   levels | lengths      | bytes
//	                    levels | prefixes     | lengths | bytes
//	as it is handed on: levels | length bytes | length bytes | …
//
// How much memory that takes is promised from the footer (plainRoom). What takes more is declined.

// makesPlain reports whether the values of pages of a leaf in an encoding are made PLAIN.
func (l *leaf) makesPlain(enc format.Encoding) bool {
	switch {
	case isDictionary(enc):
		return false
	case l.typ.Kind == column.Float16, l.bytesDecimal():
		return true
	}
	return enc == format.DeltaLengthByteArray || enc == format.DeltaByteArray
}

// bytesDecimal reports whether values are decimals of any number of bytes.
func (l *leaf) bytesDecimal() bool {
	return l.physical == format.ByteArray && l.typ.Kind == column.Decimal
}

// mayMakePlain reports whether a chunk may have pages whose values are made PLAIN, as the footer
// says. Its pages are put one by one, whatever their codec: there is no room for them where they
// are in the file.
func (l *leaf) mayMakePlain(m *format.ColumnMetaData) bool {
	return slices.ContainsFunc(m.Encoding, func(e format.Encoding) bool { return !ofLevels(e) && l.makesPlain(e) })
}

// onlyMakesPlain reports whether all pages of a chunk are such, so that none crosses compressed.
func (l *leaf) onlyMakesPlain(m *format.ColumnMetaData) bool {
	return !slices.ContainsFunc(m.Encoding, func(e format.Encoding) bool { return !ofLevels(e) && !l.makesPlain(e) })
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
	case l.typ.Kind == column.Float16:
		bytes = 4 * values
	case l.bytesDecimal():
		bytes = 8 * values
	case l.physical == format.FixedLenByteArray:
		bytes = values * min(int64(l.length), mostEncoded)
	case unencoded > 0:
		bytes = 4*values + min(unencoded, mostEncoded)
	case slices.Contains(m.Encoding, format.DeltaByteArray):
		return 4*values + plainGuess*size
	default: // a page has the bytes of its values
		return 4*values + size
	}
	if l.onlyMakesPlain(m) {
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
	p.Encoding = PlainValues
	if c.hasTexts() && (c.coding || c.codedMost < StoredTexts && longest > c.codedMost) {
		err = c.putCodes(p, levels, plain, room, place.at)
	}
	place.at += p.Bytes
	return err
}

// plainStep is how many values are made at a time: what streams keep of each is reserved for more
// (vectorBytes).
const plainStep = minLane

// makePlain makes PLAIN values of the page at hand, which has so many rows. They begin `to`.
// longest is the bytes of the longest text.
func (c *columnReader) makePlain(to, values []byte, rows int) (plain []byte, longest int, err error) {
	if len(values) == 0 { // no row has a value
		return to[:0], 0, nil
	}
	enc, most := c.encoding(), min(int64(len(to)), c.f.limits.MaxPage)
	if err := c.streams.start(&c.decoder, enc, values, rows, most); err != nil {
		return nil, 0, err
	}
	used := 0
	for left := c.streams.valuesLeft(c.leaf, enc, rows); left > 0; {
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

// valuesLeft is how many values of a leaf a stream has that was just started, of a page of so many
// rows.
func (s *streams) valuesLeft(l *leaf, enc format.Encoding, rows int) int {
	switch {
	case enc == format.DeltaLengthByteArray:
		return s.lengths.lengths.left
	case enc == format.DeltaByteArray:
		return min(s.strings.prefixes.left, s.strings.suffixes.lengths.left)
	case l.physical == format.FixedLenByteArray:
		return min(rows, len(s.blocks.data)/l.length)
	}
	return s.spans.count(rows)
}

// count is how many byte arrays there are, up to n, from the first on.
func (p plainSpans) count(n int) (count int) {
	var one [1]column.Span
	for ; count < n && p.pos < len(p.data); count++ {
		if _, err := p.spans(one[:]); err != nil {
			break
		}
	}
	return count
}

// plainStep makes the next n values.
func (c *columnReader) plainStep(to []byte, n int) (size, longest int, err error) {
	d := &c.decoder
	switch {
	case c.leaf.typ.Kind == column.Float16:
		size, err = d.plainHalves(to, n)
	case c.leaf.bytesDecimal():
		size, err = d.plainInts(to, n)
	case d.physical == format.FixedLenByteArray:
		size, err = d.plainBlock(to, n)
	default:
		d.spanBuf = grown(d.spanBuf, n)
		data, err := d.spanSrc.spans(d.spanBuf)
		if err != nil {
			return 0, 0, err
		}
		return plainTexts(to, d.spanBuf, data)
	}
	return size, 0, err
}

// plainHalves makes FLOAT of the next n floats of 16 bits.
func (d *decoder) plainHalves(to []byte, n int) (size int, err error) {
	if 4*n > len(to) {
		return 0, errNotEncoded
	}
	block, err := d.blockSrc.block(n)
	if err != nil {
		return 0, err
	}
	for i := range n {
		v := float32(float16(binary.LittleEndian.Uint16(block[2*i:])))
		binary.LittleEndian.PutUint32(to[4*i:], math.Float32bits(v))
	}
	return 4 * n, nil
}

// plainInts makes INT64 of the next n decimals, if these have no more bits.
func (d *decoder) plainInts(to []byte, n int) (size int, err error) {
	if 8*n > len(to) {
		return 0, errNotEncoded
	}
	d.intBuf = grown(d.intBuf, n)
	if err := d.ints(d.intBuf); err != nil {
		return 0, err
	}
	for i, v := range d.intBuf {
		binary.LittleEndian.PutUint64(to[8*i:], uint64(v))
	}
	return 8 * n, nil
}

// plainBlock makes the next n values, which have a fixed number of bytes.
func (d *decoder) plainBlock(to []byte, n int) (size int, err error) {
	if n*d.length > len(to) {
		return 0, errNotEncoded
	}
	block, err := d.blockSrc.block(n)
	if err != nil {
		return 0, err
	}
	return copy(to, block[:n*d.length]), nil
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
