package kerneltest_test

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/klauspost/compress/snappy"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

const (
	snappyWindow   = 4096 // parquet_snappy.cu and what it includes
	snappyTile     = 256
	snappyBatch    = 1024
	snappyLong     = 1024
	snappyPiece    = 16 << 10
	snappyFragment = 64 << 10

	snappyGuard = 32   // bytes between the rooms of pages, which stay as they are
	snappyFill  = 0xa5 // what they are
)

// snappyPage is a page and what the device made of it.
type snappyPage struct {
	bytes  []byte // as in the parcel
	size   int    // that it should come to
	levels uint32 // ParquetPage.Levels
	plain  bool   // not compressed

	room   []byte // of size bytes
	across bool   // copies reach across fragments
	stop   uint64
}

// blockPage is a page that is a Snappy block. Its size is the one that the
// block promises, or some other if it promises nonsense.
func blockPage(block []byte) *snappyPage {
	size, err := snappy.DecodedLen(block)
	if err != nil || size > 1<<20 && size > 64*len(block) {
		size = 100
	}
	return &snappyPage{bytes: block, size: size}
}

// blockPages is a page each.
func blockPages(blocks ...[]byte) []*snappyPage {
	pages := make([]*snappyPage, len(blocks))
	for i, block := range blocks {
		pages[i] = blockPage(block)
	}
	return pages
}

// snappyRig expands pages on a device.
type snappyRig struct {
	*device
	kernels *kernels.ParquetSnappy
}

func newSnappyRig(tb testing.TB) *snappyRig {
	tb.Helper()
	d := newDevice(tb)
	return &snappyRig{device: d, kernels: family(d, kernels.LoadParquetSnappy)}
}

// together expands pages at once.
func (r *snappyRig) together(pages []*snappyPage) (stop uint64) {
	r.tb.Helper()
	return r.expand(pages, len(pages))[0]
}

// alone expands each page by itself, with a stop word of its own.
func (r *snappyRig) alone(pages []*snappyPage) {
	r.tb.Helper()
	for i, stop := range r.expand(pages, 1) {
		pages[i].stop = stop
	}
}

// expand lays pages into a parcel, at all alignments, expands so many of them
// at a time, and fills in their rooms. Nothing else may have been written. It
// returns a stop word for each time.
func (r *snappyRig) expand(pages []*snappyPage, each int) []uint64 {
	r.tb.Helper()
	parcel, descriptors, size := layOut(pages)
	work := upload(r.device, bytes.Repeat([]byte{snappyFill}, size))
	in, list := upload(r.device, parcel), upload(r.device, descriptors)
	times := (len(pages) + each - 1) / each
	stops := upload(r.device, make([]uint64, times))
	for i := range times {
		first := i * each
		page := list + cuda.Ptr(first)*cuda.Ptr(unsafe.Sizeof(kernels.ParquetPage{}))
		some := descriptors[first:min(first+each, len(pages))]
		r.must(r.kernels.ExpandPages(r.stream, in, work, page, some, stops+cuda.Ptr(8*i)))
	}
	after := download[byte](r.device, work, size)
	for i, page := range pages {
		from := int(descriptors[i].Expanded)
		page.room = bytes.Clone(after[from : from+page.size])
		if !page.plain {
			copy(after[from:], bytes.Repeat([]byte{snappyFill}, page.size))
			scratch := (from + page.size + kernels.ParquetPadding + 15) &^ 15
			page.across = after[scratch] == 1
			end := from + kernels.ParquetSnappyRoom(page.size, len(page.bytes))
			copy(after[scratch:end], bytes.Repeat([]byte{snappyFill}, end-scratch))
		}
	}
	for i, b := range after {
		if b != snappyFill {
			r.tb.Fatalf("byte %d of the work memory, which is of no page, has become %#x", i, b)
		}
	}
	return download[uint64](r.device, stops, times)
}

// layOut makes the parcel, the descriptors of the pages, and says how much work
// memory they need.
func layOut(pages []*snappyPage) (parcel []byte, descriptors []kernels.ParquetPage, work int) {
	parcel, work = make([]byte, 16), 64
	for i, page := range pages {
		parcel = append(parcel, make([]byte, i%16)...)
		d := kernels.ParquetPage{
			At: uint64(len(parcel)), Expanded: uint64(work), Bytes: uint32(len(page.bytes)), Size: uint32(page.size),
			Levels: page.levels, Codec: kernels.ParquetCodecSnappy,
		}
		if page.plain {
			d.Codec = kernels.ParquetCodecNone
		}
		parcel = append(parcel, page.bytes...)
		parcel = append(parcel, bytes.Repeat([]byte{0xff}, kernels.ParquetPadding)...)
		work += kernels.ParquetSnappyRoom(page.size, len(page.bytes)) + snappyGuard
		descriptors = append(descriptors, d)
	}
	return parcel, descriptors, work
}

// likeCPU wants each page to come to what the CPU makes of it, or to be
// refused as the CPU does.
func likeCPU(tb testing.TB, pages []*snappyPage) {
	tb.Helper()
	for i, page := range pages {
		want, err := snappy.DecodeStrict(nil, page.bytes)
		if err != nil || len(want) != page.size {
			if page.stop != kernels.ParquetStopDamaged {
				tb.Errorf("page %d, %s: stop word %d, the CPU says %v and %d bytes of %d", i, brief(page.bytes), page.stop, err, len(want), page.size)
			}
			continue
		}
		if page.stop != 0 || !bytes.Equal(page.room, want) {
			tb.Errorf("page %d, %s: stop word %d, %s", i, brief(page.bytes), page.stop, difference(page.room, want))
		}
	}
}

// difference tells where two slices of a length differ.
func difference(got, want []byte) string {
	for i := range want {
		if got[i] != want[i] {
			return fmt.Sprintf("byte %d of %d is %#x, want %#x", i, len(want), got[i], want[i])
		}
	}
	return "equal"
}

// brief shows the beginning of a block.
func brief(block []byte) string {
	return fmt.Sprintf("%x… (%d bytes)", block[:min(len(block), 40)], len(block))
}
