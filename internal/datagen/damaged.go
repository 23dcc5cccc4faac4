package datagen

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// damage is a way of making a good file a bad one: of the whole, or of its parts.
type damage struct {
	name, note string
	whole      func(file []byte) []byte
	parts      func(p *parts) // of columns coded (a dictionary), number and text (plain), delta
	late       func(p *parts) // the same, when the footer says where the pages lie
}

// Damaged returns bad files, each of them a good file but for what its note says. A reader that
// makes an answer of one, without an error, believes what is not so; of the last two, which are
// too large and no text, it may make something.
func Damaged() ([]File, error) {
	good, err := beforeDamage()
	if err != nil {
		return nil, err
	}
	var files []File
	for _, d := range damages {
		data := bytes.Clone(good)
		if d.whole != nil {
			files = append(files, File{d.name, d.note, d.whole(data)})
			continue
		}
		p, ok := takeApart(data)
		if !ok {
			return nil, fmt.Errorf("the file cannot be taken apart")
		}
		p.forgetIndexes()
		if d.parts != nil {
			d.parts(p)
		}
		p.layOut()
		if d.late != nil {
			d.late(p)
		}
		files = append(files, File{d.name, d.note, p.file()})
	}
	return files, nil
}

// beforeDamage is the good file: columns coded, number, text, delta, in one row group of two pages.
func beforeDamage() ([]byte, error) {
	var out bytes.Buffer
	spec := Spec{Rows: 60, Seed: 9, Columns: []Column{
		{Name: "coded", Type: column.Type{Kind: column.String}, Distinct: 20, Nulls: 0.1, Coded: true},
		{Name: "number", Type: column.Type{Kind: column.Float64}, Distinct: 40, Nulls: 0.1},
		{Name: "text", Type: column.Type{Kind: column.Binary}, Distinct: 40, Nulls: 0.1},
		{Name: "delta", Type: column.Type{Kind: column.Int64}, Distinct: 40, Nulls: 0.1},
	}}
	err := New(spec).WriteParquet(&out, Layout{Page: 30, Codec: "snappy", Encoding: Delta})
	return out.Bytes(), err
}

var damages = []damage{
	{name: "nothing", note: "no bytes", whole: func([]byte) []byte { return []byte{} }},
	{name: "magic_alone", note: "nothing but PAR1", whole: func([]byte) []byte { return []byte(magic) }},
	{name: "magics_alone", note: "nothing but PAR1PAR1", whole: func([]byte) []byte { return []byte(magic + magic) }},
	{name: "json", note: "another format", whole: func([]byte) []byte { return []byte("{\"parquet\": false}\n") }},
	{name: "half", note: "the second half is missing", whole: func(b []byte) []byte { return b[:len(b)/2] }},
	{name: "hole", note: "100 bytes of the first pages are missing", whole: func(b []byte) []byte { return append(b[:60:60], b[160:]...) }},
	{name: "wrong_magic", note: "the last byte is another", whole: func(b []byte) []byte { return append(b[:len(b)-1], 'X') }},
	{name: "encrypted", note: "the magic of an encrypted footer", whole: func(b []byte) []byte { return append(b[:len(b)-1], 'E') }},
	{name: "footer_none", note: "a footer of 0 bytes", whole: func(b []byte) []byte { return footerLength(b, 0) }},
	{name: "footer_huge", note: "a footer of 4 GB", whole: func(b []byte) []byte { return footerLength(b, 1<<32-16) }},
	{name: "footer_late", note: "the footer's length is 7 too small", whole: func(b []byte) []byte {
		return footerLength(b, binary.LittleEndian.Uint32(b[len(b)-8:])-7)
	}},
	{name: "rows_huge", note: "the footer claims 2^40 rows", late: func(p *parts) { p.claimRows(1 << 40) }},
	{name: "rows_negative", note: "the footer claims -5 rows", late: func(p *parts) { p.claimRows(-5) }},
	{name: "rows_more", note: "the footer claims one row more than there are", late: func(p *parts) { p.claimRows(61) }},
	{name: "no_columns", note: "a schema without columns", late: func(p *parts) {
		p.meta.Schema = p.meta.Schema[:1]
		p.meta.Schema[0].NumChildren.V = 0
		p.meta.RowGroups[0].Columns = nil
	}},
	{name: "children_many", note: "the schema's root claims 1000 columns", late: func(p *parts) { p.meta.Schema[0].NumChildren.V = 1000 }},
	{name: "type_other", note: "the schema says BOOLEAN where the chunk says DOUBLE", late: func(p *parts) { p.meta.Schema[2].Type.V = format.Boolean }},
	{name: "offset_beyond", note: "a column chunk begins beyond the file", late: func(p *parts) { p.column(1).DataPageOffset = 1 << 40 }},
	{name: "codec_other", note: "ZSTD in the footer, Snappy in the pages", late: func(p *parts) { p.column(1).Codec = format.Zstd }},
	{name: "codec_unknown", note: "codec 77", late: func(p *parts) { p.column(1).Codec = 77 }},
	{name: "page_size_negative", note: "a page of -5 bytes", parts: func(p *parts) { p.page(1, 0).header.CompressedPageSize = -5 }},
	{name: "page_size_less", note: "a page's header promises fewer bytes than there are", parts: func(p *parts) { p.page(1, 0).header.UncompressedPageSize -= 8 }},
	{name: "values_more", note: "a page claims more values than its row group has rows", parts: func(p *parts) { p.page(1, 0).header.DataPageHeader.V.NumValues += 1000 }},
	{name: "checksum", note: "a wrong checksum", parts: func(p *parts) { p.page(1, 1).header.CRC ^= 1 }},
	{name: "dictionary_none", note: "codes without a dictionary", parts: func(p *parts) { p.groups[0][0].pages = p.groups[0][0].pages[1:] }},
	{name: "dictionary_negative", note: "a dictionary of -1 values", parts: func(p *parts) { p.page(0, 0).header.DictionaryPageHeader.V.NumValues = -1 }},
	{name: "code_beyond", note: "codes beyond a dictionary of 3 values", parts: (*parts).shortenDictionary},
	{name: "code_width", note: "codes of 63 bits", parts: func(p *parts) { p.rewrite(0, 1, func(values []byte) { values[0] = 63 }) }},
	{name: "levels_long", note: "levels of 2 GB", parts: func(p *parts) {
		c := &p.groups[0][1]
		body, _ := c.unpack(&c.pages[0])
		binary.LittleEndian.PutUint32(body, 1<<31-1)
		c.pack(&c.pages[0], body)
	}},
	{name: "delta_block", note: "DELTA_BINARY_PACKED in blocks of 0 values", parts: func(p *parts) {
		p.rewrite(3, 0, func(values []byte) { copy(values, []byte{0x80, 0x00}) })
	}},
	{name: "delta_prefix", note: "DELTA_BYTE_ARRAY whose prefixes cannot be", parts: func(p *parts) {
		p.rewrite(2, 0, func(values []byte) { values[5] |= 0x0E })
	}},
	{name: "bomb_promised", note: "a page of some kilobytes that promises 2 GB", parts: func(p *parts) { p.page(1, 0).header.UncompressedPageSize = 1<<31 - 1 }},
	{name: "bomb", note: "32 MiB of zeros in some bytes, within what readers take", parts: (*parts).bomb},
	{name: "no_text", note: "strings that are not UTF-8", parts: func(p *parts) {
		c := &p.groups[0][0]
		body, _ := c.unpack(&c.pages[0])
		body[4] = 0xC3
		c.pack(&c.pages[0], body)
	}},
}

// forgetIndexes takes from the footer what says more of pages than is kept right.
func (p *parts) forgetIndexes() {
	for g := range p.meta.RowGroups {
		for i := range p.meta.RowGroups[g].Columns {
			c := &p.meta.RowGroups[g].Columns[i]
			c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = 0, 0, 0, 0
			c.MetaData.BloomFilterOffset, c.MetaData.BloomFilterLength = 0, 0
		}
	}
}

func footerLength(file []byte, n uint32) []byte {
	binary.LittleEndian.PutUint32(file[len(file)-8:], n)
	return file
}

func (p *parts) claimRows(n int64) { p.meta.NumRows, p.meta.RowGroups[0].NumRows = n, n }

func (p *parts) column(i int) *format.ColumnMetaData { return &p.meta.RowGroups[0].Columns[i].MetaData }

func (p *parts) page(column, n int) *page { return &p.groups[0][column].pages[n] }

// rewrite changes the values of a v1 page, behind its definition levels.
func (p *parts) rewrite(column, n int, change func(values []byte)) {
	c := &p.groups[0][column]
	body, _ := c.unpack(&c.pages[n])
	change(body[4+binary.LittleEndian.Uint32(body):])
	c.pack(&c.pages[n], body)
}

// shortenDictionary leaves the first three values.
func (p *parts) shortenDictionary() {
	c := &p.groups[0][0]
	body, _ := c.unpack(&c.pages[0])
	at := 0
	for range 3 {
		at += 4 + int(binary.LittleEndian.Uint32(body[at:]))
	}
	c.pack(&c.pages[0], body[:at])
	c.pages[0].header.DictionaryPageHeader.V.NumValues = 3
}

// bomb makes the file one page of zeros: of 4 Mi DOUBLEs.
func (p *parts) bomb() {
	const rows = 4 << 20
	c := p.groups[0][1]
	present := binary.AppendUvarint(nil, rows<<1) // one run of the level 1
	present = append(present, 1)
	body := binary.LittleEndian.AppendUint32(nil, uint32(len(present)))
	body = append(append(body, present...), make([]byte, 8*rows)...)
	g := &p.meta.RowGroups[0]
	g.Columns = g.Columns[1:2]
	p.meta.Schema = append(p.meta.Schema[:1:1], p.meta.Schema[2])
	p.meta.Schema[0].NumChildren.V = 1
	p.claimRows(rows)
	m := &g.Columns[0].MetaData
	m.Codec, m.NumValues, m.TotalUncompressedSize = format.Zstd, rows, int64(len(body))
	m.Statistics = format.Statistics{}
	c.codec, c.pages = &m.Codec, c.pages[:1]
	c.pages[0].header.DataPageHeader.V.NumValues = rows
	c.pages[0].header.DataPageHeader.V.Statistics = format.Statistics{}
	c.pack(&c.pages[0], body)
	p.groups[0] = []chunk{c}
}
