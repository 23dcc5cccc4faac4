package lake

import (
	"math/bits"
	"slices"

	"github.com/gagg-dev/gagg/internal/budget"
)

// Rows is numbers of rows of a file, as bits in blocks of 2^16 rows.
type Rows struct {
	keys []uint64 // ascending: the rows of bits[i] are those from keys[i] << 16 on
	bits []*Block
}

// Block is a bit for each of 2^16 rows.
type Block [BlockWords]uint64

// Sizes of blocks.
const (
	BlockRows  = 1 << 16
	BlockWords = BlockRows / 64
	blockBytes = BlockRows / 8
)

// Block finds the block of the rows from key << 16 on, or makes it, of memory of a lender.
func (r *Rows) Block(key uint64, from budget.Lender) (*Block, error) {
	at, there := len(r.keys), false
	if n := len(r.keys); n > 0 && r.keys[n-1] >= key { // rows mostly come in order
		at, there = slices.BinarySearch(r.keys, key)
	}
	if !there {
		if err := from.Draw(blockBytes); err != nil {
			return nil, err
		}
		r.keys, r.bits = slices.Insert(r.keys, at, key), slices.Insert(r.bits, at, new(Block))
	}
	return r.bits[at], nil
}

// Add adds a row.
func (r *Rows) Add(row uint64, from budget.Lender) error {
	b, err := r.Block(row/BlockRows, from)
	if err == nil {
		b.Set(row % BlockRows)
	}
	return err
}

// Unite adds all rows of another set.
func (r *Rows) Unite(other *Rows, from budget.Lender) error {
	for i, key := range other.keys {
		b, err := r.Block(key, from)
		if err != nil {
			return err
		}
		for k, w := range other.bits[i] {
			b[k] |= w
		}
	}
	return nil
}

// Count is how many rows there are.
func (r *Rows) Count() (n int64) {
	for _, b := range r.bits {
		for _, w := range b {
			n += int64(bits.OnesCount64(w))
		}
	}
	return n
}

// Set sets the bit of a row, counted from the block's first.
func (b *Block) Set(row uint64) { b[row/64] |= 1 << (row % 64) }

// Left appends to sel which of n rows from first on are not among r, counted from first.
func (r *Rows) Left(first int64, n int, sel []int32) []int32 {
	for i := 0; i < n; {
		row := uint64(first) + uint64(i)
		end := min(n, i+int(BlockRows-row%BlockRows))
		at, there := slices.BinarySearch(r.keys, row/BlockRows)
		for ; i < end; i++ {
			low := (uint64(first) + uint64(i)) % BlockRows
			if !there || r.bits[at][low/64]>>(low%64)&1 == 0 {
				sel = append(sel, int32(i))
			}
		}
	}
	return sel
}
