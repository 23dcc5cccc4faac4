package parquetio

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Fields that the format requires.
var (
	elementRequired = fieldSet(4)
	decimalRequired = fieldSet(1, 2)
	timeRequired    = fieldSet(1, 2)
	intRequired     = fieldSet(1, 2)
)

// element decodes an element of a schema.
func (q *thriftQuick) element(e *format.SchemaElement) {
	q.fields(elementRequired, func(id int, t byte) {
		switch id {
		case 1:
			e.Type = thrift.New(format.Type(q.i32(t)))
		case 2:
			e.TypeLength = thrift.New(q.i32(t))
		case 3:
			e.RepetitionType = thrift.New(format.FieldRepetitionType(q.i32(t)))
		case 4:
			e.Name = string(q.bytes(t))
		case 5:
			e.NumChildren = thrift.New(q.i32(t))
		case 6:
			e.ConvertedType = thrift.New(deprecated.ConvertedType(q.i32(t)))
		case 7:
			e.Scale = thrift.New(q.i32(t))
		case 8:
			e.Precision = thrift.New(q.i32(t))
		case 9:
			e.FieldID = q.i32(t)
		case 10:
			q.structure(t, 0, func(id int, t byte) {
				q.odd = q.odd || e.LogicalType.Value != nil
				e.LogicalType.Value = q.logicalType(id, t)
			})
		default:
			q.skip(t)
		}
	})
}

// logicalType decodes a member of the union.
func (q *thriftQuick) logicalType(id int, t byte) format.LogicalTypeValue {
	switch id {
	case 5:
		d := new(format.DecimalType)
		q.structure(t, decimalRequired, func(id int, t byte) {
			switch id {
			case 1:
				d.Scale = q.i32(t)
			case 2:
				d.Precision = q.i32(t)
			default:
				q.skip(t)
			}
		})
		return d
	case 7:
		d := new(format.TimeType)
		q.time(t, &d.IsAdjustedToUTC, &d.Unit)
		return d
	case 8:
		d := new(format.TimestampType)
		q.time(t, &d.IsAdjustedToUTC, &d.Unit)
		return d
	case 10:
		d := new(format.IntType)
		q.structure(t, intRequired, func(id int, t byte) {
			switch id {
			case 1:
				d.BitWidth = q.i8(t)
			case 2:
				d.IsSigned = q.boolean(t)
			default:
				q.skip(t)
			}
		})
		return d
	}
	q.structure(t, 0, func(_ int, t byte) { q.skip(t) })
	switch id {
	case 1:
		return new(format.StringType)
	case 2:
		return new(format.MapType)
	case 3:
		return new(format.ListType)
	case 4:
		return new(format.EnumType)
	case 6:
		return new(format.DateType)
	case 11:
		return new(format.NullType)
	case 12:
		return new(format.JsonType)
	case 13:
		return new(format.BsonType)
	case 14:
		return new(format.UUIDType)
	case 15:
		return new(format.Float16Type)
	}
	q.odd = true // those with fields of their own, and those to come
	return nil
}

// time decodes a time or a timestamp.
func (q *thriftQuick) time(t byte, utc *bool, unit *format.TimeUnit) {
	q.structure(t, timeRequired, func(id int, t byte) {
		switch id {
		case 1:
			*utc = q.boolean(t)
		case 2:
			q.structure(t, 0, func(id int, t byte) {
				q.odd = q.odd || unit.Value != nil
				switch id {
				case 1:
					unit.Value = new(format.MilliSeconds)
				case 2:
					unit.Value = new(format.MicroSeconds)
				case 3:
					unit.Value = new(format.NanoSeconds)
				default:
					q.odd = true
				}
				q.structure(t, 0, func(_ int, t byte) { q.skip(t) })
			})
		default:
			q.skip(t)
		}
	})
}

func (q *thriftQuick) i8(t byte) int8 {
	if t != thriftI8 {
		q.odd = true
		return 0
	}
	return int8(q.byte())
}
