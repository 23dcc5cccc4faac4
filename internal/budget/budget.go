package budget

import (
	"math"
	"sync/atomic"
)

// Lender is what bytes are drawn from. Where a configuration allows nil, nil has no limit: see
// [Or].
type Lender interface {
	// Draw takes bytes that the caller makes next, or refuses them with an *Error.
	Draw(bytes int64) error
	// Release gives back bytes that were drawn and are freed.
	Release(bytes int64)
}

// Budget is the bytes of one resource.
type Budget struct {
	of        Resource
	limit     atomic.Int64 // 0: none
	heldBack  atomic.Int64
	reserved  atomic.Int64
	committed atomic.Int64
	peak      atomic.Int64 // of committed
}

var _ Lender = (*Budget)(nil)

// New returns a budget of so many bytes, none of which is reserved; 0: there is no limit.
func New(of Resource, limit int64) *Budget {
	b := &Budget{of: of}
	b.limit.Store(limit)
	return b
}

// Limit is the most bytes that may be reserved; 0: there is no limit.
func (b *Budget) Limit() int64 { return b.limit.Load() }

// SetLimit changes the limit. What is reserved stays so, also beyond it.
func (b *Budget) SetLimit(bytes int64) { b.limit.Store(bytes) }

// HoldBack leaves so many bytes to others from now on, in place of those before.
func (b *Budget) HoldBack(bytes int64) { b.heldBack.Store(bytes) }

// Reserved is how many bytes are somebody's.
func (b *Budget) Reserved() int64 { return b.reserved.Load() }

// Committed is how many bytes of these are made.
func (b *Budget) Committed() int64 { return b.committed.Load() }

// Peak is the most that Committed has been.
func (b *Budget) Peak() int64 { return b.peak.Load() }

// Draw is part of a Lender. It leaves to others what is held back.
func (b *Budget) Draw(bytes int64) error { return b.drawBeside(bytes, b.heldBack.Load()) }

// Release is part of a Lender.
func (b *Budget) Release(bytes int64) {
	b.reserved.Add(-bytes)
	b.committed.Add(-bytes)
}

// Count draws bytes whatever the limit, or releases them if negative. It is for a little memory
// that a run cannot do without: others have less for it.
func (b *Budget) Count(bytes int64) {
	b.reserved.Add(bytes)
	b.commit(bytes)
}

// Beside is the budget, but leaves so many bytes to others, whatever is held back.
func (b *Budget) Beside(others int64) Lender { return beside{b, others} }

type beside struct {
	*Budget
	others int64
}

func (b beside) Draw(bytes int64) error { return b.drawBeside(bytes, b.others) }

func (b *Budget) drawBeside(bytes, others int64) error {
	if err := b.reserveBeside(bytes, others); err != nil {
		return err
	}
	b.commit(bytes)
	return nil
}

// reserveBeside reserves bytes, and leaves so many to others.
func (b *Budget) reserveBeside(bytes, others int64) error {
	for {
		reserved := b.reserved.Load()
		if limit := b.limit.Load(); limit > 0 && bytes > 0 && bytes > limit-others-reserved {
			return &Error{Of: b.of, Limit: limit, Used: reserved, Want: sum(reserved, bytes)} // BUDGET-WHOLE
		}
		if b.reserved.CompareAndSwap(reserved, reserved+bytes) {
			return nil
		}
	}
}

// commit says that so many reserved bytes are made or, if negative, that they are not any more.
func (b *Budget) commit(bytes int64) {
	committed := b.committed.Add(bytes)
	for peak := b.peak.Load(); committed > peak && !b.peak.CompareAndSwap(peak, committed); {
		peak = b.peak.Load()
	}
}

// sum is a + b, neither of which is negative, or the most that there is.
func sum(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
