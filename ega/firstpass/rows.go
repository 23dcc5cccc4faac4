package firstpass

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Kept is the rows that a finished pass has kept in pinned memory. Each is taken once, by Take or by Drain, of which one is used.
// Take is called from any goroutine. It outlives its pass, not its context; Close comes when no span is used any more.
type Kept struct {
	buffers []*keptBuffer
	spans   []KeptSpan // in order of hash
	bits    uint
	rows    uint64
	row     cuda.Size
}

// MostKeptBits is the most that Kept.Bits says.
const MostKeptBits = poolBits

// Kept hands over the rows that were kept (Config.Keep), once, when Finish has returned: they are the caller's to
// close. nil: there are none.
func (m *Pass) Kept() *Kept {
	buffers := m.kept.full
	m.kept.full = nil
	if len(buffers) == 0 {
		return nil
	}
	k := &Kept{buffers: buffers, bits: MostKeptBits, row: m.plan.layout.RowBytes()}
	for _, b := range buffers {
		b.left.Store(int32(len(b.spans)))
		k.spans = append(k.spans, b.spans...)
		for _, s := range b.spans {
			k.bits = min(k.bits, s.bits)
			k.rows += uint64((s.end - s.from) / k.row)
		}
	}
	slices.SortStableFunc(k.spans, func(a, b KeptSpan) int { return cmp.Compare(a.start, b.start) })
	return k
}

// Len is how many rows there are.
func (k *Kept) Len() uint64 { return k.rows }

// Bits is how many top bits of the hash chains were told apart by, at least: rows that share more than these cannot be
// taken alone.
func (k *Kept) Bits() uint { return k.bits }

// Sizes is how many rows there are by the top bits of their hash, of which there are Bits at most.
func (k *Kept) Sizes(bits uint) []uint64 {
	sizes := make([]uint64, 1<<bits)
	for _, s := range k.spans {
		sizes[s.start>>1>>(63-bits)] += uint64((s.end - s.from) / k.row)
	}
	return sizes
}

// Take is the rows whose hashes have `bits` top bits, at most Bits, that are the number prefix. Each span is the caller's until
// it is Done.
func (k *Kept) Take(prefix uint64, bits uint) []KeptSpan {
	from := func(number uint64) int {
		at, _ := slices.BinarySearchFunc(k.spans, number, func(s KeptSpan, number uint64) int {
			return cmp.Compare(s.start>>1>>(63-bits), number)
		})
		return at
	}
	return k.spans[from(prefix):from(prefix+1)]
}

// Drain gives place all rows, a buffer at a time, from so many goroutines at once, each with its number from 0, and frees each
// buffer behind it. place copies the rows; its first error ends it.
func (k *Kept) Drain(goroutines int, place func(goroutine int, rows []uint64) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	errs := make(chan error, goroutines)
	for g := range goroutines {
		go func() {
			errs <- invariant.Fenced(func() error {
				for n := next.Add(1) - 1; n < int64(len(k.buffers)) && !failed.Load(); n = next.Add(1) - 1 {
					if err := k.buffers[n].drain(func(rows []uint64) error { return place(g, rows) }); err != nil {
						failed.Store(true)
						return err
					}
				}
				return nil
			})
		}()
	}
	var err error
	for range goroutines {
		err = errors.Join(err, <-errs)
	}
	return err
}

// drain gives place all rows of a buffer, and frees it.
func (b *keptBuffer) drain(place func(rows []uint64) error) error {
	for i := range b.spans {
		if err := place(b.spans[i].Rows()); err != nil {
			return err
		}
	}
	return b.free()
}

// Close frees what is left, whoever has it. A second call does nothing.
func (k *Kept) Close() error {
	var errs []error
	for _, b := range k.buffers {
		errs = append(errs, b.free())
	}
	k.buffers, k.spans = nil, nil
	return errors.Join(errs...)
}
