package parquetio

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// agree checks that the quick decoder makes of data what the library does, and reports whether it
// made anything.
func agree[T any](t *testing.T, data []byte, quick func(data []byte, to *T) bool) bool {
	t.Helper()
	var got, want T
	if !quick(data, &got) {
		return false
	}
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data, &want); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%x:\n%+v, want\n%+v, %v", data, got, want, err)
	}
	return true
}

// decodeGroup decodes a row group of one column that is all of data.
func decodeGroup(data []byte, g *format.RowGroup) bool {
	d := groupDecoder{thriftQuick: thriftQuick{data: data}, places: make([]uint32, 1)}
	g.Columns = make([]format.ColumnChunk, 1)
	d.group(g)
	return !d.odd && d.pos == len(data)
}

// changed is data with up to three changes: bits, bytes that are left out, come twice, or others.
func changed(data []byte, r *rand.Rand) []byte {
	data = bytes.Clone(data)
	for range r.IntN(4) {
		if len(data) == 0 {
			break
		}
		i := r.IntN(len(data))
		switch r.IntN(4) {
		case 0:
			data[i] ^= 1 << r.IntN(8)
		case 1:
			data = append(data[:i], data[i+1:]...)
		case 2:
			data = append(data[:i+1], data[i:]...)
		case 3:
			data[i] = byte(r.Uint32())
		}
	}
	return data
}

// Row groups and page headers decoded without the library are what it would make of them, however
// they were changed. Those of usual files are decoded without it.
func TestQuickDecoding(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 5))
	groups, pages := 0, 0
	try := func(data []byte, rounds int) {
		for range rounds {
			b := changed(data, r)
			walk := thriftWalk{data: b}
			if walk.structure(0, 0) != nil {
				continue // nobody decodes it
			}
			if agree(t, b, decodeGroup) {
				groups++
			}
			if agree(t, b, decodePage) {
				pages++
			}
		}
	}
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), manyGroupsFooter(t, 1), &meta); err != nil {
		t.Fatal(err)
	}
	group := marshal(t, &meta.RowGroups[0])
	if !agree(t, group, decodeGroup) {
		t.Error("a row group is odd")
	}
	try(group, 5000)
	statistics := format.Statistics{Min: le32(1), MaxValue: le32(2), NullCount: 7}
	v1, v2 := pageV1(format.Plain, 100).header, pageV2(format.RLEDictionary, 100, 10).header
	v1.DataPageHeader.V.Statistics, v1.CRC = statistics, -5
	v2.DataPageHeaderV2.V.Statistics, v2.DataPageHeaderV2.V.NumNulls = statistics, 3
	dict := dictPage(1000).header
	dict.DictionaryPageHeader.V.IsSorted = true
	for _, h := range []format.PageHeader{v1, v2, dict, pageV2(format.Plain, 1, 0).header, dictPage(0).header} {
		h.CompressedPageSize, h.UncompressedPageSize = 1000, 70_000
		data := marshal(t, &h)
		if !agree(t, data, decodePage) {
			t.Errorf("a page header is odd: %+v", h)
		}
		try(data, 2000)
	}
	if groups < 1000 || pages < 2000 {
		t.Errorf("%d row groups and %d pages were decoded", groups, pages)
	}
}
