package column

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// ErrTooLarge is wrapped by errors about values that are more than one Arrow
// array can hold, whose offsets have 32 bits.
var ErrTooLarge = errors.New("too large for an Arrow array")

// ToArrow copies a flat or dictionary-coded vector to a plain Arrow array of
// type ArrowType(v.Type); the caller releases it. Slots of NULL rows are
// zero or empty, so that equal columns give equal bytes. The error says that
// the strings of one array pass 2 GiB, or the elements of its lists 2^31
// (callers cut batches of rows, so only huge values get there; it wraps
// [ErrTooLarge]), or that a value has not the width of its type.
func ToArrow(v *Vector, mem memory.Allocator) (arrow.Array, error) {
	n := v.Len
	switch {
	case v.Type.IsNested():
		return listToArrow(v, mem)
	case v.Type.Kind == Null || v.Type.Kind == Invalid:
		return array.NewNull(n), nil
	}
	validity, nulls := validityBitmap(v.Null, n, mem)
	buffers := []*memory.Buffer{validity}
	var err error
	if v.Type.Rep() == RepBytes {
		var more []*memory.Buffer
		more, err = byteBuffers(v, mem)
		buffers = append(buffers, more...)
	} else {
		buffers = append(buffers, wordBuffer(v, mem))
	}
	defer func() {
		for _, b := range buffers {
			if b != nil {
				b.Release()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	data := array.NewData(ArrowType(v.Type), n, buffers, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// wordBuffer makes the value buffer of the types whose values have a fixed
// size in words.
func wordBuffer(v *Vector, mem memory.Allocator) *memory.Buffer {
	switch v.Type.Kind {
	case Bool:
		return boolBuffer(v, mem)
	case Int8, Uint8:
		return intBuffer[uint8](v, mem)
	case Int16, Uint16:
		return intBuffer[uint16](v, mem)
	case Int32, Uint32, Date:
		return intBuffer[uint32](v, mem)
	case Time:
		if v.Type.Unit <= Milli {
			return intBuffer[uint32](v, mem)
		}
	case Float16:
		return fill(v, v.Float, dictFloats(v), mem, func(f float64) float16.Num { return float16.New(float32(f)) })
	case Float32:
		return fill(v, v.Float, dictFloats(v), mem, func(f float64) float32 { return float32(f) })
	case Float64:
		return copyWords(v, v.Float, dictFloats(v), mem)
	case Decimal, Interval:
		return decimalBuffer(v, mem)
	}
	return copyWords(v, v.Int, dictInts(v), mem)
}

func dictInts(v *Vector) []int64 {
	if v.Dict == nil {
		return nil
	}
	return v.Dict.Values.Int
}

func dictFloats(v *Vector) []float64 {
	if v.Dict == nil {
		return nil
	}
	return v.Dict.Values.Float
}

func decimalBuffer(v *Vector, mem memory.Allocator) *memory.Buffer {
	if v.Type.Rep() == RepInt64 {
		return fill(v, v.Int, dictInts(v), mem, decimal128.FromI64)
	}
	var dict []decimal256.Num
	if v.Dict != nil {
		dict = v.Dict.Values.Wide
	}
	if v.Type.Kind == Interval {
		return fill(v, v.Wide, dict, mem, func(d decimal256.Num) arrow.MonthDayNanoInterval {
			months, days, micros := SplitInterval(d)
			return arrow.MonthDayNanoInterval{Months: months, Days: days, Nanoseconds: micros * 1000}
		})
	}
	if v.Type.Precision > decimal128.MaxPrecision {
		return fill(v, v.Wide, dict, mem, func(d decimal256.Num) decimal256.Num { return d })
	}
	return fill(v, v.Wide, dict, mem, func(d decimal256.Num) decimal128.Num {
		w := d.Array()
		return decimal128.New(int64(w[1]), w[0])
	})
}

// fill makes a buffer of convert(x) of every row, where x comes from flat or,
// for a dictionary-coded vector, from dict.
func fill[S any, T arrow.FixedWidthType](v *Vector, flat, dict []S, mem memory.Allocator, convert func(S) T) *memory.Buffer {
	buf, dst := newBuffer[T](v.Len, mem)
	if v.Dict != nil {
		for i, c := range v.Codes[:len(dst)] {
			dst[i] = convert(dict[c])
		}
	} else {
		for i, x := range flat[:len(dst)] {
			dst[i] = convert(x)
		}
	}
	clearNulls(dst, v.Null)
	return buf
}

// copyWords is fill for values that stay as they are.
func copyWords[T int64 | float64](v *Vector, flat, dict []T, mem memory.Allocator) *memory.Buffer {
	if v.Dict == nil && v.Null == nil {
		if buf := taken(flat[:v.Len], mem); buf != nil {
			return buf
		}
	}
	buf, dst := newBuffer[T](v.Len, mem)
	if v.Dict != nil {
		for i, c := range v.Codes[:len(dst)] {
			dst[i] = dict[c]
		}
	} else {
		copy(dst, flat[:len(dst)])
	}
	clearNulls(dst, v.Null)
	return buf
}

// taken returns the values as a buffer without a copy, if the allocator owns their memory (see
// LargeRow). nil: they need a copy.
func taken[T any](values []T, mem memory.Allocator) *memory.Buffer {
	l, ok := mem.(*LargeRow)
	if !ok || len(values) == 0 {
		return nil
	}
	return l.bufferOf(bytesOf(values))
}

func bytesOf[T any](values []T) []byte {
	if cap(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(*new(T))))
}

// intBuffer is fill for small integers, written out because an inlined
// conversion was measured twice as fast as a call of one.
func intBuffer[T uint8 | uint16 | uint32](v *Vector, mem memory.Allocator) *memory.Buffer {
	buf, dst := newBuffer[T](v.Len, mem)
	if v.Dict != nil {
		src := v.Dict.Values.Int
		for i, c := range v.Codes[:len(dst)] {
			dst[i] = T(src[c])
		}
	} else {
		for i, x := range v.Int[:len(dst)] {
			dst[i] = T(x)
		}
	}
	clearNulls(dst, v.Null)
	return buf
}

func newBuffer[T arrow.FixedWidthType](n int, mem memory.Allocator) (*memory.Buffer, []T) {
	buf := memory.NewResizableBuffer(mem)
	buf.Resize(n * int(unsafe.Sizeof(*new(T))))
	return buf, arrow.GetData[T](buf.Bytes())
}

func clearNulls[T any](dst []T, null []bool) {
	if null == nil {
		return
	}
	var zero T
	for i, isNull := range null[:len(dst)] {
		if isNull {
			dst[i] = zero
		}
	}
}

func boolBuffer(v *Vector, mem memory.Allocator) *memory.Buffer {
	buf, dst := newBuffer[uint8]((v.Len+7)/8, mem)
	clear(dst)
	for i := range v.Len {
		var x int64
		if v.Dict != nil {
			x = v.Dict.Values.Int[v.Codes[i]]
		} else {
			x = v.Int[i]
		}
		if x != 0 && !v.IsNull(i) {
			dst[i>>3] |= 1 << (i & 7)
		}
	}
	return buf
}

// gatherBits is the factor that moves the lowest bits of the eight bytes of a
// word, first byte lowest, into its top byte.
const gatherBits = 0x0102040810204080

// validityBitmap turns null into an Arrow bitmap, eight rows a step, and
// counts the NULLs; no bitmap if there are none.
func validityBitmap(null []bool, n int, mem memory.Allocator) (*memory.Buffer, int) {
	if null == nil {
		return nil, 0
	}
	buf, dst := newBuffer[uint8]((n+7)/8, mem)
	// a bool is the byte 0 or 1
	rows := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(null))), n)
	nulls := 0
	for b := range dst {
		var eight [8]byte
		if len(rows) >= 8 {
			eight, rows = [8]byte(rows), rows[8:]
		} else {
			copy(eight[:], rows)
		}
		isNull := byte(binary.LittleEndian.Uint64(eight[:]) * gatherBits >> 56)
		nulls += bits.OnesCount8(isNull)
		dst[b] = ^isNull
	}
	if n%8 != 0 {
		dst[len(dst)-1] &= 1<<(n%8) - 1
	}
	if nulls == 0 {
		buf.Release()
		return nil, 0
	}
	return buf, nulls
}

// byteBuffers makes the offset and data buffers of strings and binaries, or
// the one data buffer of values of a fixed width.
func byteBuffers(v *Vector, mem memory.Allocator) ([]*memory.Buffer, error) {
	spans, src := v.Span, v.Data
	if v.Dict != nil {
		spans, src = v.Dict.Values.Span, v.Dict.Values.Data
	}
	if v.Type.Kind == UUID {
		return fixedBuffer(v, spans, src, 16, mem)
	}
	if v.Type.Kind == FixedBinary {
		return fixedBuffer(v, spans, src, int(v.Type.Width), mem)
	}
	offsetBuf, offsets := newBuffer[int32](v.Len+1, mem)
	total, short := placeSpans(offsets, v, spans, src)
	if total > math.MaxInt32 {
		offsetBuf.Release()
		return nil, fmt.Errorf("%w: %d bytes of text in %d rows, and one array holds 2 GiB", ErrTooLarge, total, v.Len)
	}
	if _, large := mem.(*LargeRow); large && v.Dict == nil && v.Null == nil && endToEnd(spans[:v.Len], offsets) {
		if buf := taken(src[:total], mem); buf != nil {
			return []*memory.Buffer{offsetBuf, buf}, nil
		}
	}
	dataBuf := memory.NewResizableBuffer(mem)
	dataBuf.Reserve(total + SpanPadding)
	dataBuf.ResizeNoShrink(total)
	if short {
		copyShort(dataBuf.Buf(), src, spans[:v.Len])
	} else {
		copySpans(dataBuf.Buf(), offsets, v, spans, src)
	}
	return []*memory.Buffer{offsetBuf, dataBuf}, nil
}

// placeSpans sets offsets to where the values lie when they are laid end to
// end, and returns the bytes of all. Offsets mean nothing if those do not fit
// 31 bits. short: copyShort may copy them.
func placeSpans(offsets []int32, v *Vector, spans []Span, src []byte) (total int, short bool) {
	offsets[0] = 0
	if v.Null == nil && v.Dict == nil {
		offsets := offsets[1:]
		last, longest := uint32(0), uint32(0)
		for i, s := range spans[:len(offsets)] {
			total += int(s.Len)
			offsets[i] = int32(total)
			last, longest = max(last, s.Off), max(longest, s.Len)
		}
		return total, longest <= SpanPadding && int(last)+SpanPadding <= cap(src)
	}
	for i := range v.Len {
		if !v.IsNull(i) {
			total += int(spans[v.entry(i)].Len)
		}
		offsets[i+1] = int32(total)
	}
	return total, false
}

// endToEnd reports whether the values already lie at the offsets.
func endToEnd(spans []Span, offsets []int32) bool {
	for i, s := range spans {
		if s.Off != uint32(offsets[i]) {
			return false
		}
	}
	return true
}

// copyShort copies values end to end, each as one 16-byte word. It goes forward, because each word
// overwrites the bytes behind its value. dst has SpanPadding bytes to spare.
func copyShort(dst, src []byte, spans []Span) {
	type bytes = [SpanPadding]byte
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	for _, s := range spans {
		*(*bytes)(to) = *(*bytes)(unsafe.Add(from, s.Off))
		to = unsafe.Add(to, s.Len)
	}
}

// entry is where row i has its value: in v, or in its Dict.
func (v *Vector) entry(i int) int {
	if v.Dict != nil {
		return int(v.Codes[i])
	}
	return i
}

// copySpans lays the values in dst, at the offsets. dst has SpanPadding bytes to spare. Where the
// source has them too, short values move as one 16-byte word, as in copyShort: a call of copy
// costs more than copying the bytes.
func copySpans(dst []byte, offsets []int32, v *Vector, spans []Span, src []byte) {
	src = src[:cap(src)]
	if v.Null == nil && v.Dict == nil {
		for i, s := range spans[:v.Len] {
			copySpan(dst[offsets[i]:], src, s)
		}
		return
	}
	for i := range v.Len {
		if !v.IsNull(i) {
			copySpan(dst[offsets[i]:], src, spans[v.entry(i)])
		}
	}
}

func copySpan(dst, src []byte, s Span) {
	if s.Len <= SpanPadding && int(s.Off)+SpanPadding <= len(src) {
		*(*[SpanPadding]byte)(dst) = [SpanPadding]byte(src[s.Off:])
	} else {
		copy(dst, src[s.Off:][:s.Len])
	}
}

func fixedBuffer(v *Vector, spans []Span, src []byte, width int, mem memory.Allocator) ([]*memory.Buffer, error) {
	buf, dst := newBuffer[uint8](v.Len*width, mem)
	clear(dst)
	for i := range v.Len {
		if v.IsNull(i) {
			continue
		}
		s := spans[v.entry(i)]
		if int(s.Len) != width {
			buf.Release()
			return nil, fmt.Errorf("value of %d bytes in a column of type %s", s.Len, v.Type)
		}
		copy(dst[i*width:], src[s.Off:][:s.Len])
	}
	return []*memory.Buffer{buf}, nil
}
