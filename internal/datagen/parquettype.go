package datagen

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"reflect"

	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// parquetNode is the leaf that holds t.
func parquetNode(t column.Type) (parquet.Node, error) {
	units := map[column.Unit]parquet.TimeUnit{column.Milli: parquet.Millisecond, column.Micro: parquet.Microsecond, column.Nano: parquet.Nanosecond}
	switch {
	case t.Kind == column.Bool:
		return parquet.Leaf(parquet.BooleanType), nil
	case t.IsSigned():
		return parquet.Int(t.Bits()), nil
	case t.IsUnsigned():
		return parquet.Uint(t.Bits()), nil
	case t.Kind == column.Float16:
		return parquet.Leaf(float16Type{parquet.FixedLenByteArrayType(2)}), nil
	case t.Kind == column.Float32:
		return parquet.Leaf(parquet.FloatType), nil
	case t.Kind == column.Float64:
		return parquet.Leaf(parquet.DoubleType), nil
	case t.Kind == column.Decimal:
		return parquet.Decimal(int(t.Scale), int(t.Precision), decimalStorage(t)), nil
	case t.Kind == column.Date:
		return parquet.Date(), nil
	case t.Kind == column.Time && t.Unit != column.Second:
		return parquet.TimeAdjusted(units[t.Unit], t.UTC), nil
	case t.Kind == column.Timestamp && t.Unit != column.Second:
		return parquet.TimestampAdjusted(units[t.Unit], t.UTC), nil
	case t.Kind == column.String:
		return parquet.String(), nil
	case t.Kind == column.Binary:
		return parquet.Leaf(parquet.ByteArrayType), nil
	case t.Kind == column.FixedBinary:
		return parquet.Leaf(parquet.FixedLenByteArrayType(int(t.Width))), nil
	case t.Kind == column.UUID:
		return parquet.UUID(), nil
	}
	return nil, fmt.Errorf("parquet has no type for %s", t)
}

// decimalStorage is the smallest physical type, as most writers choose.
func decimalStorage(t column.Type) parquet.Type {
	switch {
	case t.Precision <= 9:
		return parquet.Int32Type
	case t.Precision <= 18:
		return parquet.Int64Type
	}
	return parquet.FixedLenByteArrayType(wideBytes(t))
}

// wideBytes is how many bytes hold plus and minus 10^precision - 1.
func wideBytes(t column.Type) int {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
	return most.BitLen()/8 + 1 // one bit for the sign
}

// parquetValue returns the conversion of values of t to what parquetNode stores.
func parquetValue(t column.Type) func(column.Value) parquet.Value {
	switch {
	case t.Kind == column.Bool:
		return func(v column.Value) parquet.Value { return parquet.BooleanValue(v.Int != 0) }
	case t.Kind == column.Float16:
		return func(v column.Value) parquet.Value {
			bits := float16.New(float32(v.Float)).Uint16()
			return parquet.FixedLenByteArrayValue(binary.LittleEndian.AppendUint16(nil, bits))
		}
	case t.Kind == column.Float32:
		return func(v column.Value) parquet.Value { return parquet.FloatValue(float32(v.Float)) }
	case t.Kind == column.Float64:
		return func(v column.Value) parquet.Value { return parquet.DoubleValue(v.Float) }
	case t.Rep() == column.RepWide:
		width := wideBytes(t)
		return func(v column.Value) parquet.Value { return parquet.FixedLenByteArrayValue(bigEndian(v, width)) }
	case t.Kind == column.FixedBinary || t.Kind == column.UUID:
		return func(v column.Value) parquet.Value { return parquet.FixedLenByteArrayValue([]byte(v.Bytes)) }
	case t.Rep() == column.RepBytes:
		return func(v column.Value) parquet.Value { return parquet.ByteArrayValue([]byte(v.Bytes)) }
	case t.IsInteger() && t.Bits() <= 32, t.Kind == column.Date, t.Kind == column.Decimal && t.Precision <= 9,
		t.Kind == column.Time && t.Unit == column.Milli:
		return func(v column.Value) parquet.Value { return parquet.Int32Value(int32(v.Int)) }
	}
	return func(v column.Value) parquet.Value { return parquet.Int64Value(v.Int) }
}

// bigEndian is the two's complement of a wide decimal in width bytes.
func bigEndian(v column.Value, width int) []byte {
	n := v.Wide.BigInt()
	if n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*width)))
	}
	return n.FillBytes(make([]byte, width))
}

// float16Type is the logical type that parquet-go v0.32.0 knows of, but has no
// node for.
type float16Type struct{ parquet.Type }

func (float16Type) String() string { return "FLOAT16" }

func (float16Type) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// orderedGroup is the root of a schema with its columns in the order given;
// parquet.Group sorts them by name.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (g orderedGroup) Fields() []parquet.Field { return g.fields }

type orderedField struct {
	parquet.Node
	name string
}

func (f orderedField) Name() string { return f.name }

// Value is only called for Go structs.
func (f orderedField) Value(reflect.Value) reflect.Value { return reflect.Value{} }
