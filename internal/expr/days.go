package expr

import (
	"sync"
	"sync/atomic"
)

// ofDays is a value of each calendar day, such as its year. Rows of the same day follow each other
// more often than not, so the last day's value is kept. Where they do not, the values of the days
// from 1900 to 2099 are made once for all workers.
type ofDays struct {
	value func(days int64) int64
	once  sync.Once
	table atomic.Pointer[[tabledDays]int32] // from firstTabled on
}

const (
	firstTabled = -25567 // 1900-01-01
	tabledDays  = 73049  // to 2099-12-31

	// Rows of a batch that have another day than the row before, before values are looked up: where
	// the table is still to be made, which takes as long as 150 times so many rows, and where not.
	manyChanges, fewChanges = 512, 16
)

// put gives each row of out the value of its day. in has times, in steps of which perDay.d are a
// day.
func (d *ofDays) put(out, in []int64, perDay divisor) {
	left := manyChanges
	if d.table.Load() != nil {
		left = fewChanges
	}
	last, value := int64(0), d.value(0)
	for i, v := range in[:len(out)] {
		if days := perDay.floor(v); days != last {
			last, value = days, d.value(clampDays(days))
			if left--; left == 0 {
				d.lookUp(out[i:], in[i:], perDay)
				return
			}
		}
		out[i] = value
	}
}

// lookUp is put by the table.
func (d *ofDays) lookUp(out, in []int64, perDay divisor) {
	d.once.Do(func() {
		var made [tabledDays]int32
		for i := range made {
			made[i] = int32(d.value(firstTabled + int64(i)))
		}
		d.table.Store(&made)
	})
	table := d.table.Load()
	for i, v := range in[:len(out)] {
		days := perDay.floor(v)
		if at := uint64(days - firstTabled); at < uint64(len(table)) {
			out[i] = int64(table[at])
		} else {
			out[i] = d.value(clampDays(days))
		}
	}
}
