package gagg

import "sync/atomic"

// budget counts the memory of a run and refuses what would pass the limit.
type budget struct {
	limit int64 // 0: none
	used  atomic.Int64
	peak  atomic.Int64
}

// grow takes bytes, or gives them back if negative.
func (b *budget) grow(bytes int64) error {
	used := b.used.Add(bytes)
	if bytes <= 0 {
		return nil
	}
	if b.limit > 0 && used > b.limit {
		b.used.Add(-bytes)
		return &BudgetError{Limit: b.limit, Want: used}
	}
	for {
		peak := b.peak.Load()
		if used <= peak || b.peak.CompareAndSwap(peak, used) {
			return nil
		}
	}
}
