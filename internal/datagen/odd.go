package datagen

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/gagg-dev/gagg/internal/column"
)

// File is a Parquet file made for a corpus of test files.
type File struct {
	Name, Note string
	Data       []byte
}

// Odd returns good files of what neither a Table holds nor other writers write today.
func Odd() ([]File, error) {
	files := []File{
		{Name: "int96", Note: "timestamps as INT96, before 1970 too"},
		{Name: "decimals", Note: "one decimal as INT32, INT64, FIXED_LEN_BYTE_ARRAY and BYTE_ARRAY of the fewest bytes"},
		{Name: "annotated", Note: "ENUM, UTF8, BYTE_ARRAY without an annotation, BOOLEAN in RLE"},
		{Name: "names_by_case", Note: "names that differ in upper and lower case alone"},
		{Name: "same_names", Note: "two columns of one name"},
	}
	for i, make := range []func() []oddColumn{int96Columns, decimalColumns, annotatedColumns, namesByCase, sameNames} {
		data, err := writeOdd(make())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files[i].Name, err)
		}
		files[i].Data = data
	}
	empty, err := emptyGroups()
	return append(files, File{"empty_groups", "row groups without rows between others", empty}), err
}

// oddColumn is an optional column and its rows; nil is NULL.
type oddColumn struct {
	name   string
	node   parquet.Node
	values []any
}

func writeOdd(columns []oddColumn) ([]byte, error) {
	var root orderedGroup
	for _, c := range columns {
		root.fields = append(root.fields, orderedField{parquet.Optional(c.node), c.name})
	}
	var out bytes.Buffer
	file := parquet.NewGenericWriter[any](&out, parquet.NewSchema("odd", root), parquet.Compression(&parquet.Snappy))
	err := writeRowGroups(file, 1, 1, func(_ int, writers []*parquet.ColumnWriter) error {
		for c, w := range writers {
			var values []parquet.Value
			for _, v := range columns[c].values {
				values = append(values, oddValue(v, c))
			}
			if _, err := w.WriteRowValues(values); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = file.Close()
	return out.Bytes(), err
}

func oddValue(v any, c int) parquet.Value {
	switch v := v.(type) {
	case nil:
		return parquet.NullValue().Level(0, 0, c)
	case deprecated.Int96:
		return parquet.Int96Value(v).Level(0, 1, c)
	case fixed:
		return parquet.FixedLenByteArrayValue([]byte(v)).Level(0, 1, c)
	}
	return parquet.ValueOf(v).Level(0, 1, c)
}

// fixed is bytes of FIXED_LEN_BYTE_ARRAY.
type fixed string

func int96Columns() []oddColumn {
	const unixDay = 2440588 // Julian
	var keys, stamps []any
	for i := range 60 {
		keys = append(keys, int32(i%7))
		if i%11 == 3 {
			stamps = append(stamps, nil)
			continue
		}
		nanos := uint64(i) * 1_440_000_001_000
		stamps = append(stamps, deprecated.Int96{uint32(nanos), uint32(nanos >> 32), uint32(unixDay - 30000 + 1500*(i/2))})
	}
	return []oddColumn{
		{"k", parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked), keys},
		{"stamp", parquet.Leaf(parquet.Int96Type), stamps},
		{"coded", parquet.Encoded(parquet.Leaf(parquet.Int96Type), &parquet.RLEDictionary), stamps},
	}
}

func decimalColumns() []oddColumn {
	columns := []oddColumn{
		{"k", parquet.Int(32), nil},
		{"small", parquet.Decimal(2, 9, parquet.Int32Type), nil},
		{"middle", parquet.Decimal(2, 18, parquet.Int64Type), nil},
		{"few", parquet.Decimal(2, 9, parquet.FixedLenByteArrayType(5)), nil},
		{"wide", parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16)), nil},
		{"bytes", parquet.Encoded(parquet.Decimal(2, 9, parquet.ByteArrayType), &parquet.Plain), nil},
		{"wide_bytes", parquet.Encoded(parquet.Decimal(2, 38, parquet.ByteArrayType), &parquet.RLEDictionary), nil},
	}
	for i := range 80 {
		n := int64(i*i*i)*1000 - 9_999_999
		row := []any{int32(i % 5), int32(n), n, fixed(twos(n, 5)), fixed(twos(n, 16)), shortest(n), shortest(n)}
		for c := range columns {
			if c > 0 && i%13 == c {
				row[c] = nil
			}
			columns[c].values = append(columns[c].values, row[c])
		}
	}
	return columns
}

// twos is the two's complement of n in width bytes, the highest first.
func twos(n int64, width int) []byte {
	return bigEndian(column.Value{Wide: decimal256.FromI64(n)}, width)
}

// shortest is the two's complement in no more bytes than are needed.
func shortest(n int64) []byte {
	width := 1
	for bits.Len64(uint64(max(n, -n-1))) >= 8*width {
		width++
	}
	return twos(n, width)
}

func annotatedColumns() []oddColumn {
	columns := []oddColumn{
		{"enum", parquet.Enum(), nil},
		{"text", parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray), nil},
		{"bytes", parquet.Leaf(parquet.ByteArrayType), nil},
		{"flag", parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.RLE), nil},
	}
	for i := range 50 {
		columns[0].values = append(columns[0].values, []byte([]string{"red", "green", "blue"}[i%3]))
		columns[1].values = append(columns[1].values, []byte(fmt.Sprintf("text %d", i%10)))
		columns[2].values = append(columns[2].values, []byte{byte(i % 4), 0, 0xFF})
		columns[3].values = append(columns[3].values, i > 12 && i%9 != 0)
	}
	return columns
}

func namesByCase() []oddColumn {
	return []oddColumn{
		{"Key", parquet.Int(64), []any{int64(1), int64(2), int64(3)}},
		{"KEY", parquet.Int(64), []any{int64(10), int64(20), nil}},
		{"other", parquet.Int(64), []any{int64(5), int64(5), int64(6)}},
	}
}

func sameNames() []oddColumn {
	columns := namesByCase()
	columns[1].name = columns[0].name
	return columns
}

// emptyGroups is a file of row groups whose first, third and last have no rows, and so no pages.
func emptyGroups() ([]byte, error) {
	var out bytes.Buffer
	spec := Spec{Rows: 40, Seed: 5, Columns: []Column{
		{Name: "k", Type: column.Type{Kind: column.String}, Distinct: 6, Coded: true},
		{Name: "v", Type: column.Type{Kind: column.Int64}, Distinct: 30, Nulls: 0.2},
	}}
	if err := New(spec).WriteParquet(&out, Layout{RowGroup: 20, Codec: "snappy"}); err != nil {
		return nil, err
	}
	p, ok := takeApart(out.Bytes())
	if !ok {
		return nil, fmt.Errorf("the file cannot be taken apart")
	}
	p.forgetIndexes()
	full := p.meta.RowGroups
	p.meta.RowGroups = nil
	groups := p.groups
	p.groups = nil
	for i := range 5 {
		g := full[min(i/2, 1)]
		g.Columns = append(g.Columns[:0:0], g.Columns...)
		pages := make([]chunk, len(g.Columns))
		if i%2 == 1 {
			copy(pages, groups[i/2])
		} else {
			g.NumRows, g.TotalByteSize, g.TotalCompressedSize = 0, 0, 0
			for c := range g.Columns {
				m := &g.Columns[c].MetaData
				m.NumValues, m.TotalUncompressedSize = 0, 0
			}
		}
		p.meta.RowGroups = append(p.meta.RowGroups, g)
		p.groups = append(p.groups, pages)
	}
	for g := range p.groups {
		for c := range p.groups[g] {
			p.groups[g][c].codec = &p.meta.RowGroups[g].Columns[c].MetaData.Codec
		}
	}
	p.layOut()
	return p.file(), nil
}
