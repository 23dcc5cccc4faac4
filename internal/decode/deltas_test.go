package decode

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Pages of differences of which a list has not room for all pieces: 4,096 differences behind the
// first value.
func TestMakeLongDeltas(t *testing.T) {
	for _, rows := range []int{4095, 4096, 4097, 4098, 8193, 8194, 20_000} {
		for _, narrow := range []bool{false, true} {
			t.Run(fmt.Sprintf("rows=%d/narrow=%t", rows, narrow), func(t *testing.T) {
				d := newDevice(t)
				r := rand.New(rand.NewPCG(uint64(rows), 9))
				s := ints(column.Int64, kernels.ParquetInt64, draw(rows, func() int64 { return int64(r.Uint64()) >> r.IntN(64) }))
				if narrow {
					s = ints(column.Int32, kernels.ParquetInt32, draw(rows, func() int64 { return int64(int32(r.Uint32())) >> r.IntN(32) }))
				}
				g := newRig(t, uint64(rows), []source{s}, nil)
				plain, _ := s.values(0, rows, dict{})
				page := kernels.ParquetPage{Rows: uint32(rows), Encoding: kernels.ParquetDelta}
				g.page(page, nil, s.encode(g.draws, page.Encoding, plain), kernels.ParquetTask{})
				g.room(kernels.ParquetPadding, kernels.ParquetPadding)
				g.batch.rows = rows
				p, memory := g.finish()
				got, stop := d.make(t, p, memory)
				if stop != 0 {
					t.Fatalf("stopped: %s", Reason(stop))
				}
				compare(t, g.plan, got, g.rows(0, rows))
			})
		}
	}
}
