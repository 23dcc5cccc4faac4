package gagg

import "sync/atomic"

// budget counts the memory of a run and refuses what would pass the limit.
//
// While the input is read a part is held back for what comes after it:
// merging and putting out must not starve because the groups to be merged
// fill the memory.
//
// Memory that is set aside is taken, so that nobody else has it, but it is not held before it is made: what a run has held at most
// is memory, whatever was reserved beside it.
//
// Lists of what is on disk are counted, 48 bytes a block of 8 to 256 KiB, but nobody can refuse them (count). Blocks of a few rows do not
// stay (BLOCKS-FOLD in package partition), else their lists would leave nothing to others. Not counted are results that
// wait to be read, which have a share (MemoryPlan.Output), and what is little for its data: lists of pages of groups, 24 bytes for 8 KiB
// or more, and what a packer notes of the pages that it has put into a parcel, 40 bytes for each and 32 for each of its uses, 0.03 to
// 0.05 % of parcels of db-benchmark's table; a chunk of more than 2^10 pages is not packed.
type budget struct {
	limit    int64 // bytes; 0: none
	heldBack atomic.Int64
	used     atomic.Int64 // taken: held, or set aside
	held     atomic.Int64
	peak     atomic.Int64 // of held
}

// grow takes bytes that are made next, or gives them back if negative.
func (b *budget) grow(bytes int64) error { return b.growBeside(bytes, b.heldBack.Load()) }

// growBeside is grow, but leaves so many bytes to others.
func (b *budget) growBeside(bytes, others int64) error {
	if err := b.take(bytes, others); err != nil {
		return err
	}
	b.made(bytes)
	return nil
}

// setAside takes bytes that are not made yet, or gives them back if negative.
func (b *budget) setAside(bytes int64) error { return b.take(bytes, b.heldBack.Load()) }

// made says that so many of the bytes that are set aside are made next or, if negative, that they were freed and are aside again.
func (b *budget) made(bytes int64) {
	held := b.held.Add(bytes)
	for peak := b.peak.Load(); held > peak && !b.peak.CompareAndSwap(peak, held); {
		peak = b.peak.Load()
	}
}

// count takes bytes whatever the limit, or gives them back if negative: memory that is little and cannot be done without. Others have
// less for it.
func (b *budget) count(bytes int64) {
	b.used.Add(bytes)
	b.made(bytes)
}

// take takes bytes, or gives them back if negative, and leaves so many to others.
func (b *budget) take(bytes, others int64) error {
	used := b.used.Add(bytes)
	if bytes > 0 && b.limit > 0 && used > b.limit-others {
		b.used.Add(-bytes)
		return &BudgetError{Limit: b.limit, Want: used}
	}
	return nil
}
