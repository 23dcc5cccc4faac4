package datagen

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// parts is a Parquet file taken apart.
type parts struct {
	meta   format.FileMetaData
	groups [][]chunk // by row group, by column
}

type chunk struct {
	codec *format.CompressionCodec // in meta
	pages []page
}

type page struct {
	header format.PageHeader
	body   []byte // as in the file
}

const magic = "PAR1"

// takeApart takes a file apart. It is not ok where that cannot be done, as with damaged ones.
func takeApart(file []byte) (p *parts, ok bool) {
	end := len(file) - 8
	if end < 4 || string(file[end+4:]) != magic {
		return nil, false
	}
	size := int64(binary.LittleEndian.Uint32(file[end:]))
	if size > int64(end-4) {
		return nil, false
	}
	p = new(parts)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), file[int64(end)-size:end], &p.meta); err != nil {
		return nil, false
	}
	for g := range p.meta.RowGroups {
		columns := p.meta.RowGroups[g].Columns
		p.groups = append(p.groups, make([]chunk, len(columns)))
		for i := range columns {
			m := &columns[i].MetaData
			start := m.DataPageOffset
			if d := m.DictionaryPageOffset; d > 0 && d < start {
				start = d
			}
			if start < 4 || m.TotalCompressedSize < 0 || start > int64(end) || m.TotalCompressedSize > int64(end)-start {
				return nil, false
			}
			pages, ok := pagesOf(file[start : start+m.TotalCompressedSize])
			if !ok {
				return nil, false
			}
			p.groups[g][i] = chunk{&m.Codec, pages}
		}
	}
	return p, true
}

func pagesOf(b []byte) (pages []page, ok bool) {
	for len(b) > 0 {
		var pg page
		r := new(thrift.CompactProtocol).NewReaderFromBytes(b)
		if thrift.NewDecoder(r).Decode(&pg.header) != nil {
			return nil, false
		}
		b = b[r.(interface{ BytesRead() int }).BytesRead():]
		n := int(pg.header.CompressedPageSize)
		if n < 0 || n > len(b) {
			return nil, false
		}
		pg.body, b = b[:n:n], b[n:]
		pages = append(pages, pg)
	}
	return pages, true
}

func (p *parts) chunks() (all []*chunk) {
	for g := range p.groups {
		for i := range p.groups[g] {
			all = append(all, &p.groups[g][i])
		}
	}
	return all
}

// layOut has the footer say where the pages will lie.
func (p *parts) layOut() {
	at := int64(len(magic))
	for g := range p.groups {
		for i := range p.groups[g] {
			m := &p.meta.RowGroups[g].Columns[i].MetaData
			start := at
			m.DictionaryPageOffset, m.DataPageOffset = 0, start
			for k, pg := range p.groups[g][i].pages {
				at += int64(len(pg.bytes()))
				if k == 0 && pg.header.Type == format.DictionaryPage {
					m.DictionaryPageOffset, m.DataPageOffset = start, at
				}
			}
			m.TotalCompressedSize = at - start
		}
	}
}

// file puts the parts together.
func (p *parts) file() []byte {
	out := []byte(magic)
	for _, c := range p.chunks() {
		for _, pg := range c.pages {
			out = append(out, pg.bytes()...)
		}
	}
	footer := marshal(&p.meta)
	out = append(out, footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), magic...)
}

func (pg *page) bytes() []byte { return append(marshal(&pg.header), pg.body...) }

func marshal(v any) []byte {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		panic(err)
	}
	return b
}

// settle makes the compressed size and the checksum, if there is one, those of the body.
func (pg *page) settle() {
	pg.header.CompressedPageSize = int32(len(pg.body))
	if pg.header.CRC != 0 {
		pg.header.CRC = int32(crc32.ChecksumIEEE(pg.body))
	}
}

// levels is how many bytes before the values are never compressed.
func (pg *page) levels() int {
	if h := pg.header.DataPageHeaderV2; h.Valid {
		return int(h.V.RepetitionLevelsByteLength + h.V.DefinitionLevelsByteLength)
	}
	return 0
}

// packed is the codec of a page of the chunk.
func (c *chunk) packed(pg *page) format.CompressionCodec {
	if h := pg.header.DataPageHeaderV2; h.Valid && h.V.IsCompressed.Valid && !h.V.IsCompressed.V {
		return format.Uncompressed
	}
	return *c.codec
}

// unpack returns the body of a page, decompressed.
func (c *chunk) unpack(pg *page) (body []byte, ok bool) {
	n, size := pg.levels(), int(pg.header.UncompressedPageSize)
	if n < 0 || n > len(pg.body) || n > size || size > 1<<26 {
		return nil, false
	}
	values, ok := unpack(c.packed(pg), pg.body[n:], size-n)
	return append(pg.body[:n:n], values...), ok
}

// pack makes body that of a page.
func (c *chunk) pack(pg *page, body []byte) bool {
	n := min(max(pg.levels(), 0), len(body))
	values, ok := pack(c.packed(pg), body[n:])
	if !ok {
		return false
	}
	pg.body = append(body[:n:n], values...)
	pg.header.UncompressedPageSize = int32(len(body))
	pg.settle()
	return true
}

// recompress gives the chunk another codec, if all of its pages can be read.
func (c *chunk) recompress(rng *rand.Rand) {
	to := []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw, format.Lz4}[rng.IntN(7)]
	bodies := make([][]byte, len(c.pages))
	for k := range c.pages {
		var ok bool
		if bodies[k], ok = c.unpack(&c.pages[k]); !ok {
			return
		}
	}
	*c.codec = to
	for k := range c.pages {
		c.pack(&c.pages[k], bodies[k])
	}
}

var mutantCodecs = map[format.CompressionCodec]compress.Codec{
	format.Uncompressed: &parquet.Uncompressed, format.Snappy: &parquet.Snappy, format.Gzip: &parquet.Gzip,
	format.Brotli: &parquet.Brotli, format.Zstd: &parquet.Zstd,
}

func unpack(id format.CompressionCodec, src []byte, size int) ([]byte, bool) {
	if len(src) == 0 {
		return nil, size == 0
	}
	if id == format.Lz4 || id == format.Lz4Raw {
		dst := make([]byte, size)
		n, err := lz4.UncompressBlock(src, dst)
		return dst, err == nil && n == size
	}
	codec, ok := mutantCodecs[id]
	if !ok {
		return nil, false
	}
	dst, err := codec.Decode(nil, src)
	return dst, err == nil && len(dst) == size
}

func pack(id format.CompressionCodec, src []byte) ([]byte, bool) {
	if len(src) == 0 {
		return nil, true
	}
	if id == format.Lz4 || id == format.Lz4Raw {
		return packLz4(src)
	}
	codec, ok := mutantCodecs[id]
	if !ok {
		return nil, false
	}
	dst, err := codec.Encode(nil, src)
	return dst, err == nil
}

// packLz4 makes one block.
func packLz4(src []byte) ([]byte, bool) {
	dst := make([]byte, lz4.CompressBlockBound(len(src)))
	n, err := lz4.CompressBlock(src, dst, nil)
	if err != nil || n == 0 { // it does not get smaller: literals alone
		return lz4Literals(src), true
	}
	return dst[:n], true
}

// lz4Literals is a block of one run of literals.
func lz4Literals(src []byte) []byte {
	if n := len(src); n < 15 {
		return append([]byte{byte(n << 4)}, src...)
	}
	dst := []byte{0xF0}
	left := len(src) - 15
	for ; left >= 255; left -= 255 {
		dst = append(dst, 255)
	}
	return append(append(dst, byte(left)), src...)
}
