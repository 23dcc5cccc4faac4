package decode

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// source is a column of a test: what is in the file, and what the CPU makes of
// it.
type source struct {
	output kernels.ParquetOutput // physical type and rule
	vector column.Vector         // flat
	plain  func(i int) []byte    // value i in a PLAIN page
	inline int                   // key.Column.Inline
}

// ints is a column of integers, which lie in the file as they are.
func ints(kind column.Kind, physical uint8, values []int64) source {
	s := source{vector: column.Vector{Type: column.Type{Kind: kind}, Len: len(values), Int: values}}
	s.output = kernels.ParquetOutput{Physical: physical, Lo: math.MinInt64, Hi: math.MaxInt64, Factor: 1}
	s.plain = func(i int) []byte {
		if physical == kernels.ParquetInt32 {
			return binary.LittleEndian.AppendUint32(nil, uint32(values[i]))
		}
		return binary.LittleEndian.AppendUint64(nil, uint64(values[i]))
	}
	return s
}

// bools is a column of booleans. A PLAIN value has a byte here: encode makes bits of them.
func bools(values []int64) source {
	s := ints(column.Bool, kernels.ParquetBool, values)
	s.plain = func(i int) []byte { return []byte{byte(values[i])} }
	return s
}

// decimals is a column of integers stored in so many bytes, the highest first.
func decimals(values []int64, width int) source {
	s := ints(column.Int64, kernels.ParquetDecimal, values)
	s.output.Width = uint8(width)
	s.plain = func(i int) []byte {
		b := bytes.Repeat([]byte{byte(values[i] >> 63)}, 8)
		return binary.BigEndian.AppendUint64(b, uint64(values[i]))[16-width:]
	}
	return s
}

// wides is a column of decimals of more than 18 digits, stored in so many bytes.
func wides(values []int64, width int) source {
	s := decimals(values, width)
	s.vector = column.Vector{Type: column.DecimalType(38, 2), Len: len(values)}
	for _, v := range values {
		s.vector.Wide = append(s.vector.Wide, decimal256.FromI64(v))
	}
	return s
}

// binaries is a column of strings of so many bytes; of 16: UUIDs.
func binaries(values []string, width int) source {
	s := texts(values)
	s.vector.Type = column.Type{Kind: column.FixedBinary, Width: int32(width)}
	if width == 16 {
		s.vector.Type = column.Type{Kind: column.UUID}
	}
	s.output = kernels.ParquetOutput{Physical: kernels.ParquetBinary, Width: uint8(width)}
	s.plain = func(i int) []byte { return []byte(values[i]) }
	return s
}

// times is a column of INT96: microseconds since 1970.
func times(values []int64) source {
	s := ints(column.Int64, kernels.ParquetInt96, values)
	s.plain = func(i int) []byte {
		const day = 86400e6
		days := values[i] / day
		if values[i]%day < 0 {
			days--
		}
		b := binary.LittleEndian.AppendUint64(nil, uint64(values[i]-days*day)*1000+999)
		return binary.LittleEndian.AppendUint32(b, uint32(days+2440588))
	}
	return s
}

// floats is a column of floats of 32 or 64 bits.
func floats(kind column.Kind, physical uint8, values []float64) source {
	s := source{vector: column.Vector{Type: column.Type{Kind: kind}, Len: len(values), Float: values}}
	s.output = kernels.ParquetOutput{Physical: physical}
	s.plain = func(i int) []byte {
		if physical == kernels.ParquetFloat {
			return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(values[i])))
		}
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(values[i]))
	}
	return s
}

// texts is a column of strings.
func texts(values []string) source {
	s := source{vector: column.Vector{Type: column.Type{Kind: column.String}, Len: len(values)}}
	s.output = kernels.ParquetOutput{Physical: kernels.ParquetBytes}
	for _, v := range values {
		s.vector.Span = append(s.vector.Span, column.Span{Off: uint32(len(s.vector.Data)), Len: uint32(len(v))})
		s.vector.Data = append(s.vector.Data, v...)
	}
	s.vector.Data = append(s.vector.Data, make([]byte, column.SpanPadding)...)[:len(s.vector.Data)]
	s.plain = func(i int) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(values[i]))), values[i]...)
	}
	return s
}

// nullable makes rows of a column NULL, as drawn.
func nullable(s source, null []bool) source {
	s.vector.Null = null
	s.output.Nulls = 1
	return s
}

// isNull is which of the rows from ... to are NULL.
func (s *source) isNull(from, to int) []bool {
	if s.vector.Null == nil {
		return make([]bool, to-from)
	}
	return s.vector.Null[from:to]
}

// values is the PLAIN values of rows, and the codes of them.
func (s *source) values(from, to int, d dict) (plain []byte, codes []uint32) {
	for r := from; r < to; r++ {
		if s.vector.IsNull(r) {
			continue
		}
		plain = append(plain, s.plain(r)...)
		codes = append(codes, d.codes[string(s.plain(r))])
	}
	return plain, codes
}

// encodings is what a column's pages of values may have.
func (s *source) encodings() []uint8 {
	switch s.output.Physical {
	case kernels.ParquetBytes, kernels.ParquetBool:
		return []uint8{kernels.ParquetPlain}
	case kernels.ParquetInt32, kernels.ParquetInt64:
		return []uint8{kernels.ParquetPlain, kernels.ParquetSplit, kernels.ParquetDelta}
	}
	return []uint8{kernels.ParquetPlain, kernels.ParquetSplit}
}

func (s *source) drawEncoding(r *rand.Rand) uint8 {
	all := s.encodings()
	return all[r.IntN(len(all))]
}

// encode is PLAIN values in an encoding.
func (s *source) encode(r *rand.Rand, encoding uint8, plain []byte) []byte {
	size := sizeOf(&s.output)
	switch {
	case encoding == kernels.ParquetSplit:
		return split(plain, size)
	case encoding == kernels.ParquetDelta:
		var values []int64
		for ; len(plain) > 0; plain = plain[size:] {
			if size == 4 {
				values = append(values, int64(int32(binary.LittleEndian.Uint32(plain))))
			} else {
				values = append(values, int64(binary.LittleEndian.Uint64(plain)))
			}
		}
		return drawDeltas(r, values, size == 4)
	case s.output.Physical == kernels.ParquetBool:
		bits := make([]uint32, len(plain))
		for i, v := range plain {
			bits[i] = uint32(v)
		}
		return pack(bits, 1, (len(plain)+7)/8)
	}
	return plain
}

// split is values of so many bytes in BYTE_STREAM_SPLIT.
func split(plain []byte, width int) (b []byte) {
	for k := range width {
		for at := k; at < len(plain); at += width {
			b = append(b, plain[at])
		}
	}
	return b
}

// slice is rows of a flat vector.
func slice(v column.Vector, from, to int) column.Vector {
	v.Len = to - from
	if v.Null != nil {
		v.Null = v.Null[from:to]
	}
	switch {
	case v.Int != nil:
		v.Int = v.Int[from:to]
	case v.Float != nil:
		v.Float = v.Float[from:to]
	case v.Wide != nil:
		v.Wide = v.Wide[from:to]
	default:
		v.Span = v.Span[from:to]
	}
	return v
}

// gather is some rows of a flat vector.
func gather(v *column.Vector, rows []int) column.Vector {
	out := column.Vector{Type: v.Type, Len: len(rows), Data: v.Data}
	for _, r := range rows {
		switch {
		case v.Int != nil:
			out.Int = append(out.Int, v.Int[r])
		case v.Float != nil:
			out.Float = append(out.Float, v.Float[r])
		case v.Wide != nil:
			out.Wide = append(out.Wide, v.Wide[r])
		default:
			out.Span = append(out.Span, v.Span[r])
		}
	}
	return out
}

// dict is the dictionary of a unit: the row where each entry was first seen,
// and the code of each PLAIN value.
type dict struct {
	rows  []int
	codes map[string]uint32
}

func dictionary(s *source, from, to int) dict {
	d := dict{codes: map[string]uint32{}}
	for r := from; r < to; r++ {
		v := string(s.plain(r))
		if _, ok := d.codes[v]; !ok && !s.vector.IsNull(r) {
			d.codes[v] = uint32(len(d.rows))
			d.rows = append(d.rows, r)
		}
	}
	if len(d.rows) == 0 {
		d.rows = []int{0} // of a unit without values
	}
	return d
}
