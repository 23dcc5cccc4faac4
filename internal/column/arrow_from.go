package column

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/float16"
)

const millisPerDay = 24 * 60 * 60 * 1000

// FromArrow sets v to a copy of the values of arr, of the type that
// FromArrowType gives (a caller that knows from the field that they are
// UUIDs sets v.Type after). The slices of v are used again, so v holds its
// values until the next call; arr may be released at once. A dictionary
// array becomes codes of a new Dict.
//
// The error wraps ErrNoArrowType, or says that arr breaks the rules of its
// type: a code outside its dictionary, a decimal beyond its precision. A
// NULL in a list is an error too, since no vector holds one.
func FromArrow(arr arrow.Array, v *Vector) error { return fromArrow(arr, v, copyData, nil) }

// ViewArrow is FromArrow, but the strings of v, and those of its lists, stay in the memory of
// arr, which must outlive v. Nothing may be read behind their ends. A vector set by one of the
// two functions must not be set by the other.
func ViewArrow(arr arrow.Array, v *Vector) error { return fromArrow(arr, v, viewData, nil) }

// fromArrow is FromArrow with a function data, which copies the bytes of strings or not. A row is
// NULL where one of the structs above is.
func fromArrow(arr arrow.Array, v *Vector, data dataOf, above []*array.Struct) error {
	arr = storage(arr)
	t, err := FromArrowType(arr.DataType())
	if err != nil {
		return err
	}
	*v = Vector{
		Type: t, Len: arr.Len(), Null: nullAbove(nulls(arr, v.Null), arr.Len(), above),
		Codes: v.Codes[:0], Int: v.Int[:0], Float: v.Float[:0], Wide: v.Wide[:0], Span: v.Span[:0], Data: v.Data[:0],
		Elem: v.Elem, Counts: v.Counts[:0],
	}
	if t.IsNested() {
		return listFromArrow(arr, v, data)
	}
	if v.Len == 0 || t.Kind == Null {
		return nil
	}
	if d, ok := arr.(*array.Dictionary); ok {
		return fromDictionary(d, v)
	}
	switch t.Rep() {
	case RepFloat64:
		v.Float = floatsOf(arr, v.Float)
	case RepBytes:
		v.Span, v.Data, err = spansOf(arr, v.Span, v.Data, data)
	case RepWide:
		v.Wide = wideOf(arr, v.Wide)
	case RepInt64:
		if t.Kind == Decimal {
			err = smallDecimals(arr, v)
		} else {
			v.Int = intsOf(arr, v.Int)
		}
	}
	return err
}

// nulls unpacks the validity bitmap of arr; nil if no row is NULL.
func nulls(arr arrow.Array, null []bool) []bool {
	n := arr.Len()
	if arr.DataType().ID() == arrow.NULL {
		null = sized(null, n)
		for i := range null {
			null[i] = true
		}
		return null
	}
	if arr.NullN() == 0 {
		return nil
	}
	null = sized(null, n)
	bitmap, offset := arr.NullBitmapBytes(), arr.Data().Offset()
	for i := range null {
		null[i] = bitutil.BitIsNotSet(bitmap, offset+i)
	}
	return null
}

// values returns the value buffer of arr as a slice of its rows. Without rows there may be no
// buffer: Arrow's IPC reader gives none to the counts of maps that are all NULL.
func values[T arrow.FixedWidthType](arr arrow.Array) []T {
	d := arr.Data()
	if d.Len() == 0 {
		return nil
	}
	return arrow.GetData[T](d.Buffers()[1].Bytes())[d.Offset():][:d.Len()]
}

func widen[T arrow.IntType | arrow.UintType](dst []int64, src []T) []int64 {
	dst = sized(dst, len(src))
	for i, x := range src {
		dst[i] = int64(x)
	}
	return dst
}

func intsOf(arr arrow.Array, dst []int64) []int64 {
	switch arr.DataType().ID() {
	case arrow.BOOL:
		return bits01(arr, dst)
	case arrow.INT8:
		return widen(dst, values[int8](arr))
	case arrow.UINT8:
		return widen(dst, values[uint8](arr))
	case arrow.INT16:
		return widen(dst, values[int16](arr))
	case arrow.UINT16:
		return widen(dst, values[uint16](arr))
	case arrow.UINT32:
		return widen(dst, values[uint32](arr))
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		return widen(dst, values[int32](arr))
	case arrow.DATE64:
		dst = widen(dst, values[int64](arr))
		for i, ms := range dst {
			dst[i] = floorDiv(ms, millisPerDay)
		}
		return dst
	}
	return widen(dst, values[int64](arr))
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func bits01(arr arrow.Array, dst []int64) []int64 {
	dst = sized(dst, arr.Len())
	bitmap, offset := arr.Data().Buffers()[1].Bytes(), arr.Data().Offset()
	for i := range dst {
		dst[i] = int64(bitmap[(offset+i)>>3]>>((offset+i)&7)) & 1
	}
	return dst
}

func floatsOf(arr arrow.Array, dst []float64) []float64 {
	dst = sized(dst, arr.Len())
	switch arr.DataType().ID() {
	case arrow.FLOAT16:
		for i, x := range values[float16.Num](arr) {
			dst[i] = float64(x.Float32())
		}
	case arrow.FLOAT32:
		for i, x := range values[float32](arr) {
			dst[i] = float64(x)
		}
	default:
		copy(dst, values[float64](arr))
	}
	return dst
}

func wideOf(arr arrow.Array, dst []decimal256.Num) []decimal256.Num {
	dst = sized(dst, arr.Len())
	switch arr.DataType().ID() {
	case arrow.DECIMAL256:
		copy(dst, values[decimal256.Num](arr))
		return dst
	case arrow.INTERVAL_MONTH_DAY_NANO:
		for i, x := range values[arrow.MonthDayNanoInterval](arr) {
			dst[i] = NewInterval(x.Months, x.Days, x.Nanoseconds/1000)
		}
		return dst
	}
	for i, x := range values[decimal128.Num](arr) {
		dst[i] = decimal256.FromDecimal128(x)
	}
	return dst
}

// smallDecimals reads decimals of at most MaxInt64Digits digits. The 16 or 32 bytes can hold a
// larger number, so each one is checked.
func smallDecimals(arr arrow.Array, v *Vector) error {
	v.Int = sized(v.Int, arr.Len())
	if arr.DataType().ID() == arrow.DECIMAL256 {
		for i, x := range values[decimal256.Num](arr) {
			w := x.Array()
			sign := uint64(int64(w[0]) >> 63)
			v.Int[i] = int64(w[0])
			if (w[1] != sign || w[2] != sign || w[3] != sign) && !v.IsNull(i) {
				return beyondPrecision(arr.DataType(), i)
			}
		}
		return nil
	}
	for i, x := range values[decimal128.Num](arr) {
		v.Int[i] = int64(x.LowBits())
		if x.HighBits() != v.Int[i]>>63 && !v.IsNull(i) {
			return beyondPrecision(arr.DataType(), i)
		}
	}
	return nil
}

// checkDigits finds a decimal that its type does not hold: expressions and
// sums rely on there being none.
func checkDigits(v *Vector) error {
	if v.Dict != nil {
		return checkDigits(&v.Dict.Values)
	}
	most := decimal256.GetMaxValue(int32(v.Type.Precision))
	if v.Type.Rep() == RepInt64 {
		limit := int64(most.LowBits())
		for i, x := range v.Int {
			if (x > limit || x < -limit) && !v.IsNull(i) {
				return beyondPrecision(v.Type, i)
			}
		}
		return nil
	}
	least := most.Negate()
	for i, x := range v.Wide {
		if (most.Less(x) || x.Less(least)) && !v.IsNull(i) {
			return beyondPrecision(v.Type, i)
		}
	}
	return nil
}

func beyondPrecision(t fmt.Stringer, i int) error {
	return fmt.Errorf("arrow array: the value in row %d does not fit in its type %s", i, t)
}

func spansOf(arr arrow.Array, spans []Span, data []byte, of dataOf) ([]Span, []byte, error) {
	spans = sized(spans, arr.Len())
	d := arr.Data()
	switch dt := arr.DataType().(type) {
	case *arrow.FixedSizeBinaryType:
		w := dt.ByteWidth
		data, err := of(data, d.Buffers()[1].Bytes()[d.Offset()*w:][:d.Len()*w])
		for i := range spans {
			spans[i] = Span{Off: uint32(i * w), Len: uint32(w)}
		}
		return spans, data, err
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return offsetSpans[int64](d, spans, data, of)
	}
	return offsetSpans[int32](d, spans, data, of)
}

func offsetSpans[T int32 | int64](d arrow.ArrayData, spans []Span, data []byte, of dataOf) ([]Span, []byte, error) {
	offsets := arrow.GetData[T](d.Buffers()[1].Bytes())[d.Offset():][:d.Len()+1]
	first, last := offsets[0], offsets[d.Len()]
	var all []byte
	if d.Buffers()[2] != nil {
		all = d.Buffers()[2].Bytes()
	}
	if first < 0 || last < first || int64(last) > int64(len(all)) {
		return spans, data, fmt.Errorf("arrow array: offsets %d..%d outside %d bytes of data", first, last, len(all))
	}
	data, err := of(data, all[first:last])
	if err != nil {
		return spans, data, err
	}
	for i := range spans {
		from, to := offsets[i]-first, offsets[i+1]-first
		if from < 0 || to < from || to > last-first {
			return spans, data, fmt.Errorf("arrow array: offset of row %d is not in order", i)
		}
		spans[i] = Span{Off: uint32(from), Len: uint32(to - from)}
	}
	return spans, data, nil
}

// dataOf makes the Data of a vector of src; dst is what it had before.
type dataOf func(dst, src []byte) ([]byte, error)

func viewData(dst, src []byte) ([]byte, error) {
	if len(src) > math.MaxUint32 {
		return dst, errTooMuchData(len(src))
	}
	return src[:len(src):len(src)], nil
}

func errTooMuchData(n int) error {
	return fmt.Errorf("arrow array: %d bytes in one array; the limit is 4 GiB", n)
}

// copyData copies src to dst, with the padding that spans need.
func copyData(dst, src []byte) ([]byte, error) {
	if len(src) > math.MaxUint32 {
		return dst, errTooMuchData(len(src))
	}
	if cap(dst) < len(src)+SpanPadding {
		dst = make([]byte, 0, len(src)+SpanPadding)
	}
	return append(dst[:0], src...), nil
}

// fromDictionary turns indices into codes. Where the dictionary holds a NULL,
// the rows that point at it become NULL, since a Dict has none.
func fromDictionary(arr *array.Dictionary, v *Vector) error {
	dict := &Dict{}
	if err := FromArrow(arr.Dictionary(), &dict.Values); err != nil {
		return err
	}
	entryNull, entries := dict.Values.Null, dict.Len()
	dict.Values.Null = nil
	if entries == 0 {
		dict.Values = oneEntry(dict.Values.Type)
	}
	v.Int = intsOf(arr.Indices(), v.Int)
	v.Codes, v.Dict = sized(v.Codes, v.Len), dict
	for i, x := range v.Int {
		v.Codes[i] = 0
		switch {
		case v.IsNull(i):
		case x < 0 || x >= int64(entries):
			return fmt.Errorf("arrow array: code %d of row %d is outside its dictionary of %d entries", x, i, entries)
		case entryNull != nil && entryNull[x]:
			if v.Null == nil {
				v.Null = make([]bool, v.Len)
			}
			v.Null[i] = true
		default:
			v.Codes[i] = int32(x)
		}
	}
	v.Int = v.Int[:0]
	return nil
}

// oneEntry returns a flat vector of one zero or empty value, for dictionaries
// that have no entry because every row is NULL.
func oneEntry(t Type) Vector {
	v := Vector{Type: t, Len: 1}
	switch t.Rep() {
	case RepInt64:
		v.Int = make([]int64, 1)
	case RepFloat64:
		v.Float = make([]float64, 1)
	case RepWide:
		v.Wide = make([]decimal256.Num, 1)
	case RepBytes:
		v.Data = make([]byte, t.Width, int(t.Width)+SpanPadding)
		if t.Kind == UUID {
			v.Data = make([]byte, 16, 16+SpanPadding)
		}
		v.Span = []Span{{Len: uint32(len(v.Data))}}
	}
	return v
}
