package kerneltest_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/snappy"

	"github.com/gagg-dev/gagg/internal/gputest"
)

// BenchmarkSnappy expands pages of a row group's usual size, of one kind of
// column; bytes are what they come to. road=cut is the one of many blocks a
// page, road=whole that of one.
func BenchmarkSnappy(b *testing.B) {
	many := []int{1, 8, 64}
	if gputest.Emulated() {
		many = many[:1]
	}
	for name, data := range rowGroup() {
		for road, encode := range map[string]func([]byte) []byte{
			"cut":   cutBlock,
			"whole": func(data []byte) []byte { return snappy.Encode(nil, data) },
		} {
			block := encode(data)
			for _, n := range many {
				pages := make([]*snappyPage, n)
				for i := range pages {
					pages[i] = blockPage(block)
				}
				b.Run(fmt.Sprintf("column=%s/road=%s/pages=%d", name, road, n), func(b *testing.B) { benchSnappy(b, pages) })
			}
		}
	}
}

// rowGroup is columns of 122,880 rows.
func rowGroup() map[string][]byte {
	draws := rand.New(rand.NewPCG(1, 2))
	var codes, doubles, integers []byte
	for range 122880 {
		codes = binary.LittleEndian.AppendUint32(codes, 12)
		codes = fmt.Appendf(codes, "id%010d", 1+draws.IntN(1e6))
		doubles = binary.LittleEndian.AppendUint64(doubles, math.Float64bits(math.Round(draws.Float64()*1e8)/1e6))
		integers = binary.LittleEndian.AppendUint64(integers, uint64(1+draws.IntN(15)))
	}
	return map[string][]byte{"codes": codes, "doubles": doubles, "integers": integers}
}

func benchSnappy(b *testing.B, pages []*snappyPage) {
	r := newSnappyRig(b)
	parcel, descriptors, size := layOut(pages)
	in, list, work := upload(r.device, parcel), upload(r.device, descriptors), upload(r.device, make([]byte, size))
	stop := upload(r.device, []uint64{0})
	expand := func() {
		r.must(r.kernels.ExpandPages(r.stream, in, work, list, descriptors, stop))
		r.must(r.stream.Synchronize())
	}
	expand() // warm
	b.SetBytes(int64(len(pages) * pages[0].size))
	for b.Loop() {
		expand()
	}
	if got := download[uint64](r.device, stop, 1)[0]; got != 0 {
		b.Errorf("stop word %d", got)
	}
}
