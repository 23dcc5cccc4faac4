package parquetio

import (
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// groupDecoder decodes the row groups of a footer, and single chunks. What it makes refers to the
// footer.
type groupDecoder struct {
	thriftQuick
	again  bool     // the memory of lists is used again for the next row group
	places []uint32 // of the row group at hand, by column: where the chunk begins
	listed int      // elements of lists

	texts     listMemory[string]
	counts    listMemory[int64]
	encodings listMemory[format.Encoding]
	stats     listMemory[format.PageEncodingStats]
}

// fieldSet is the bits of the numbers of fields.
func fieldSet(ids ...int) (set uint32) {
	for _, id := range ids {
		set |= 1 << id
	}
	return set
}

// Fields that the format requires.
var (
	groupRequired    = fieldSet(1, 2, 3)
	chunkRequired    = fieldSet(2)
	metadataRequired = fieldSet(1, 2, 3, 4, 5, 6, 7, 9)
	pagesRequired    = fieldSet(1, 2, 3)
)

// group decodes a row group of as many chunks as g has.
func (d *groupDecoder) group(g *format.RowGroup) {
	d.fields(groupRequired, func(id int, t byte) {
		switch id {
		case 1:
			d.odd = d.list(t, thriftStruct) != len(g.Columns) || d.odd
			for i := range g.Columns {
				if d.odd {
					return
				}
				d.places[i] = uint32(d.pos)
				d.chunk(&g.Columns[i])
			}
		case 2:
			g.TotalByteSize = d.i64(t)
		case 3:
			g.NumRows = d.i64(t)
		case 4:
			g.SortingColumns = none[format.SortingColumn](d, t)
		case 5:
			g.FileOffset = d.i64(t)
		case 6:
			g.TotalCompressedSize = d.i64(t)
		case 7:
			g.Ordinal = d.i16(t)
		default:
			d.skip(t)
		}
	})
}

func (d *groupDecoder) chunk(c *format.ColumnChunk) {
	d.fields(chunkRequired, func(id int, t byte) {
		switch id {
		case 2:
			c.FileOffset = d.i64(t)
		case 3:
			d.structure(t, metadataRequired, func(id int, t byte) { d.metadata(&c.MetaData, id, t) })
		case 4:
			c.OffsetIndexOffset = d.i64(t)
		case 5:
			c.OffsetIndexLength = d.i32(t)
		case 6:
			c.ColumnIndexOffset = d.i64(t)
		case 7:
			c.ColumnIndexLength = d.i32(t)
		default: // files of others, and encrypted ones
			d.odd = true
		}
	})
}

func (d *groupDecoder) metadata(m *format.ColumnMetaData, id int, t byte) {
	switch id {
	case 1:
		m.Type = format.Type(d.i32(t))
	case 2:
		m.Encoding = take(d, &d.encodings, d.list(t, thriftI32))
		for i := range m.Encoding {
			m.Encoding[i] = format.Encoding(d.i32(thriftI32))
		}
	case 3:
		m.PathInSchema = take(d, &d.texts, d.list(t, thriftBinary))
		for i := range m.PathInSchema {
			text := d.bytes(thriftBinary)
			m.PathInSchema[i] = unsafe.String(unsafe.SliceData(text), len(text))
		}
	case 4:
		m.Codec = format.CompressionCodec(d.i32(t))
	case 5:
		m.NumValues = d.i64(t)
	case 6:
		m.TotalUncompressedSize = d.i64(t)
	case 7:
		m.TotalCompressedSize = d.i64(t)
	case 8:
		m.KeyValueMetadata = none[format.KeyValue](d, t)
	case 9:
		m.DataPageOffset = d.i64(t)
	case 10:
		m.IndexPageOffset = d.i64(t)
	case 11:
		m.DictionaryPageOffset = d.i64(t)
	case 12:
		d.structure(t, 0, func(id int, t byte) { d.statistics(&m.Statistics, id, t) })
	case 13:
		m.EncodingStats = take(d, &d.stats, d.list(t, thriftStruct))
		for i := range m.EncodingStats {
			d.pages(&m.EncodingStats[i])
		}
	case 14:
		m.BloomFilterOffset = d.i64(t)
	case 15:
		m.BloomFilterLength = d.i32(t)
	case 16:
		d.structure(t, 0, func(id int, t byte) { d.sizes(&m.SizeStatistics, id, t) })
	case 17: // of places on earth
		d.odd = true
	default:
		d.skip(t)
	}
}

// none is an empty list of structs, which some writers write; others are odd.
func none[T any](d *groupDecoder, t byte) []T {
	d.odd = d.list(t, thriftStruct) > 0 || d.odd
	return []T{}
}

func (d *groupDecoder) sizes(s *format.SizeStatistics, id int, t byte) {
	switch id {
	case 1:
		s.UnencodedByteArrayDataBytes = d.i64(t)
	case 2:
		s.RepetitionLevelHistogram = d.numbers(t)
	case 3:
		s.DefinitionLevelHistogram = d.numbers(t)
	default:
		d.skip(t)
	}
}

func (d *groupDecoder) numbers(t byte) []int64 {
	list := take(d, &d.counts, d.list(t, thriftI64))
	for i := range list {
		list[i] = d.i64(thriftI64)
	}
	return list
}

func (q *thriftQuick) statistics(s *format.Statistics, id int, t byte) {
	switch id {
	case 1:
		s.Max = q.bytes(t)
	case 2:
		s.Min = q.bytes(t)
	case 3:
		s.NullCount = q.i64(t)
	case 4:
		s.DistinctCount = q.i64(t)
	case 5:
		s.MaxValue = q.bytes(t)
	case 6:
		s.MinValue = q.bytes(t)
	default:
		q.skip(t)
	}
}

func (d *groupDecoder) pages(s *format.PageEncodingStats) {
	d.fields(pagesRequired, func(id int, t byte) {
		switch id {
		case 1:
			s.PageType = format.PageType(d.i32(t))
		case 2:
			s.Encoding = format.Encoding(d.i32(t))
		case 3:
			s.Count = d.i32(t)
		default:
			d.skip(t)
		}
	})
}

// listMemory is memory for the lists of a row group.
type listMemory[T any] struct{ all, free []T }

// longList is more elements than lists of usual footers have.
const longList = 1 << 12

// take is a list of n elements, which it may have held other values before.
func take[T any](d *groupDecoder, m *listMemory[T], n int) []T {
	if n > longList {
		d.odd = true
		return nil
	}
	d.listed += n
	if !d.again {
		return make([]T, n)
	}
	if len(m.free) < n {
		m.all = make([]T, max(n, 2*len(m.all)))
		m.free = m.all
	}
	list := m.free[:n:n]
	m.free = m.free[n:]
	return list
}

// reuse has the memory of all lists serve the next row group.
func (d *groupDecoder) reuse() {
	d.texts.free, d.counts.free, d.encodings.free, d.stats.free = d.texts.all, d.counts.all, d.encodings.all, d.stats.all
}
