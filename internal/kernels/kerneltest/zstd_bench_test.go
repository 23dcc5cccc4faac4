package kerneltest_test

import (
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gagg-dev/gagg/internal/gputest"
)

// BenchmarkZstd expands pages of a row group's usual size, of one kind of column, with a checksum
// and without; bytes are what they come to. road=pieces has the same bytes in pages of 64 KiB, of
// which more are under way at once; road=cpu is one core, with the decoder that workers have.
func BenchmarkZstd(b *testing.B) {
	many := []int{1, 8, 64}
	if gputest.Emulated() {
		many = many[:1]
	}
	for name, data := range rowGroup() {
		for _, crc := range []bool{false, true} {
			whole := zstdPagesOf(b, data, len(data), crc)
			pieces := zstdPagesOf(b, data, 64<<10, crc)
			for _, n := range many {
				of := fmt.Sprintf("column=%s/checksum=%v/pages=%d", name, crc, n)
				b.Run(of+"/road=whole", func(b *testing.B) { benchZstd(b, repeated(whole, n)) })
				b.Run(of+"/road=pieces", func(b *testing.B) { benchZstd(b, repeated(pieces, n)) })
			}
			b.Run(fmt.Sprintf("column=%s/checksum=%v/pages=1/road=cpu", name, crc), func(b *testing.B) { benchZstdCPU(b, whole[0]) })
		}
	}
}

// zstdPagesOf is bytes in pages of so many.
func zstdPagesOf(tb testing.TB, data []byte, each int, crc bool) (pages []*zstdPage) {
	for len(data) > 0 {
		n := min(each, len(data))
		pages = append(pages, &zstdPage{bytes: zstdEncode(tb, data[:n], zstd.WithEncoderCRC(crc)), size: n})
		data = data[n:]
	}
	return pages
}

// repeated is pages n times.
func repeated(pages []*zstdPage, n int) (all []*zstdPage) {
	for range n {
		all = append(all, pages...)
	}
	return all
}

func benchZstd(b *testing.B, pages []*zstdPage) {
	r := newZstdRig(b)
	parcel, descriptors, size := layOutZstd(pages)
	in, list, work := upload(r.device, parcel), upload(r.device, descriptors), upload(r.device, make([]byte, size))
	stop := upload(r.device, []uint64{0})
	expand := func() {
		r.must(r.kernels.ExpandPages(r.stream, in, work, list, descriptors, stop))
		r.must(r.stream.Synchronize())
	}
	expand() // warm
	bytes := 0
	for _, page := range pages {
		bytes += page.size
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		expand()
	}
	if got := download[uint64](r.device, stop, 1)[0]; got != 0 {
		b.Errorf("stop word %d", got)
	}
}

func benchZstdCPU(b *testing.B, page *zstdPage) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	out := make([]byte, 0, page.size)
	b.SetBytes(int64(page.size))
	for b.Loop() {
		if _, err := d.DecodeAll(page.bytes, out); err != nil {
			b.Fatal(err)
		}
	}
}
