package iceberg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file makes bounds of columns out of what manifests say: of bounds in the binary form of
// single values, and of the values of partitions.

var errEncrypted = errors.New("the Iceberg table is encrypted, which is not supported")

// boundOf reads a value in its binary form, little-endian but for decimals. A column may have been
// of a narrower type when it was written. ok is false for what bounds are not relied on.
func boundOf(data []byte, t column.Type) (v column.Value, ok bool) {
	v.Type = t
	le, n := binary.LittleEndian, len(data)
	switch t.Kind {
	case column.Int32, column.Date:
		if n == 4 {
			v.Int = int64(int32(le.Uint32(data)))
		}
		return v, n == 4
	case column.Int64, column.Time, column.Timestamp:
		switch {
		case n == 8:
			v.Int = int64(le.Uint64(data))
		case n == 4 && t.Kind == column.Int64:
			v.Int = int64(int32(le.Uint32(data)))
		default:
			return v, false
		}
		return v, true
	case column.Float32, column.Float64:
		switch {
		case n == 4:
			v.Float = float64(math.Float32frombits(le.Uint32(data)))
		case n == 8 && t.Kind == column.Float64:
			v.Float = math.Float64frombits(le.Uint64(data))
		default:
			return v, false
		}
		return v, v.Float == v.Float
	case column.Decimal:
		if n == 0 || n > 16 {
			return v, false
		}
		return decimalOf(bigEndian(data), t), true
	case column.String:
		v.Bytes = string(data)
		return v, true
	}
	return v, false // UUIDs are in no order that writers agree on; a boolean tells little
}

// bigEndian is a number in two's complement.
func bigEndian(data []byte) *big.Int {
	n := new(big.Int).SetBytes(data)
	if len(data) > 0 && data[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
	}
	return n
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// decimalOf is a decimal of an unscaled value.
func decimalOf(n *big.Int, t column.Type) column.Value {
	v := column.Value{Type: t}
	if t.Rep() == column.RepWide {
		v.Wide = decimal256.FromBigInt(n)
	} else {
		v.Int = n.Int64()
	}
	return v
}

// Transforms, which make the values of partitions.
const (
	transformIdentity = "identity"
	transformVoid     = "void"
)

// partField is a field of a spec whose values bound a column.
type partField struct {
	source column.Type // of the column
	result column.Type // of the values in bounds
	// span is the bounds of the column where the field has a value.
	span func(v column.Value) column.Bounds
}

// partField is field n of a spec, and the column that it bounds; ok is false if it bounds none.
func (r *reading) partField(s *spec, n int) (i int, p partField, ok bool) {
	of := &s.Fields[n]
	i, there := r.byID[of.SourceID]
	if !there || r.fields[i].Err != nil {
		return 0, p, false
	}
	p.source = r.fields[i].Type
	p.result = column.Type{Kind: column.Int32}
	name, width := of.Transform, 0
	if n, err := fmt.Sscanf(of.Transform, "truncate[%d]", &width); n == 1 && err == nil {
		name = "truncate"
	}
	dated := p.source.Kind == column.Date || p.source.Kind == column.Timestamp
	switch {
	case name == transformIdentity:
		p.result = p.source
		p.span = func(v column.Value) column.Bounds {
			return column.Bounds{Nulls: -1, HasMin: true, HasMax: true, Min: v, Max: v}
		}
	case name == "truncate" && width > 0:
		p.result = p.source
		p.span = func(v column.Value) column.Bounds { return truncated(v, width) }
	case dated && periods[name] != nil && (name != "hour" || p.source.Kind == column.Timestamp):
		p.span = func(v column.Value) column.Bounds { return periodOf(v.Int, periods[name], p.source) }
	default: // a bucket says nothing of order, others are not known
		return 0, p, false
	}
	return i, p, true
}

// truncated is the bounds of what is cut to v: to a multiple of a number, or to so many characters.
func truncated(v column.Value, width int) column.Bounds {
	b := column.Bounds{Nulls: -1, HasMin: true, HasMax: true, Min: v, Max: v}
	switch {
	case v.Type.Kind == column.String:
		b.HasMax = utf8.RuneCountInString(v.Bytes) < width // else more may follow
	case v.Type.Kind == column.Int32 || v.Type.Kind == column.Int64:
		b.Max.Int += int64(width) - 1
		b.HasMax = b.Max.Int >= v.Int
	case v.Type.Kind == column.Decimal && v.Type.Rep() == column.RepWide:
		b.Max.Wide = v.Wide.Add(decimal256.FromI64(int64(width) - 1))
	case v.Type.Kind == column.Decimal:
		b.Max.Int += int64(width) - 1
	default:
		return column.Bounds{Nulls: -1}
	}
	return b
}

// periods is when a period begins that is so many after that of 1970-01-01, in seconds.
var periods = map[string]func(n int64) int64{
	"year":  func(n int64) int64 { return time.Date(1970+int(n), 1, 1, 0, 0, 0, 0, time.UTC).Unix() },
	"month": func(n int64) int64 { return time.Date(1970, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC).Unix() },
	"day":   func(n int64) int64 { return n * 24 * 60 * 60 },
	"hour":  func(n int64) int64 { return n * 60 * 60 },
}

// maxPeriod keeps the ends of periods within the numbers for them.
const maxPeriod = 1 << 23

// periodOf is the bounds of dates or timestamps in a period. Writers once rounded times before 1970
// towards it, not down: what they have put into a period up to then may be of the one before.
func periodOf(n int64, start func(int64) int64, t column.Type) column.Bounds {
	if n > maxPeriod || n < -maxPeriod {
		return column.Bounds{Nulls: -1}
	}
	first := n
	if n <= 0 {
		first--
	}
	per := int64(1e6) // microseconds in a second
	from, to := start(first)*per, start(n+1)*per-1
	if t.Kind == column.Date {
		day := 24 * 60 * 60 * per
		from, to = floorDiv(from, day), floorDiv(to, day)
	}
	return column.Bounds{
		Nulls: -1, HasMin: true, HasMax: true,
		Min: column.Value{Type: t, Int: from}, Max: column.Value{Type: t, Int: to},
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// meet is a, with what b knows and it does not.
func meet(a, b column.Bounds) column.Bounds {
	if !a.HasMin {
		a.Min, a.HasMin = b.Min, b.HasMin
	}
	if !a.HasMax {
		a.Max, a.HasMax = b.Max, b.HasMax
	}
	return a
}

// bounds is what is known of the columns of a file, for tests.
func (f *dataFile) bounds(r *reading) func(i int) column.Bounds {
	return func(i int) column.Bounds {
		ids := r.fields[i].IDs
		id, t := int(ids[len(ids)-1]), r.fields[i].Type
		b := column.Bounds{Rows: f.rows, Nulls: -1}
		if n, ok := f.nulls[id]; ok {
			b.Nulls = n
		}
		if r.fields[i].Err != nil {
			return b
		}
		if lower, ok := f.lower[id]; ok {
			b.Min, b.HasMin = boundOf([]byte(lower), t)
		}
		if upper, ok := f.upper[id]; ok {
			b.Max, b.HasMax = boundOf([]byte(upper), t)
		}
		for n := range f.spec.Fields {
			at, p, ok := r.partField(f.spec, n)
			if !ok || at != i || f.partition[n] == nil {
				continue
			}
			if v, ok := p.valueOf(f.partition[n]); ok {
				b = meet(b, p.span(v))
			}
		}
		return b
	}
}

// valueOf is a value of a partition as span takes it.
func (p *partField) valueOf(x any) (v column.Value, ok bool) {
	if p.result == p.source {
		v, ok = valueOf(x, p.source)
		return v, ok && v.Float == v.Float
	}
	if day, ok := x.(time.Time); ok { // the transform day gives a date
		return column.Value{Type: p.result, Int: day.Unix() / (24 * 60 * 60)}, true
	}
	v.Type = p.result
	v.Int, ok = ordinal(x)
	return v, ok
}

// values is the values of columns that a file may lack, since its partition has them.
func (f *dataFile) values(r *reading) (values []column.Value) {
	for n, x := range f.partition {
		i, there := r.byID[f.spec.Fields[n].SourceID]
		if !there || f.spec.Fields[n].Transform != transformIdentity || r.fields[i].Err != nil {
			continue
		}
		if v, ok := valueOf(x, r.fields[i].Type); ok {
			if values == nil {
				values = make([]column.Value, len(r.fields))
			}
			values[i] = v
		}
	}
	return values
}

// partitionKey is a text that two values of one spec share if they are of one partition.
func (f *dataFile) partitionKey() string {
	var b strings.Builder
	for _, x := range f.partition {
		if at, ok := x.(time.Time); ok {
			x = at.UnixMicro()
		}
		text := fmt.Sprint(x)
		fmt.Fprintf(&b, "%d:%s;", len(text), text)
	}
	return b.String()
}
