package budget

import "sync/atomic"

// Debt is bytes that an owner took although the lender refused them, in the middle of something
// that cannot stop. They are owed until they are drawn after all, at the next moment when a
// refusal can be dealt with. The zero value owes nothing. All methods are given the same lender.
type Debt struct{ bytes atomic.Int64 }

// DrawOrOwe draws bytes that the caller makes next, or owes them.
func (d *Debt) DrawOrOwe(from Lender, bytes int64) {
	if from.Draw(bytes) != nil {
		d.bytes.Add(bytes)
	}
}

// Settle draws what is owed, or is refused it, and owes it still.
func (d *Debt) Settle(from Lender) error {
	if d.bytes.Load() == 0 {
		return nil
	}
	owed := d.bytes.Swap(0)
	err := from.Draw(owed)
	if err != nil {
		d.bytes.Add(owed)
	}
	return err
}

// Release gives back bytes that were taken and are freed. Owed bytes come first: they were never
// drawn.
func (d *Debt) Release(from Lender, bytes int64) {
	for {
		owed := d.bytes.Load()
		if paid := min(owed, bytes); d.bytes.CompareAndSwap(owed, owed-paid) {
			from.Release(bytes - paid)
			return
		}
	}
}
