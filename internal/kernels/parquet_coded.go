package kernels

import "github.com/gagg-dev/gagg/internal/cuda"

// chainWindow is the bytes of a window of elements, chainWindowBytes what is known of one
// (chain_page.cuh).
const (
	chainWindow      = 4096
	chainWindowBytes = 12
)

// chainRoom is the bytes of work memory that chain_page.cuh takes for so many of elements.
func chainRoom(bytes int) int {
	return (bytes+3)&^3 + (bytes+chainWindow-1)/chainWindow*chainWindowBytes
}

// ParquetRunsRoom is the bytes of work memory, from Runs on, that a coded page of so many bytes, or
// one of texts, takes, decompressed: a multiple of 16.
func ParquetRunsRoom(bytes int) int { return align16(eachRoom + chainRoom(bytes)) }

const eachRoom = 16 // PARQUET_EACH_ROOM, of pages of texts

// FindRuns launches the kernels that find the runs of those of a job's pages that are coded, and
// the strings of those of texts.
func (k *ParquetCoded) FindRuns(stream *cuda.Stream, pages []ParquetPage, job ParquetJob) error {
	any, texts, largest := false, false, 0
	for i := range pages {
		texts = texts || pages[i].Texts != 0
		if pages[i].Coded != 0 || pages[i].Texts != 0 {
			any, largest = true, max(largest, int(pages[i].Size))
		}
	}
	if !any {
		return nil
	}
	if texts {
		if err := k.Even(stream, cuda.Grid{Blocks: uint32(len(pages)), Threads: parquetLinkThreads}, job); err != nil {
			return err
		}
	}
	grid := parquetLinkGrid(len(pages), largest)
	if err := k.Link(stream, grid, job); err != nil {
		return err
	}
	if err := k.Walk(stream, cuda.Grid{Blocks: uint32(len(pages)), Threads: parquetChainWalkThreads}, job); err != nil {
		return err
	}
	return k.Find(stream, grid, job)
}
