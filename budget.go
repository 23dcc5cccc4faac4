package gagg

import "sync/atomic"

// budget counts the memory of a run and refuses what would pass the limit.
//
// While the input is read a part is held back for what comes after it:
// merging and putting out must not starve because the groups to be merged
// fill the memory.
type budget struct {
	limit    int64 // bytes; 0: none
	heldBack atomic.Int64
	used     atomic.Int64
	peak     atomic.Int64
}

// grow takes bytes, or gives them back if negative.
func (b *budget) grow(bytes int64) error { return b.growBeside(bytes, b.heldBack.Load()) }

// growBeside is grow, but leaves so many bytes to others.
func (b *budget) growBeside(bytes, others int64) error {
	used := b.used.Add(bytes)
	if bytes <= 0 {
		return nil
	}
	if b.limit > 0 && used > b.limit-others {
		b.used.Add(-bytes)
		return &BudgetError{Limit: b.limit, Want: used}
	}
	b.note(used)
	return nil
}

// note keeps the highest use.
func (b *budget) note(used int64) {
	for peak := b.peak.Load(); used > peak && !b.peak.CompareAndSwap(peak, used); {
		peak = b.peak.Load()
	}
}
