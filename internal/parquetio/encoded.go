package parquetio

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/format"
)

// Encoded chunks are for a reader elsewhere, which decompresses and decodes
// the data pages itself. Such a reader is simple: it knows values of
// some types, in the encodings that most files are written with (encodedAs).
// What else the format has is left to Open and Next. Nothing here fails for it;
// the answer is only that a column or unit is not read encoded. Of codecs such
// a reader knows Snappy and, for small pages, Zstandard; other pages are
// decompressed here.
//
//	Encoded       by the schemas: the type of a column
//	EncodedUnit   by the footers: codec and encodings of a row group
//	ReadEncoded   by the page headers: everything that can be known of a page
//	              without looking into its levels and values

// Physical is how a value of a column is stored in a file.
type Physical uint8

// The physical types that encoded columns have.
const (
	Int32        Physical = iota + 1 // 4 bytes, signed
	Int64                            // 8 bytes, signed
	Float                            // 4 bytes, IEEE 754
	Double                           // 8 bytes, IEEE 754
	ByteArray                        // a length of 4 bytes, then as many bytes
	Boolean                          // a bit
	FixedDecimal                     // Width bytes, two's complement, the highest first: what 64 bits hold
	Int96                            // a time of 12 bytes, which becomes microseconds since 1970
	FixedBytes                       // a string of Width bytes
)

// EncodedType says how the wanted value is made of a stored one. Integers go
// through these steps: Mask32, a check against Lo and Hi, Factor. Floats
// become float64, byte arrays stay as they are. Of decimals of more than 18
// digits values are those that 64 bits hold; who decodes them finds others.
type EncodedType struct {
	Physical Physical
	Width    uint8 // of a FixedDecimal or FixedBytes: bytes of a value, up to 16
	Mask32   bool  // only the low 32 bits count: uint32
	Lo, Hi   int64 // a value outside is an error of the file
	Factor   int64 // at least 1; no value within Lo and Hi times it overflows
}

// Encoded tells how values of column i of Columns are stored, if it is of a
// type that can be handed on encoded, and stored alike in all files.
func (s *Scan) Encoded(i int) (t EncodedType, ok bool) {
	for n, f := range s.d.files {
		leaf := s.leaves[f.layout][i]
		if leaf < 0 {
			return EncodedType{}, false
		}
		one, ok := encodedType(&f.leaves[leaf], s.types[i])
		if !ok || n > 0 && one != t {
			return EncodedType{}, false
		}
		t = one
	}
	return t, len(s.d.files) > 0
}

// encodedType is how a leaf is stored that is wanted as a type; not ok: in a
// way in which it is not read encoded.
func encodedType(l *leaf, want column.Type) (t EncodedType, ok bool) {
	if l.err != nil || l.maxRep > 0 || l.maxDef > 1 || l.typ.Kind == column.Null || want.Kind == column.Null {
		return t, false
	}
	rep, bits := column.RepInt64, 64
	switch l.physical {
	case format.Int32:
		t.Physical, bits = Int32, 32
	case format.Int64:
		t.Physical = Int64
	case format.Float:
		t.Physical, rep = Float, column.RepFloat64
	case format.Double:
		t.Physical, rep = Double, column.RepFloat64
	case format.ByteArray:
		t.Physical, rep = ByteArray, column.RepBytes
		if l.bytesDecimal() {
			t.Physical, rep = Int64, column.RepInt64
		}
	case format.Boolean:
		t.Physical = Boolean
	case format.FixedLenByteArray:
		if rep = fixedType(l, want, &t); t.Physical == 0 {
			return t, false
		}
	case format.Int96:
		t.Physical = Int96
	default:
		return t, false
	}
	r := newIntRule(l.typ, want, bits)
	t.Mask32, t.Lo, t.Hi, t.Factor = r.mask, r.lo, r.hi, r.factor
	wide := want.Kind == column.Decimal && l.typ.Kind == column.Decimal && rep == column.RepInt64
	return t, want.Rep() == rep || wide
}

// mostFixed is the bytes of the widest values of a fixed number of bytes that are read encoded.
const mostFixed = 16

// fixedType is how FIXED_LEN_BYTE_ARRAY is stored. Where t is left as it is, it is not read
// encoded: strings of 16 bytes are only where keys hold them as they are.
func fixedType(l *leaf, want column.Type, t *EncodedType) column.Rep {
	raw := want.Kind == column.UUID || want.Kind == column.FixedBinary
	switch {
	case l.typ.Kind == column.Float16:
		t.Physical = Float
		return column.RepFloat64
	case l.length < 1 || l.length > mostFixed:
	case l.typ.Kind == column.Decimal:
		t.Physical, t.Width = FixedDecimal, uint8(l.length)
	case l.typ.Rep() == column.RepBytes && (l.length < mostFixed || raw):
		t.Physical, t.Width = FixedBytes, uint8(l.length)
		return column.RepBytes
	}
	return column.RepInt64
}

// EncodedUnit is the footer's description of a unit whose chunks may be read
// encoded.
type EncodedUnit struct {
	First    int64 // as Unit.First
	Rows     int64
	Bytes    int64 // of the memory that ReadEncoded wants, and uses at most
	Unpacked int64 // of Bytes: for pages that ReadEncoded decompresses
	Expanded int64 // of the pages that it leaves compressed, decompressed; a hint
}

// EncodedUnit describes a unit. It is not ok where the footer tells that
// ReadEncoded would not take it.
func (s *Scan) EncodedUnit(unit int) (e EncodedUnit, ok bool) {
	u := &s.units[unit]
	f := s.d.files[s.fileOf[u.of]]
	if f.deleted != nil {
		return e, false
	}
	e.First = u.First
	if e.Rows = u.Rows; u.Rows < s.groups[u.of].Rows { // chunks are handed on as a whole
		return e, false
	}
	for _, leaf := range s.leaves[f.layout] {
		if leaf < 0 {
			return e, false
		}
		l := &f.leaves[leaf]
		m := &f.chunk(u.Group, l.index).MetaData
		room, ok := f.encodedRoom(l, m)
		if !ok || !encodable(m) || l.beyond64(&m.Statistics) {
			return e, false
		}
		e.Bytes += room
		if l.movesPages(m) {
			e.Unpacked += room
		}
		if l.mayCrossPacked(m) {
			e.Expanded += min(max(m.TotalUncompressedSize, 0), mostEncoded)
		}
	}
	return e, len(s.cols) > 0
}

// beyond64 reports whether statistics tell of a decimal in bytes that 64 bits do not hold. They are
// no bounds, since writers order such values as they please, but values of the chunk.
func (l *leaf) beyond64(s *format.Statistics) bool {
	if l.typ.Kind != column.Decimal || l.physical != format.FixedLenByteArray && l.physical != format.ByteArray {
		return false
	}
	return slices.ContainsFunc([][]byte{s.MinValue, s.MaxValue}, func(b []byte) bool {
		n, known := bigEndianWide(b)
		_, fits := wideToInt(n)
		return known && !fits
	})
}

// EncodedUnit is that of the scan.
func (r *Reader) EncodedUnit(unit int) (EncodedUnit, bool) { return r.scan.EncodedUnit(unit) }

// encodable reports whether the footer says nothing of a chunk for which it
// could not be read encoded.
func encodable(m *format.ColumnMetaData) bool {
	if m.Codec == format.LZO {
		return false
	}
	for _, e := range m.Encoding {
		if ofLevels(e) {
			continue
		}
		if _, _, ok := encodedAs(m.Type, e); !ok {
			return false
		}
	}
	return true
}

// ofLevels reports whether an encoding in a footer is that of levels; of booleans too, and the
// latter also in files whose columns have none.
func ofLevels(e format.Encoding) bool { return e == format.RLE || e == format.BitPacked }

// PageEncoding is how the values of an encoded page lie.
type PageEncoding uint8

// The encodings that pages of values have.
const (
	PlainValues PageEncoding = iota // one after the other
	SplitValues                     // BYTE_STREAM_SPLIT
	DeltaValues                     // DELTA_BINARY_PACKED
	TruthRuns                       // of booleans, in runs behind their size: codes of the entries false and true
)

// encodedAs is how pages of a type in an encoding are handed on; not ok: they
// are not.
func encodedAs(physical format.Type, enc format.Encoding) (as PageEncoding, coded, ok bool) {
	switch enc {
	case format.Plain:
		return PlainValues, false, true
	case format.PlainDictionary, format.RLEDictionary:
		return PlainValues, true, physical != format.Boolean
	case format.ByteStreamSplit:
		return SplitValues, false, physical != format.ByteArray && physical != format.Boolean
	case format.DeltaBinaryPacked:
		return DeltaValues, false, physical == format.Int32 || physical == format.Int64
	case format.RLE:
		return TruthRuns, true, physical == format.Boolean
	case format.DeltaLengthByteArray: // which is made PLAIN
		return PlainValues, false, physical == format.ByteArray
	case format.DeltaByteArray: // likewise
		return PlainValues, false, physical == format.ByteArray || physical == format.FixedLenByteArray
	}
	return PlainValues, false, false
}

// movesPages reports whether the pages of a chunk are put into their places one by one: they are
// decompressed here, but for those that crossesPacked, or some are made PLAIN. Else the chunk is
// handed on as it is in the file.
func (l *leaf) movesPages(m *format.ColumnMetaData) bool {
	return m.Codec != format.Uncompressed && m.Codec != format.Snappy || l.mayMakePlain(m)
}

// mayCrossPacked reports whether pages of a chunk may cross compressed.
func (l *leaf) mayCrossPacked(m *format.ColumnMetaData) bool {
	return (m.Codec == format.Snappy || m.Codec == format.Zstd) && !l.onlyMakesPlain(m)
}

// mostZstd is the size of the largest page of Zstandard that crosses compressed. A device
// decompresses a page of one block, 128 KiB, at a tenth of the rate of a core of the host, and of
// several blocks one after the other: so it needs hundreds of pages at a time, and gets them where
// they are small (docs/decisions/0029).
const mostZstd = 256 << 10

// crossesPacked reports whether a page that is moved crosses compressed, of which there are so many
// bytes.
func (p *EncodedPage) crossesPacked(id format.CompressionCodec, bytes int) bool {
	return (id == format.Zstd && p.Size <= mostZstd || id == format.Snappy) && bytes <= p.Size
}

// PageCodec is how an encoded page is compressed.
type PageCodec uint8

// The codecs that encoded pages have.
const (
	PageUncompressed PageCodec = iota
	PageSnappy
	PageZstd
)

var pageCodecs = map[format.CompressionCodec]PageCodec{
	format.Uncompressed: PageUncompressed, format.Snappy: PageSnappy, format.Zstd: PageZstd,
}

// EncodedAlign is what the places of encoded chunks are multiples of.
const EncodedAlign = 16

// mostEncoded bounds the size of a chunk that a footer can claim: a larger chunk
// is not sent over a link in one piece.
const mostEncoded = 1 << 31

// encodedRoom is the memory for an encoded chunk of a leaf: as it is in the
// file, or what the footer promises of it decompressed and made PLAIN.
func (f *file) encodedRoom(l *leaf, m *format.ColumnMetaData) (room int64, ok bool) {
	_, n, err := f.chunkRange(m)
	if l.movesPages(m) {
		n = m.TotalUncompressedSize
	}
	if n >= 0 && l.mayMakePlain(m) {
		n = l.plainRoom(m)
	}
	return encodedRoom(n), err == nil && n >= 0 && n <= mostEncoded
}

// encodedRoom is the memory for an encoded chunk of n bytes: it, zeros that
// satisfy PAD, and what the next one's alignment takes.
func encodedRoom(n int64) int64 {
	return (n + padding + EncodedAlign - 1) &^ (EncodedAlign - 1)
}
