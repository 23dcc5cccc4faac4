package parquetio

import "github.com/parquet-go/parquet-go/format"

// Fields that the format requires.
var (
	pageRequired   = fieldSet(1, 2, 3)
	dataRequired   = fieldSet(1, 2, 3, 4)
	dataV2Required = fieldSet(1, 2, 3, 4, 5, 6)
	dictRequired   = fieldSet(1, 2)
)

// decodePage decodes a page header that is all of data, and reports whether it could. Bounds in
// it refer to data.
func decodePage(data []byte, h *format.PageHeader) bool {
	q := thriftQuick{data: data}
	q.fields(pageRequired, func(id int, t byte) {
		switch id {
		case 1:
			h.Type = format.PageType(q.i32(t))
		case 2:
			h.UncompressedPageSize = q.i32(t)
		case 3:
			h.CompressedPageSize = q.i32(t)
		case 4:
			h.CRC = q.i32(t)
		case 5:
			h.DataPageHeader.Valid = true
			q.structure(t, dataRequired, func(id int, t byte) { q.dataPage(&h.DataPageHeader.V, id, t) })
		case 7:
			h.DictionaryPageHeader.Valid = true
			q.structure(t, dictRequired, func(id int, t byte) { q.dictionaryPage(&h.DictionaryPageHeader.V, id, t) })
		case 8:
			h.DataPageHeaderV2.Valid = true
			q.structure(t, dataV2Required, func(id int, t byte) { q.dataPageV2(&h.DataPageHeaderV2.V, id, t) })
		default: // index pages
			q.odd = true
		}
	})
	return !q.odd && q.pos == len(data)
}

func (q *thriftQuick) dataPage(h *format.DataPageHeader, id int, t byte) {
	switch id {
	case 1:
		h.NumValues = q.i32(t)
	case 2:
		h.Encoding = format.Encoding(q.i32(t))
	case 3:
		h.DefinitionLevelEncoding = format.Encoding(q.i32(t))
	case 4:
		h.RepetitionLevelEncoding = format.Encoding(q.i32(t))
	case 5:
		q.structure(t, 0, func(id int, t byte) { q.statistics(&h.Statistics, id, t) })
	default:
		q.skip(t)
	}
}

func (q *thriftQuick) dataPageV2(h *format.DataPageHeaderV2, id int, t byte) {
	switch id {
	case 1:
		h.NumValues = q.i32(t)
	case 2:
		h.NumNulls = q.i32(t)
	case 3:
		h.NumRows = q.i32(t)
	case 4:
		h.Encoding = format.Encoding(q.i32(t))
	case 5:
		h.DefinitionLevelsByteLength = q.i32(t)
	case 6:
		h.RepetitionLevelsByteLength = q.i32(t)
	case 7:
		h.IsCompressed.V, h.IsCompressed.Valid = q.boolean(t), true
	case 8:
		q.structure(t, 0, func(id int, t byte) { q.statistics(&h.Statistics, id, t) })
	default:
		q.skip(t)
	}
}

func (q *thriftQuick) dictionaryPage(h *format.DictionaryPageHeader, id int, t byte) {
	switch id {
	case 1:
		h.NumValues = q.i32(t)
	case 2:
		h.Encoding = format.Encoding(q.i32(t))
	case 3:
		h.IsSorted = q.boolean(t)
	default:
		q.skip(t)
	}
}
