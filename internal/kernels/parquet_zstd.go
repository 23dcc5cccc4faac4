package kernels

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// ParquetZstdRoom is the bytes of work memory, from Expanded on, that a Zstandard page takes which
// comes to size: what it comes to, and the literals of one of its blocks at a time
// (parquet_zstd.cu). It is a multiple of 16, and at most 2*size and 64.
func ParquetZstdRoom(size int) int {
	return align16(size+ParquetPadding) + align16(min(size, zstdBlock)+ParquetPadding)
}

const (
	zstdBlock   = 128 << 10 // ZSTD_BLOCK
	zstdThreads = 64        // ZSTD_THREADS
)

// ExpandPages launches the kernel that decompresses those of the pages that are Zstandard. The
// pages lie in device memory too, at list.
func (k *ParquetZstd) ExpandPages(stream *cuda.Stream, parcel, work, list cuda.Ptr, pages []ParquetPage, stop cuda.Ptr) error {
	if !slices.ContainsFunc(pages, func(p ParquetPage) bool { return p.Codec == ParquetCodecZstd }) {
		return nil
	}
	grid := cuda.Grid{Blocks: uint32(len(pages)), Threads: zstdThreads}
	return k.Expand(stream, grid, parcel, work, list, uint32(len(pages)), stop)
}
