package parquetio

import (
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxDictHeader bounds the header of a dictionary page. Real ones have about
// 20 bytes.
const maxDictHeader = 256

// peekDictionary reads how many entries the dictionary of a chunk has, from
// the header of its first page; 0 if that is no dictionary.
func peekDictionary(f *file, group, leaf int) (entries int, err error) {
	defer fence(f.name, &err)
	start, size, err := f.chunkRange(&f.meta.RowGroups[group].Columns[leaf].MetaData)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, min(size, maxDictHeader))
	if err := readAt(f.r, buf, start); err != nil {
		return 0, err
	}
	walk := thriftWalk{data: buf}
	if err := walk.structure(0, 0); err != nil {
		return 0, err
	}
	var header format.PageHeader
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), buf[:walk.pos], &header); err != nil {
		return 0, err
	}
	if header.Type != format.DictionaryPage {
		return 0, nil
	}
	return int(header.DictionaryPageHeader.V.NumValues), nil
}
