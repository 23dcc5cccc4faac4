package kerneltest_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// codesRows is the rows of a row group, and page, of DuckDB.
const codesRows = 122880

// BenchmarkCodes decodes pages of dictionary codes of a row group's usual size;
// bytes are the words that they come to. runs=packed has those of 256 codes
// alone, runs=duckdb some of few equal codes between them as DuckDB writes v1 of
// db-benchmark, runs=short one of each kind after the other, of lengths as drawn.
func BenchmarkCodes(b *testing.B) {
	many := []int{1, 8}
	if gputest.Emulated() {
		many = many[:1]
	}
	for _, c := range []struct {
		name  string
		width int
		page  []byte
	}{
		{"packed", 7, codePage(7, 0, 256)},
		{"duckdb", 3, codePage(3, 100, 256)},
		{"short", 3, codePage(3, 1, 24)},
	} {
		if c.name == "short" && gputest.Emulated() {
			continue // takes seconds
		}
		for _, n := range many {
			b.Run(fmt.Sprintf("runs=%s/width=%d/pages=%d", c.name, c.width, n), func(b *testing.B) { benchCodes(b, c.page, n) })
		}
	}
}

// codePage is a page of codes of so many bits, all below 5. One packed run of
// every `rare` (0: none) has a run of equal codes before it; packed runs have
// `most` codes at most, and fewer if rare is 1.
func codePage(width, rare, most int) []byte {
	draws := rand.New(rand.NewPCG(3, 4))
	page := []byte{byte(width)}
	for rows, run := 0, 1; rows < codesRows; run++ {
		if rare != 0 && run%rare == 0 {
			n := 4 + draws.IntN(4)
			page = append(page, byte(n<<1), byte(draws.IntN(5)))
			rows += n
		}
		groups := most / 8
		if rare == 1 {
			groups = 1 + draws.IntN(groups)
		}
		page = append(page, byte(groups<<1|1))
		for range groups {
			var group uint64
			for i := range 8 {
				group |= uint64(draws.IntN(5)) << (i * width)
			}
			page = append(page, binary.LittleEndian.AppendUint64(nil, group)[:width]...)
		}
		rows += 8 * groups
	}
	return page
}

func benchCodes(b *testing.B, page []byte, n int) {
	d := newDevice(b)
	k, coded := family(d, kernels.LoadParquetDecode), family(d, kernels.LoadParquetCoded)
	room := kernels.ParquetRunsRoom(len(page))
	parcel := binary.LittleEndian.AppendUint64(nil, 0) // the entries
	for i := range uint64(4) {
		parcel = binary.LittleEndian.AppendUint64(parcel, i+1)
	}
	var pages []kernels.ParquetPage
	var tasks []kernels.ParquetTask
	for i := range uint32(n) {
		pages = append(pages, kernels.ParquetPage{
			At: uint64(len(parcel)), Bytes: uint32(len(page)), Size: uint32(len(page)), Rows: codesRows, First: i * codesRows, Coded: 1,
			Runs: uint64(i) * uint64(room),
		})
		tasks = append(tasks, kernels.ParquetTask{Page: i, Count: 5})
		parcel = append(append(parcel, page...), make([]byte, kernels.ParquetPadding+3)...)
	}
	job := kernels.ParquetJob{
		Parcel: upload(d, parcel), Work: upload(d, make([]byte, n*room)), Pages: upload(d, pages), Tasks: upload(d, tasks),
		Outputs: upload(d, []kernels.ParquetOutput{{Form: kernels.ParquetValue, Words: 1}}),
		Arrays:  upload(d, make([]uint64, n*codesRows)), Places: upload(d, make([]uint32, n*codesRows)), Stop: upload(d, []uint64{0}),
		ArrayWords: uint64(n * codesRows), PageCount: uint32(n), TaskCount: uint32(n), Rows: uint32(n * codesRows),
	}
	grid := kernels.ParquetValueGrid(n, codesRows)
	d.must(k.Levels(d.stream, kernels.ParquetLevelGrid(n, codesRows), job))
	decode := func() {
		d.must(coded.FindRuns(d.stream, pages, job))
		d.must(k.Values(d.stream, grid, job))
		d.must(d.stream.Synchronize())
	}
	decode() // warm
	b.SetBytes(int64(n * codesRows * 8))
	for b.Loop() {
		decode()
	}
	checkCodes(b, d, job, n)
}

// checkCodes wants every word to have become that of an entry.
func checkCodes(b *testing.B, d *device, job kernels.ParquetJob, n int) {
	b.Helper()
	if got := download[uint64](d, job.Stop, 1)[0]; got != 0 {
		b.Errorf("stop word %d", got)
	}
	used := [5]int{}
	for _, word := range download[uint64](d, job.Arrays, n*codesRows) {
		used[word]++
	}
	for word, rows := range used {
		if rows < n*codesRows/10 {
			b.Errorf("%d rows of %d have word %d", rows, n*codesRows, word)
		}
	}
}
