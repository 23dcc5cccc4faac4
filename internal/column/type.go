// Package column holds the data that flows through gagg: typed vectors of
// values with NULLs and dictionary codes, cut into batches of rows.
//
// A logical [Type] (what the user sees: decimal(10,2), timestamp[us, UTC]) is
// stored in one of four representations ([Rep]), so that every loop of the
// engine exists at most four times; results have a fifth:
//
//	Rep      Go slice          logical kinds
//	Int64    []int64           bool, int8..int64, uint8..uint64 (bits), date,
//	                           time, timestamp, decimal of up to 18 digits
//	Float64  []float64         float16, float32, float64 (widening is exact)
//	Wide     []decimal256.Num  decimal of 19 to 76 digits, interval
//	Bytes    []Span + []byte   string, binary, fixed-size binary, UUID
//	List     []Span + *Vector  list and map, which aggregates give
//
// Nesting is a mark beside the kind ([Nest]): the kind of a list is that of
// its elements, the kind of a map that of its keys, so code that asks a type
// for its Kind alone first makes sure that it is no nested one. Elements are
// never nested and never NULL. Keys and arguments are always scalars.
//
// A vector is either flat or dictionary-coded. The codes of a
// dictionary-coded vector index a [Dict], whose identity (the pointer) lasts
// for a whole column chunk: a consumer translates the entries once per Dict
// and then works on codes. A constant column is a Dict of one entry.
//
// The trap: a slot whose row is NULL holds an unspecified, but harmless,
// value (a valid code, an in-range span). Look at Null before using it.
package column

import "fmt"

// Kind is the logical kind of a type.
type Kind uint8

const (
	Invalid Kind = iota
	Null         // the type of a literal NULL: every value is NULL
	Bool         // 0 or 1
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64 // the 64 bits, stored in an int64
	Float16
	Float32
	Float64
	Decimal     // unscaled value; Precision, Scale
	Date        // days since 1970-01-01
	Time        // Unit since midnight; UTC
	Timestamp   // Unit since 1970-01-01 00:00; UTC: an instant, else wall-clock time
	String      // UTF-8 by promise of the file; any bytes pass
	Binary      // any bytes
	FixedBinary // Width bytes
	UUID        // 16 bytes
	Interval    // months, days and microseconds, as NewInterval makes them
)

// Unit is the resolution of a time or timestamp.
type Unit uint8

const (
	Second Unit = iota
	Milli
	Micro
	Nano
)

// PerSecond is the number of units in a second.
func (u Unit) PerSecond() int64 {
	return [...]int64{1, 1e3, 1e6, 1e9}[u]
}

func (u Unit) String() string {
	return [...]string{"s", "ms", "us", "ns"}[u]
}

// Rep is how the values of a kind are stored.
type Rep uint8

const (
	RepInt64 Rep = iota
	RepFloat64
	RepWide
	RepBytes
	RepList
)

// MaxInt64Digits is the largest decimal precision stored in an int64.
const MaxInt64Digits = 18

// MaxDigits is the largest decimal precision there is.
const MaxDigits = 76

// Type is a logical type. The zero value is Invalid. Types are comparable
// with ==: fields that a kind does not use are zero.
type Type struct {
	Kind      Kind
	Unit      Unit  // Time, Timestamp
	UTC       bool  // Time, Timestamp
	Precision uint8 // Decimal: digits in all, 1..76; Interval: 76
	Scale     uint8 // Decimal: digits after the point, 0..Precision
	Width     int32 // FixedBinary: bytes
	Nest      Nest  // a list or map of what the other fields say
	Form      Form  // what strings are meant as
}

// Form is what the strings of a column of an input are meant as. The columns of schemas of inputs
// and results have it, so that a column that is put out is of the type that it was read as; within
// expressions and vectors there is none ([Type.Plain]).
type Form uint8

const (
	NoForm Form = iota
	JSON
	Enum // of some values, which are not known
)

var formNames = [...]string{NoForm: "", JSON: "json", Enum: "enum"}

// Plain is t without its form.
func (t Type) Plain() Type {
	t.Form = NoForm
	return t
}

// DecimalType returns decimal(precision, scale).
func DecimalType(precision, scale int) Type {
	return Type{Kind: Decimal, Precision: uint8(precision), Scale: uint8(scale)}
}

// TimestampType returns timestamp[unit] or timestamp[unit, UTC].
func TimestampType(unit Unit, utc bool) Type {
	return Type{Kind: Timestamp, Unit: unit, UTC: utc}
}

// Rep tells how values of t are stored.
func (t Type) Rep() Rep {
	if t.IsNested() {
		return RepList
	}
	switch t.Kind {
	case Float16, Float32, Float64:
		return RepFloat64
	case Decimal:
		if t.Precision > MaxInt64Digits {
			return RepWide
		}
	case Interval:
		return RepWide
	case String, Binary, FixedBinary, UUID:
		return RepBytes
	}
	return RepInt64
}

// IsSigned reports whether t is a signed integer.
func (t Type) IsSigned() bool { return t.Kind >= Int8 && t.Kind <= Int64 && t.Nest == Scalar }

// IsUnsigned reports whether t is an unsigned integer.
func (t Type) IsUnsigned() bool { return t.Kind >= Uint8 && t.Kind <= Uint64 && t.Nest == Scalar }

// IsInteger reports whether t is an integer, signed or not.
func (t Type) IsInteger() bool { return t.IsSigned() || t.IsUnsigned() }

// IsFloat reports whether t is a floating-point number.
func (t Type) IsFloat() bool { return t.Rep() == RepFloat64 }

// IsNumeric reports whether t is an integer, a float or a decimal.
func (t Type) IsNumeric() bool {
	return t.IsInteger() || t.IsFloat() || t.Kind == Decimal && t.Nest == Scalar
}

// Bits is the number of bits that hold any value of t exactly; 0 for
// representations without a fixed size in words (Wide, Bytes, List).
func (t Type) Bits() int {
	if t.IsNested() {
		return 0
	}
	switch t.Kind {
	case Null:
		return 0
	case Bool:
		return 1
	case Int8, Uint8:
		return 8
	case Int16, Uint16:
		return 16
	case Int32, Uint32, Date, Float16, Float32:
		return 32
	}
	if r := t.Rep(); r == RepInt64 || r == RepFloat64 {
		return 64
	}
	return 0
}

var kindNames = [...]string{
	Invalid: "invalid", Null: "null", Bool: "boolean",
	Int8: "int8", Int16: "int16", Int32: "int32", Int64: "int64",
	Uint8: "uint8", Uint16: "uint16", Uint32: "uint32", Uint64: "uint64",
	Float16: "float16", Float32: "float", Float64: "double",
	Decimal: "decimal", Date: "date", Time: "time", Timestamp: "timestamp",
	String: "string", Binary: "binary", FixedBinary: "binary", UUID: "uuid",
	Interval: "interval",
}

// String gives the name that --schema and error messages show.
func (t Type) String() string {
	switch t.Nest {
	case List:
		return t.Elem().String() + "[]"
	case Map:
		return "map(" + t.Elem().String() + ", " + kindNames[Int64] + ")"
	}
	if t.Form != NoForm {
		return formNames[t.Form]
	}
	switch t.Kind {
	case Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case Time, Timestamp:
		if t.UTC {
			return fmt.Sprintf("%s[%s, UTC]", kindNames[t.Kind], t.Unit)
		}
		return fmt.Sprintf("%s[%s]", kindNames[t.Kind], t.Unit)
	case FixedBinary:
		return fmt.Sprintf("binary(%d)", t.Width)
	}
	return kindNames[t.Kind]
}

// Field is a named column.
type Field struct {
	Name string
	Type Type
}

// Schema is the columns of a table, in order. Names need not be unique: what
// an ambiguous name means is decided where names are looked up.
type Schema struct {
	Fields []Field
}
