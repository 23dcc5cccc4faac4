package parquetio

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/corpus"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// original is a good file that mutants are made of.
type original struct {
	name string
	data []byte
}

// originals are the files of smallFiles, and those of the corpora that are quick to read.
func originals(t testing.TB) (files []original) {
	for i, data := range smallFiles(t) {
		files = append(files, original{fmt.Sprint("small file ", i), data})
	}
	for _, c := range corpus.Folders(t) {
		for _, name := range corpus.Files(t, c.Dir, "valid") {
			data, err := os.ReadFile(filepath.Join(c.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if len(data) <= 100_000 {
				files = append(files, original{name, data})
			}
		}
	}
	return files
}

// choices is a source of numbers that come from bytes, as long as there are any.
type choices struct {
	bytes []byte
	then  rand.PCG
}

func newChoices(b []byte) *rand.Rand {
	h := fnv.New64a()
	h.Write(b)
	return rand.New(&choices{b, *rand.NewPCG(h.Sum64(), 0)})
}

func (c *choices) Uint64() uint64 {
	if len(c.bytes) < 2 {
		return c.then.Uint64()
	}
	high := uint64(binary.LittleEndian.Uint16(c.bytes)) << 48 // what small numbers are made of
	c.bytes = c.bytes[2:]
	return high | c.then.Uint64()>>16
}

// FuzzMutant is FuzzFile for files that are wrong in a few places and right in all others, so
// that they reach every decoder: see datagen.Mutant. The bytes make its choices.
func FuzzMutant(f *testing.F) {
	files := originals(f)
	for i := range files {
		f.Add(uint16(i), []byte{byte(i), byte(i >> 8), 1, 2, 3, 4, 5, 6})
	}
	f.Fuzz(func(t *testing.T, file uint16, b []byte) {
		from := files[int(file)%len(files)]
		surviveMutant(t, from, newChoices(b), fmt.Sprintf("choices %x", b))
	})
}

// TestMutants does the same with some hundred mutants.
func TestMutants(t *testing.T) {
	files := originals(t)
	for seed := range uint64(600) {
		from := files[seed%uint64(len(files))]
		surviveMutant(t, from, rand.New(rand.NewPCG(mutationSeed, seed)), fmt.Sprint("seed ", seed))
		if t.Failed() {
			return
		}
	}
}

// surviveMutant makes a mutant and reads it in every way. Each way has the same outcome, and
// keeps to the time and the memory that any bytes may take.
func surviveMutant(t *testing.T, from original, rng *rand.Rand, seed string) {
	data, what := datagen.Mutant(from.data, rng)
	called := fmt.Sprintf("%s, %s: %s", from.name, seed, what)
	start := spent()
	bounded.Wait(t, called, func() {
		survive(t, data)
		alike(t, data)
		surviveEncoded(t, data)
	})
	if took := spent() - start; took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if t.Failed() {
		t.Log(called)
		if dir := os.Getenv("GAGG_MUTANTS"); dir != "" {
			_ = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%x.parquet", rng.Uint32())), data, 0o600)
		}
	}
}

// mutantRows is how many rows a file has at most that is read in several ways.
const mutantRows = 20_000

// alike reads the columns of a file in steps of two sizes, and single rows here and there. All
// ways read the same, or all fail.
func alike(t *testing.T, data []byte) {
	limits := func() Options {
		return Options{Limits: Limits{MaxPage: 8 << 20, MaxFooter: 1 << 20, Budget: budgettest.Lender((&ledger{limit: 64 << 20}).grow)}}
	}
	d, err := openBytes(t, limits(), data)
	if err != nil {
		return
	}
	defer d.Close()
	if d.Rows() > mutantRows {
		return
	}
	var cols []int
	for i := range d.table.cols {
		if d.table.readable("", i) == nil && len(cols) < 8 {
			cols = append(cols, i)
		}
	}
	if len(cols) == 0 {
		return
	}
	places := make([]int, len(cols))
	for i := range places {
		places[i] = i
	}
	read := func(batch int, keep func(*column.Batch, int) bool) ([]string, error) {
		s, err := d.Scan(ScanOptions{Columns: cols, BatchRows: batch, SkipColumns: places, Skip: func(bounds func(int) column.Bounds) bool {
			for i := range places {
				bounds(i) // of pages too; whatever they are, nothing is ruled out
			}
			return false
		}})
		if err != nil {
			return nil, err
		}
		text, _, err := readLate(s, []int{0}, keep)
		return text, err
	}
	whole, err := read(1000, nil)
	parts, err2 := read(7, nil)
	if (err == nil) != (err2 == nil) || err == nil && !slices.Equal(whole, parts) {
		t.Errorf("%d rows, %v in steps of 1000; %d rows, %v in steps of 7", len(whole), err, len(parts), err2)
	}
	if err != nil {
		return
	}
	some, err := read(100, func(b *column.Batch, i int) bool { return (b.First+int64(i))/50%3 == 1 })
	var want []string
	for i, row := range whole {
		if i/50%3 == 1 {
			want = append(want, row)
		}
	}
	if err != nil || !slices.Equal(some, want) {
		t.Errorf("%d rows of those that a filter leaves, want %d; %v", len(some), len(want), err)
	}
}
