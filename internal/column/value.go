package column

import "github.com/apache/arrow/go/v15/arrow/decimal256"

// Value is one value of any type: a literal, a bound from statistics, a
// constant column. Which of the fields counts follows from Type.Rep(). Two
// values of a scalar type are compared with ==; lists are not, as List is a
// pointer.
type Value struct {
	Type  Type
	Null  bool
	Int   int64
	Float float64
	Wide  decimal256.Num
	Bytes string
	List  *Vector // a list or map: a flat vector of one row, which holds it
}

// Bounds is what a file says about the values of a column in a row group or page. It is used to
// skip data, never to decide whether a value is NULL or whether there is one at all: real files
// are wrong about both.
type Bounds struct {
	Rows    int64 // rows in the row group
	Nulls   int64 // rows that are NULL; -1: not known
	HasMin  bool  // every non-NULL value is >= Min (NaN never counts)
	HasMax  bool  // every non-NULL value is <= Max
	Min     Value
	Max     Value
	MaybeIn func(Value) bool // bloom filter: false means no row holds the value; nil: none
}

// At returns row i of a flat or dictionary-coded vector as a Value. It copies bytes, so it is for
// single values and tests, not for loops over rows.
func (v *Vector) At(i int) Value {
	if v.IsNull(i) {
		return Value{Type: v.Type, Null: true}
	}
	if v.Dict != nil {
		d := v.Dict.Values.At(int(v.Codes[i]))
		d.Type = v.Type
		return d
	}
	out := Value{Type: v.Type}
	switch v.Type.Rep() {
	case RepInt64:
		out.Int = v.Int[i]
	case RepFloat64:
		out.Float = v.Float[i]
	case RepWide:
		if v.Narrow {
			out.Wide = decimal256.FromI64(v.Int[i])
		} else {
			out.Wide = v.Wide[i]
		}
	case RepBytes:
		out.Bytes = string(v.Bytes(i))
	case RepList:
		row := Concat([]Vector{Gather(v, []int32{int32(i)}, &Buffer{})})
		out.List = &row
	}
	return out
}

// Append adds a row to a flat vector of a scalar type. Of x it uses Null and the value of that
// type, also where x is NULL. It is for single values and tests, not for loops over rows.
func (v *Vector) Append(x Value) {
	if x.Null && v.Null == nil {
		v.Null = make([]bool, v.Len)
	}
	if v.Null != nil {
		v.Null = append(v.Null, x.Null)
	}
	v.Len++
	switch v.Type.Rep() {
	case RepInt64:
		v.Int = append(v.Int, x.Int)
	case RepFloat64:
		v.Float = append(v.Float, x.Float)
	case RepWide:
		v.Wide = append(v.Wide, x.Wide)
	case RepBytes:
		v.Span = append(v.Span, Span{Off: uint32(len(v.Data)), Len: uint32(len(x.Bytes))})
		v.Data = append(v.Data, x.Bytes...)
		v.pad()
	}
}
