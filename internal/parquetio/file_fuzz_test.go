package parquetio

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// smallFiles are files of a few pages in every type, encoding and codec.
func smallFiles(t testing.TB) (files [][]byte) {
	for _, c := range wireCases() {
		r := rand.New(rand.NewPCG(1, 1))
		for i, enc := range c.encodings {
			node, nulls := parquet.Encoded(c.node, enc), -1.0
			if i%2 == 0 {
				nulls = 0.2
				node = parquet.Optional(parquet.Compressed(node, &parquet.Snappy))
			}
			in, _ := makeColumn(c, r, 60, nulls)
			files = append(files, writeColumn(t, node, 1+i%2, in))
		}
	}
	dict := dictPage(3, cat(le32(5), le32(7), le32(9))...)
	coded := pageV1(format.RLEDictionary, 3, cat(sized(levelRuns...), []byte{2, 3, 0b1001})...)
	for _, codec := range []format.CompressionCodec{format.Uncompressed, format.Gzip, format.Brotli, format.Lz4, format.Zstd, format.Lz4Raw} {
		files = append(files, fileBuilder{rows: 3, codec: codec, pages: []page{dict, coded}}.build(t))
	}
	return files
}

// FuzzFile: whatever the bytes, reading them ends, with vectors that keep
// package column's promises or with an *Error, and within memory that the
// bytes and the limits justify.
func FuzzFile(f *testing.F) {
	for _, data := range smallFiles(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { survive(t, data) })
}

// TestFileMutated does the same with a few bytes of good files changed, which
// gets past the footer more often than a fuzzer does.
func TestFileMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(uint64(mutationSeed), 0))
	for _, good := range smallFiles(t) {
		for range 60 {
			survive(t, mutated(r, good))
			if t.Failed() {
				return
			}
		}
	}
}

const mutationSeed = 1

func mutated(r *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(data))
		switch r.IntN(4) {
		case 0:
			data[at] ^= 1 << r.IntN(8)
		case 1:
			data[at] = byte(r.Uint32())
		case 2:
			extremes := []uint32{0, 1, math.MaxInt32, 1 << 31, math.MaxUint32}
			copy(data[at:], le32(extremes[r.IntN(len(extremes))]))
		case 3:
			copy(data[at:], data[r.IntN(len(data)-8):][:r.IntN(8)])
		}
	}
	return data
}

// survive reads data and checks the promises that hold for any bytes, F15
// among them: under a budget, no more is allocated than was drawn from it
// before, but for what a column or a page takes anyway, a few KiB each.
func survive(t *testing.T, data []byte) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := &ledger{limit: 16 << 20}
	if err := readSome(t, data, Limits{MaxPage: 8 << 20, MaxFooter: 1 << 20, Budget: budgettest.Lender(l.grow)}); err != nil {
		var typed *Error
		if !errors.As(err, &typed) {
			t.Errorf("not an *Error: %v", err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > l.gross+4<<20+8*int64(len(data)) {
		t.Errorf("allocated %d bytes for a file of %d, %d were drawn", grown, len(data), l.gross)
	}
	l.settled(t)
}

// readSome reads at most 100,000 rows of each column: a file of a few bytes
// may rightly hold billions.
func readSome(t *testing.T, data []byte, lim Limits) error {
	f, err := openFile("f", bytes.NewReader(data), int64(len(data)), lim)
	if err != nil {
		return err
	}
	defer f.metadata.close()
	for i := range min(len(f.leaves), 20) {
		if err := readSomeOf(t, f, i); err != nil {
			return err
		}
	}
	return nil
}

func readSomeOf(t *testing.T, f *file, leaf int) error {
	if f.leaves[leaf].err != nil {
		return nil
	}
	work := newWorkspace(f.limits.Budget, 1000)
	defer work.close()
	c, err := newColumnReader(f, leaf, f.leaves[leaf].typ, work)
	if err != nil {
		return err
	}
	defer c.close()
	var v column.Vector
	rows := 0
	for g := range min(len(f.groups), 20) {
		if err := c.open(g); err != nil {
			return err
		}
		for rows < 100_000 {
			n, err := c.available()
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			n = min(n, 1000)
			if err := c.read(&v, n); err != nil {
				return err
			}
			checkVector(t, &v)
			rows += n
		}
	}
	return nil
}
