package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// ParquetSnappyRoom is the bytes of work memory, from Expanded on, that a Snappy
// page of so many bytes takes, which comes to size: what it comes to, and behind it
// what ExpandPages finds out about it, in some 40 bytes, 1.003 for each of the page's, and, where
// there is more than one fragment, 4 for each of size (snappy_page.cuh). It is a multiple of 16.
func ParquetSnappyRoom(size, bytes int) int {
	const flag, word = 16, 4
	sources := 0
	if fragments := (size + snappyFragment - 1) / snappyFragment; fragments > 1 {
		sources = word * (fragments + size)
	}
	return align16(size+ParquetPadding) + align16(flag+chainRoom(bytes)+sources)
}

const snappyFragment = 64 << 10 // SNAPPY_FRAGMENT

func align16(n int) int { return (n + 15) &^ 15 }

// ExpandPages launches the kernels that decompress those of the pages that are
// Snappy. The pages lie in device memory too, at list.
func (k *ParquetSnappy) ExpandPages(stream *cuda.Stream, parcel, work, list cuda.Ptr, pages []ParquetPage, stop cuda.Ptr) error {
	n, compressed, largest := len(pages), false, 0
	for i := range pages {
		if pages[i].Codec == ParquetCodecSnappy {
			compressed, largest = true, max(largest, int(pages[i].Size))
		}
	}
	if !compressed {
		return nil
	}
	link, expand := parquetLinkGrid(n, largest), parquetExpandGrid(n, largest)
	steps := []struct {
		launch func(*cuda.Stream, cuda.Grid, cuda.Ptr, cuda.Ptr, cuda.Ptr, uint32, cuda.Ptr) error
		grid   cuda.Grid
	}{
		{k.Link, link},
		{k.Walk, cuda.Grid{Blocks: uint32(n), Threads: parquetChainWalkThreads}},
		{k.Find, link},
		{k.Expand, expand},
		{k.Join, expand},
	}
	for _, step := range steps {
		if err := step.launch(stream, step.grid, parcel, work, list, uint32(n), stop); err != nil {
			return err
		}
	}
	return nil
}
