package parquetio

import (
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// groupDecoder decodes the row groups of a footer. What it makes refers to the footer.
type groupDecoder struct {
	thriftQuick
	left      int      // row groups to come, with the one at hand
	lists     int      // of one kind that these have at most, about
	texts     []string // memory for lists
	counts    []int64
	encodings []format.Encoding
	stats     []format.PageEncodingStats
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

// decode decodes a row group that is all of data, and reports whether it could.
func (d *groupDecoder) decode(data []byte, g *format.RowGroup) bool {
	d.thriftQuick = thriftQuick{data: data}
	d.fields(groupRequired, func(id int, t byte) {
		switch id {
		case 1:
			g.Columns = make([]format.ColumnChunk, d.list(t, thriftStruct))
			d.lists = len(g.Columns) * d.left
			for i := range g.Columns {
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
	return !d.odd && d.pos == len(data)
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
		m.Encoding = take(&d.encodings, d.lists, d.list(t, thriftI32))
		for i := range m.Encoding {
			m.Encoding[i] = format.Encoding(d.i32(thriftI32))
		}
	case 3:
		m.PathInSchema = take(&d.texts, d.lists, d.list(t, thriftBinary))
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
		m.EncodingStats = take(&d.stats, d.lists, d.list(t, thriftStruct))
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
	list := take(&d.counts, d.lists, d.list(t, thriftI64))
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

// take is the next n elements of memory for lists, of which more is made when it is used up: for no more lists than there are, since
// thousands of files may have a row group each.
func take[T any](memory *[]T, lists, n int) []T {
	const most = 64               // elements
	if len(*memory) < max(n, 1) { // an empty list is not nil
		*memory = make([]T, max(n, 1, min(most, n*lists)))
	}
	list := (*memory)[:n:n]
	*memory = (*memory)[n:]
	return list
}
