package ondevice

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

const (
	// MaxBits is the most hash bits that one division on the device takes:
	// two levels.
	MaxBits = 2 * kernels.ScatterMostBits
	// MaxStride is the most words of a row on the device.
	MaxStride = 64
)

// Rows says how rows of groups lie in device memory, and how they are
// divided there: by the same bits as in Buckets (HASH-BITS).
type Rows struct {
	// Stride is the words of a row, 1 to MaxStride. An even number moves 16 bytes at a time.
	Stride int
	// Keyed: the first word of a row is not its hash, but its key of one word,
	// which the device hashes as package key hashes an integer.
	Keyed bool
	// Skip is how many hash bits levels above have spent.
	Skip uint
	// Bits is how many bits choose the partition: there are 2^Bits.
	Bits uint
	// TileRows is how many rows a block divides at once; 0, or too many: as many as its shared
	// memory holds.
	TileRows int
}

// Validate reports everything that is wrong.
func (d Rows) Validate() error {
	var errs []error
	if d.Stride < 1 || d.Stride > MaxStride {
		errs = append(errs, fmt.Errorf("rows of %d words: not 1 to %d", d.Stride, MaxStride))
	}
	if d.Bits > MaxBits {
		errs = append(errs, fmt.Errorf("2^%d partitions: more than 2^%d", d.Bits, MaxBits))
	}
	if d.Skip > 63 || d.Skip+d.Bits > 64 {
		errs = append(errs, fmt.Errorf("%d bits behind the first %d: a hash has 64", d.Bits, d.Skip))
	}
	if d.TileRows < 0 {
		errs = append(errs, fmt.Errorf("tiles of %d rows", d.TileRows))
	}
	return errors.Join(errs...)
}

// Partitions is how many there are.
func (d Rows) Partitions() int { return 1 << d.Bits }

// Partition is the partition of a row. It is the reference for what kernels do.
func (d Rows) Partition(row []uint64) int {
	h := row[0]
	if d.Keyed {
		hi, lo := bits.Mul64(h^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
		h = hi ^ lo
	}
	return int(h << d.Skip >> (64 - d.Bits)) // a shift by 64 gives 0, for one partition
}

// bytes is the size of n rows.
func (d Rows) bytes(n int) cuda.Size { return cuda.Size(n) * cuda.Size(d.Stride) * 8 }

// View is n rows at an address, as kernels take them. They are divided by `chosen` bits after the
// first `skip` bits.
func (d Rows) View(at cuda.Span, n int, skip, chosen uint, tile uint32) kernels.ScatterRows {
	hashed := uint32(1)
	if d.Keyed {
		hashed = 0
	}
	return kernels.ScatterRows{
		Words: at.Ptr, Count: uint32(n), Stride: uint32(d.Stride), Hashed: hashed,
		Skip: uint32(skip), Bits: uint32(chosen), Most: tile,
	}
}

// BlockRows is how many rows a block divides at once, if each partition takes perPartition bytes
// of its shared memory.
func (d Rows) BlockRows(t *cuda.Thread, chosen uint, perPartition uint32) uint32 {
	rows := kernels.ScatterTile(uint32(d.Stride), uint32(chosen), perPartition, t.Context().Device().SharedPerBlock)
	if d.TileRows > 0 {
		rows = min(rows, uint32(d.TileRows))
	}
	return rows
}

// Fits checks that a span can hold n rows.
func (d Rows) Fits(what string, at cuda.Span, n int) error {
	if n < 0 || d.bytes(n) > at.Size {
		return fmt.Errorf("%s: %d rows of %d words in %v", what, n, d.Stride, at.Size)
	}
	return nil
}

// ReadWords reads words of 32 bits.
func ReadWords(t *cuda.Thread, span cuda.Span) ([]uint32, error) {
	raw := make([]byte, span.Size)
	if err := t.Read(raw, span); err != nil {
		return nil, err
	}
	words := make([]uint32, len(raw)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return words, nil
}
