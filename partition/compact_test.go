package partition

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/spill"
)

// firstRefs is the refs of rows whose second word refers to a value, or is 0.
type firstRefs struct{ arenas *arena.Arenas }

func (r firstRefs) Move(row []uint64, to arena.Putter) error {
	if row[1] != 0 {
		row[1] = to.Put(r.arenas.Get(row[1]))
	}
	return nil
}

func (r firstRefs) Rebase(row []uint64, add uint64) {
	if row[1] != 0 {
		row[1] += add
	}
}

// compactTrial is rows of random hashes, numbered, that are spilled again and again while
// partitions have a row or two each.
type compactTrial struct {
	disk    *Disk
	buckets *Buckets
	arenas  *arena.Arenas
	values  bool // two rows of three have one
}

const compactRows = 20_000

// Where partitions are spilled with a row or two each, their lists stay short and all rows come
// back, with and without values.
func TestCompact(t *testing.T) {
	t.Parallel()
	const bits, stride = 4, 3
	for _, values := range []bool{false, true} {
		t.Run(fmt.Sprintf("values=%t", values), func(t *testing.T) {
			listed, most := int64(0), int64(0)
			space, err := spill.Open(spill.Config{Dir: t.TempDir(), Listed: func(bytes int64) {
				listed += bytes
				most = max(most, listed)
			}})
			if err != nil {
				t.Fatal(err)
			}
			f := compactTrial{arenas: &arena.Arenas{}, values: values}
			defer f.arenas.Close()
			var refs Refs
			if values {
				refs = firstRefs{f.arenas}
			}
			pool := NewPool(stride, nil)
			defer pool.Reset()
			f.disk = NewDisk(space.File, refs, stride, leastBlock)
			f.buckets = New(0, bits, pool, f.disk)
			f.spill(t)
			f.check(t)
			// Rows take 700 KiB at most, values included: large blocks, and a list of small ones
			// for each partition.
			if limit := int64(48 * (700<<10/smallBlock + 1<<bits*(mostSmall+1))); most > limit {
				t.Errorf("lists took %d bytes, want %d at most", most, limit)
			}
			if err := f.disk.Close(); err != nil {
				t.Error(err)
			}
			if err := space.Close(); err != nil {
				t.Error(err)
			}
			if listed != 0 {
				t.Errorf("%d bytes are listed in the end", listed)
			}
		})
	}
}

func (f *compactTrial) spill(t *testing.T) {
	t.Helper()
	rng, mine := rand.New(rand.NewPCG(7, 7)), f.arenas.New()
	for i := range compactRows {
		row := []uint64{rng.Uint64(), 0, uint64(i)}
		if v := f.value(i); v != "" {
			row[1] = mine.Put([]byte(v))
		}
		if _, err := f.buckets.Scatter(row); err != nil {
			t.Fatal(err)
		}
		if i%24 == 23 || i == compactRows-1 {
			if err := f.buckets.Spill(f.buckets.Bytes()); err != nil {
				t.Fatal(err)
			}
			mine.Reset()
		}
	}
}

func (f *compactTrial) value(i int) string {
	if !f.values || i%3 == 0 {
		return ""
	}
	return fmt.Sprint("value ", i)
}

// check checks that the blocks of all partitions hold each row once, with its value, in the order
// in which rows of a partition came.
func (f *compactTrial) check(t *testing.T) {
	t.Helper()
	if n := f.buckets.AllRows(); n != compactRows {
		t.Errorf("%d of %d rows", n, compactRows)
	}
	seen := make([]bool, compactRows)
	var page Page
	for p := range f.buckets.Partitions() {
		last := -1
		for _, block := range f.buckets.Blocks(p) {
			if err := f.disk.Read(block, &page); err != nil {
				t.Fatal(err)
			}
			base := f.arenas.Adopt(page.Section)
			for rows := page.Rows; len(rows) > 0; rows = rows[f.disk.stride:] {
				i := int(rows[2])
				if seen[i] || i <= last {
					t.Fatalf("partition %d: row %d comes behind %d, or again", p, i, last)
				}
				seen[i], last = true, i
				if rows[1] != 0 {
					rows[1] += base
				}
				if got := string(f.arenas.Get(rows[1])); got != f.value(i) {
					t.Fatalf("row %d has the value %q, want %q", i, got, f.value(i))
				}
			}
			f.arenas.Drop(base)
		}
	}
}
