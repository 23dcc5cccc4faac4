package expr

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// The text forms of dates, times, decimals and UUIDs are what package fmt makes of their parts: of
// values of any size, among them the least and the greatest.
func TestTextForms(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 3))
	nano := column.Type{Kind: column.Time, Unit: column.Nano}
	for range 20_000 {
		v := int64(r.Uint64()) >> r.IntN(64)
		switch r.IntN(50) {
		case 0:
			v = math.MinInt64
		case 1:
			v = math.MaxInt64
		}
		year, month, day := civilFromDays(clampDays(v))
		date := fmt.Sprintf("%04d-%02d-%02d", max(year, -year), month, day)
		if year < 0 {
			date = "-" + date
		}
		ofDay := r.Int64N(86400e9) >> r.IntN(30)
		sec := ofDay / 1e9
		clock := fmt.Sprintf("%02d:%02d:%02d", sec/3600, sec/60%60, sec%60)
		if rest := ofDay % 1e9; rest != 0 {
			clock += "." + strings.TrimRight(fmt.Sprintf("%09d", rest), "0")
		}
		days := r.Int64N(80_000) - 40_000
		year, month, day = civilFromDays(days)
		stamp := fmt.Sprintf("%04d-%02d-%02d %s", year, month, day, clock)
		scale := r.IntN(19)
		size := new(big.Int).Abs(big.NewInt(v)).String()
		if scale > 0 {
			size = fmt.Sprintf("%0*s", scale+1, size)
			size = strings.ReplaceAll(size, " ", "0")
			size = size[:len(size)-scale] + "." + size[len(size)-scale:]
		}
		if v < 0 {
			size = "-" + size
		}
		id := fmt.Sprintf("%016x%016x", uint64(v), r.Uint64())
		raw := new(big.Int)
		raw.SetString(id, 16)
		for _, c := range []struct {
			value column.Value
			want  string
		}{
			{column.Value{Type: column.Type{Kind: column.Date}, Int: v}, date},
			{column.Value{Type: nano, Int: ofDay}, clock},
			{column.Value{Type: column.Type{Kind: column.Timestamp, Unit: column.Nano}, Int: days*86400e9 + ofDay}, stamp},
			{column.Value{Type: column.Type{Kind: column.Timestamp, Unit: column.Nano, UTC: true}, Int: days*86400e9 + ofDay}, stamp + "+00"},
			{column.Value{Type: column.DecimalType(18, scale), Int: v}, size},
			{column.Value{Type: column.Type{Kind: column.UUID}, Bytes: string(raw.FillBytes(make([]byte, 16)))}, id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]},
		} {
			if got := textOf(c.value); got != c.want {
				t.Fatalf("%+v: %s, want %s", c.value, got, c.want)
			}
		}
	}
}

// A text of up to 18 digits is the number that the parser makes of it, and one that begins as no
// number does is none for the parser either.
func TestShortNumber(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	types := []column.Type{int64Type, {Kind: column.Int8}, {Kind: column.Uint64}, {Kind: column.Uint16}, column.DecimalType(9, 2), column.DecimalType(18, 18), column.DecimalType(38, 3)}
	short, numbers := 0, 0
	for range 50_000 {
		text := ""
		for range r.IntN(9) {
			text += pick(r, "0", "1", "5", "99", "123456789", "-", "+", ".", "_", "e", "x", "a")
		}
		if strings.HasPrefix(text, "0x") {
			continue
		}
		for _, typ := range types {
			got, ok := convert(stringValue(text), typ)
			want, number := column.Value{}, false
			if text != "" {
				if want, number = parseAs(text, withoutFraction(typ)); number {
					want, number = convert(want, typ)
				}
			}
			if ok != number || ok && got != want {
				t.Fatalf("%q as %s: %+v (%t), want %+v (%t)", text, typ, got, ok, want, number)
			}
			_, is := shortNumber(text)
			short, numbers = short+int(truth(is)), numbers+int(truth(ok))
		}
	}
	if short < 10_000 || numbers < 10_000 {
		t.Errorf("%d texts are short numbers, %d numbers", short, numbers)
	}
}

// A date, and a time of day behind it, is what the parser makes of it.
func TestShortTime(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 8))
	types := []column.Type{{Kind: column.Date}, {Kind: column.Timestamp, Unit: column.Second}, {Kind: column.Timestamp, Unit: column.Nano}, {Kind: column.Timestamp, Unit: column.Micro, UTC: true}}
	short := 0
	for range 20_000 {
		text := fmt.Sprintf("%04d-%02d-%02d", r.IntN(2300), r.IntN(14), r.IntN(33))
		if r.IntN(2) == 0 {
			text += fmt.Sprintf("%s%02d:%02d:%02d", pick(r, " ", "T"), r.IntN(25), r.IntN(61), r.IntN(61))
		}
		if r.IntN(9) == 0 {
			at := r.IntN(len(text))
			text = text[:at] + pick(r, "", "x", "-", ":", "7") + text[at+1:]
		}
		if _, ok := shortTime(text); ok {
			short++
		}
		for _, typ := range types {
			got, ok := convert(stringValue(text), typ)
			want, parsed := parseAs(text, typ)
			if parsed {
				want, parsed = convert(want, typ)
			}
			if ok != parsed || ok && got != want {
				t.Fatalf("%q as %s: %+v (%t), want %+v (%t)", text, typ, got, ok, want, parsed)
			}
		}
	}
	if short < 10_000 {
		t.Errorf("%d texts are short times", short)
	}
}
