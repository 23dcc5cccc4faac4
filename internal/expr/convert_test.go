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
