package kerneltest_test

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// zstdPage is a page and what the device made of it.
type zstdPage struct {
	bytes  []byte // as in the parcel
	size   int    // that it should come to
	levels uint32 // ParquetPage.Levels

	room []byte // of size bytes
	stop uint64
}

// zstdLevels are those of the encoder that differ.
var zstdLevels = []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression}

// zstdEncode is a frame.
func zstdEncode(tb testing.TB, data []byte, options ...zstd.EOption) []byte {
	tb.Helper()
	e, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		tb.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(data, nil)
}

// zstdDecode is what the CPU makes of a page that should come to so many bytes.
func zstdDecode(page []byte, size int) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.DecodeAll(page, make([]byte, 0, size))
	if err == nil && len(out) != size {
		err = fmt.Errorf("%d bytes, not %d", len(out), size)
	}
	return out, err
}

// zstdRig expands pages on a device.
type zstdRig struct {
	*device
	kernels *kernels.ParquetZstd
}

func newZstdRig(tb testing.TB) *zstdRig {
	tb.Helper()
	d := newDevice(tb)
	return &zstdRig{device: d, kernels: family(d, kernels.LoadParquetZstd)}
}

// together expands pages at once.
func (r *zstdRig) together(pages []*zstdPage) (stop uint64) {
	r.tb.Helper()
	return r.expand(pages, len(pages))[0]
}

// alone expands each page by itself, with a stop word of its own.
func (r *zstdRig) alone(pages []*zstdPage) {
	r.tb.Helper()
	for i, stop := range r.expand(pages, 1) {
		pages[i].stop = stop
	}
}

// expand lays pages into a parcel, at all alignments, expands so many of them at a time, and fills
// in their rooms. Nothing else may have been written. It returns a stop word for each time.
func (r *zstdRig) expand(pages []*zstdPage, each int) []uint64 {
	r.tb.Helper()
	parcel, descriptors, size := layOutZstd(pages)
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
		end := from + kernels.ParquetZstdRoom(page.size)
		copy(after[from:end], bytes.Repeat([]byte{snappyFill}, end-from))
	}
	for i, b := range after {
		if b != snappyFill {
			r.tb.Fatalf("byte %d of the work memory, which is of no page, has become %#x", i, b)
		}
	}
	return download[uint64](r.device, stops, times)
}

// layOutZstd makes the parcel, the descriptors of the pages, and says how much work memory they
// need.
func layOutZstd(pages []*zstdPage) (parcel []byte, descriptors []kernels.ParquetPage, work int) {
	parcel, work = make([]byte, 16), 64
	for i, page := range pages {
		parcel = append(parcel, make([]byte, i%16)...)
		descriptors = append(descriptors, kernels.ParquetPage{
			At: uint64(len(parcel)), Expanded: uint64(work), Bytes: uint32(len(page.bytes)), Size: uint32(page.size),
			Levels: page.levels, Codec: kernels.ParquetCodecZstd,
		})
		parcel = append(parcel, page.bytes...)
		parcel = append(parcel, bytes.Repeat([]byte{0xff}, kernels.ParquetPadding)...)
		work += kernels.ParquetZstdRoom(page.size) + snappyGuard
	}
	return parcel, descriptors, work
}

// asCPU wants each page to come to what the CPU makes of it, or to be refused. Pages that the CPU
// reads are refused only if that may be.
func asCPU(tb testing.TB, pages []*zstdPage, refused bool) {
	tb.Helper()
	for i, page := range pages {
		want, err := zstdDecode(page.bytes, page.size)
		switch {
		case page.stop != 0 && (err != nil || refused):
		case err != nil:
			tb.Errorf("page %d, %s: expanded, the CPU says %v", i, brief(page.bytes), err)
		case page.stop != 0 || !bytes.Equal(page.room, want):
			tb.Errorf("page %d, %s: stop word %d, %s", i, brief(page.bytes), page.stop, difference(page.room, want))
		}
	}
}
