package sink

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

func TestAppendDecimal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x     int64
		scale int
		want  string
	}{
		{0, 0, "0"},
		{0, 2, "0.00"},
		{5, 2, "0.05"},
		{-5, 2, "-0.05"},
		{12345, 2, "123.45"},
		{-100, 2, "-1.00"},
		{99, 2, "0.99"},
		{7, 18, "0.000000000000000007"},
	} {
		for _, digits := range []int{18, 38, 76} {
			typ := column.DecimalType(digits, c.scale)
			v := column.Vector{Type: typ, Int: []int64{c.x}, Wide: []decimal256.Num{decimal256.FromI64(c.x)}}
			if got := string(decimalAppender(typ)(nil, &v, 0)); got != c.want {
				t.Errorf("%d as %s: got %s, want %s", c.x, typ, got, c.want)
			}
		}
	}
}

// Every power of ten, one below it, and numbers with runs of zero digits, in
// all sizes, against package big.
func TestAppendWide(t *testing.T) {
	t.Parallel()
	one, ten := big.NewInt(1), big.NewInt(10)
	p := big.NewInt(1)
	for range 77 {
		for _, n := range []*big.Int{p, new(big.Int).Sub(p, one), new(big.Int).Neg(p), new(big.Int).Add(p, ten)} {
			if got := string(appendWide(nil, decimal256.FromBigInt(n), 0)); got != n.String() {
				t.Fatalf("got %s, want %s", got, n)
			}
		}
		p = new(big.Int).Mul(p, ten)
	}
}

// civil against package time, every 97th day of 60,000 years.
func TestCivil(t *testing.T) {
	t.Parallel()
	for days := int64(-11_000_000); days < 11_000_000; days += 97 {
		y, m, d := civil(days)
		when := time.Unix(days*secondsPerDay, 0).UTC()
		if int(y) != when.Year() || time.Month(m) != when.Month() || int(d) != when.Day() {
			t.Fatalf("day %d: got %d-%d-%d, want %s", days, y, m, d, when)
		}
	}
}

func TestAppendTimes(t *testing.T) {
	t.Parallel()
	day := func(year int) int64 {
		return time.Date(year, 3, 15, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
	}
	for _, c := range []struct {
		typ  column.Type
		x    int64
		want string
	}{
		{column.Type{Kind: column.Date}, day(2024), "2024-03-15"},
		{column.Type{Kind: column.Date}, day(44), "0044-03-15"},
		{column.Type{Kind: column.Date}, day(0), "0000-03-15"},
		{column.Type{Kind: column.Date}, day(-44), "-0044-03-15"},
		{column.Type{Kind: column.Date}, day(15360), "15360-03-15"},
		{column.Type{Kind: column.Date}, math.MinInt32, "-5877641-06-23"},
		{column.Type{Kind: column.Time, Unit: column.Second}, 86399, "23:59:59"},
		{column.Type{Kind: column.Time, Unit: column.Micro}, 1, "00:00:00.000001"},
		{column.Type{Kind: column.Time, Unit: column.Nano}, 500_000_000, "00:00:00.5"},
		{column.TimestampType(column.Second, true), 0, "1970-01-01 00:00:00+00"},
		{column.TimestampType(column.Micro, false), -1, "1969-12-31 23:59:59.999999"},
		{column.TimestampType(column.Milli, false), 1706704496123, "2024-01-31 12:34:56.123"},
		{column.TimestampType(column.Nano, false), math.MinInt64, "1677-09-21 00:12:43.145224192"},
		{column.TimestampType(column.Micro, true), math.MaxInt64, "294247-01-10 04:00:54.775807+00"},
		{column.TimestampType(column.Second, false), math.MinInt64, "-292277022657-01-27 08:29:52"},
	} {
		_, value := formOf(c.typ)
		if got := string(value(nil, &column.Vector{Type: c.typ, Int: []int64{c.x}}, 0)); got != c.want {
			t.Errorf("%s %d: got %s, want %s", c.typ, c.x, got, c.want)
		}
	}
}

func TestAppendBytes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain": "plain", "a\x00b": `a\x00b`, `back\slash`: `back\x5Cslash`, `"'`: `\x22\x27`, "\xab": `\xAB`,
	} {
		if got := string(appendBinary(nil, []byte(in))); got != want {
			t.Errorf("binary %q: got %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"ü": "ü", "a\xffü": `a\xFFü`, `\xFF`: `\xFF`, "\xed\xa0\x80": `\xED\xA0\x80`, "\ufffd": "\ufffd",
	} {
		if got := string(appendUTF8(nil, []byte(in))); got != want {
			t.Errorf("text %q: got %s, want %s", in, got, want)
		}
	}
	if got := string(appendUUID(nil, []byte("\x12\x34\x56\x78\x9a\xbc\xde\xf0\x12\x34\x56\x78\x9a\xbc\xde\xf0"))); got != "12345678-9abc-def0-1234-56789abcdef0" {
		t.Errorf("UUID: got %s", got)
	}
}
