package expr

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// Param is a place for a value that is given beside the text: ? for the next one, or $3.
type Param struct {
	At       int
	N        int  // of the value, from 1 on: of ? among those of its text
	Numbered bool // $3
}

// Pos is that of the sign.
func (n *Param) Pos() int { return n.At }

func (n *Param) String() string {
	if n.Numbered {
		return "$" + strconv.Itoa(n.N)
	}
	return "?"
}

func (n *Param) level() level       { return levelPrimary }
func (n *Param) print(p *printer)   { p.WriteString(n.String()) }
func (n *Param) children() []Node   { return nil }
func (n *Param) with(_ []Node) Node { return n }

// Params tells how many ? a text has, and the numbers of its $n. It is empty for a text that is no
// expression, which parsing tells.
func Params(text string) (asked int, numbered []int) {
	tokens, _ := lex(text)
	for _, t := range tokens {
		if t.kind != tokParam {
			continue
		}
		if n := t.param(); n.Numbered {
			numbered = append(numbered, n.N)
		} else {
			asked++
		}
	}
	return asked, numbered
}

// param is the parameter that a token stands for.
func (t token) param() *Param {
	n, err := strconv.Atoi(t.text[1:])
	if err != nil {
		n = math.MaxInt
	}
	return &Param{At: t.pos, N: n, Numbered: t.text[0] == '$'}
}

// Fill puts nodes in the place of parameters: of ? those from base on.
func Fill(n Node, base int, values []Node) Node {
	return Rewrite(n, func(n Node) (Node, bool) {
		p, ok := n.(*Param)
		if !ok {
			return nil, false
		}
		i := p.N - 1
		if !p.Numbered {
			i += base
		}
		return movedTo(values[i], p.At), true
	})
}

func movedTo(n Node, at int) Node {
	switch n := n.(type) {
	case *Literal:
		return &Literal{At: at, Value: n.Value}
	case *Interval:
		return &Interval{At: at, Span: n.Span}
	}
	return n
}

// Decimal is the number Unscaled / 10^Scale.
type Decimal struct {
	Unscaled *big.Int
	Scale    int
}

// ValueNode is the constant that a value of Go is, as if it stood in the text: integers are int64,
// or decimals where they do not fit; floats are doubles, instants timestamps in UTC, durations
// intervals.
func ValueNode(v any) (Node, error) {
	switch v := v.(type) {
	case nil:
		return &Literal{Value: nullValue}, nil
	case []byte:
		if v == nil {
			return &Literal{Value: nullValue}, nil
		}
		return &Literal{Value: column.Value{Type: binaryType, Bytes: string(v)}}, nil
	case time.Time:
		return instant(v)
	case time.Duration:
		if v%time.Microsecond != 0 {
			return nil, fmt.Errorf("%s is not a whole number of microseconds, which intervals have", v)
		}
		return &Interval{Span: Span{Micros: v.Microseconds()}}, nil
	case Decimal:
		return decimalNode(v)
	case *big.Int:
		return decimalNode(Decimal{Unscaled: v})
	case decimal128.Num:
		return decimalNode(Decimal{Unscaled: v.BigInt()})
	case decimal256.Num:
		return decimalNode(Decimal{Unscaled: v.BigInt()})
	}
	return kindNode(v)
}

// kindNode is ValueNode for basic types, types that are made of them, and pointers to values.
func kindNode(v any) (Node, error) {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Bool:
		return &Literal{Value: boolValue(r.Bool())}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &Literal{Value: intValue(r.Int())}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if u := r.Uint(); u > math.MaxInt64 {
			return decimalNode(Decimal{Unscaled: new(big.Int).SetUint64(u)})
		}
		return &Literal{Value: intValue(int64(r.Uint()))}, nil
	case reflect.Float32, reflect.Float64:
		return &Literal{Value: doubleValue(r.Float())}, nil
	case reflect.String:
		return &Literal{Value: stringValue(r.String())}, nil
	case reflect.Pointer:
		if r.IsNil() {
			return &Literal{Value: nullValue}, nil
		}
		return ValueNode(r.Elem().Interface())
	}
	return nil, fmt.Errorf("%T is no type of a value", v)
}

// instant is a timestamp in microseconds, or in nanoseconds where it takes them.
func instant(t time.Time) (Node, error) {
	v := column.Value{Type: timestamptzType, Int: t.UnixMicro()}
	if time.UnixMicro(v.Int).Equal(t) {
		return &Literal{Value: v}, nil
	}
	v = column.Value{Type: column.TimestampType(column.Nano, true), Int: t.UnixNano()}
	if !time.Unix(0, v.Int).Equal(t) {
		return nil, fmt.Errorf("the time %s is out of range", t)
	}
	return &Literal{Value: v}, nil
}

func decimalNode(d Decimal) (Node, error) {
	if d.Unscaled == nil {
		return &Literal{Value: nullValue}, nil
	}
	digits := len(new(big.Int).Abs(d.Unscaled).String())
	if d.Scale < 0 || d.Scale > maxDigits || digits > maxDigits {
		return nil, fmt.Errorf("a decimal of %d digits, %d of them behind its point: want at most %d", digits, d.Scale, maxDigits)
	}
	return &Literal{Value: decimalValue(d.Unscaled, max(digits, d.Scale, 1), d.Scale)}, nil
}
