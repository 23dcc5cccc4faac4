package budget

import (
	"sync"
	"sync/atomic"
)

// Reservations counts the bytes of a lender that are reserved, not yet made, and not given back.
// The zero value has none.
type Reservations struct{ bytes atomic.Int64 }

// Bytes is how many they are.
func (r *Reservations) Bytes() int64 { return r.bytes.Load() }

// Reserve reserves bytes of a lender. If all reservations together would pass most bytes (0: any
// number), it is refused with full. A Lender that is no Budget counts the bytes as committed at
// once.
func (r *Reservations) Reserve(from Lender, bytes, most int64, full *Error) (*Reservation, error) {
	if all := r.bytes.Add(bytes); most > 0 && bytes > 0 && all > most {
		r.bytes.Add(-bytes)
		return nil, full
	}
	if err := reserve(from, bytes); err != nil {
		r.bytes.Add(-bytes)
		return nil, err
	}
	return &Reservation{from: from, all: r, left: bytes}, nil
}

// Reservation is bytes that are reserved before they are made, for an owner who could not go on
// without: nobody else can have them. They count as committed as far as the owner makes them. The
// zero Reservation has none, nor has nil.
//
// As a Lender it lends what is left of it. Once it is closed it lends what its own lender has,
// and releases to that one even what was drawn before.
type Reservation struct {
	Full *Error // what Draw refuses with when too little is left; nil: one that says just that

	from   Lender
	all    *Reservations
	mu     sync.Mutex
	left   int64 // bytes that are not made
	closed bool
}

var _ Lender = (*Reservation)(nil)

// Commit reports whether so many bytes are left, which the owner makes next.
func (r *Reservation) Commit(bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > r.left {
		return false
	}
	r.move(bytes)
	return true
}

// Uncommit takes back bytes of Commit that were freed, before Close.
func (r *Reservation) Uncommit(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.move(-bytes)
}

func (r *Reservation) move(bytes int64) {
	r.left -= bytes
	if b, ok := r.from.(*Budget); ok {
		b.commit(bytes)
	}
}

// Draw is part of a Lender: Commit or, once it is closed, Draw of its own lender.
func (r *Reservation) Draw(bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return r.from.Draw(bytes)
	case bytes <= r.left:
		r.move(bytes)
		return nil
	case r.Full != nil:
		return r.Full
	}
	return &Error{Why: "what was reserved is used up"}
}

// Release is part of a Lender: Uncommit or, once it is closed, Release to its own lender.
func (r *Reservation) Release(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.from.Release(bytes)
		return
	}
	r.move(-bytes)
}

// Split makes a Reservation of so many bytes of what is left; nil: fewer are.
func (r *Reservation) Split(bytes int64) *Reservation {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > r.left {
		return nil
	}
	r.left -= bytes
	return &Reservation{from: r.from, all: r.all, left: bytes}
}

// Close gives back what is left. The owner releases what is committed. A second call does
// nothing.
func (r *Reservation) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.left > 0 {
		r.all.bytes.Add(-r.left)
		unreserve(r.from, r.left)
		r.left = 0
	}
}

func reserve(from Lender, bytes int64) error {
	if b, ok := from.(*Budget); ok {
		return b.reserveBeside(bytes, b.heldBack.Load())
	}
	return from.Draw(bytes)
}

func unreserve(from Lender, bytes int64) {
	if b, ok := from.(*Budget); ok {
		b.reserved.Add(-bytes)
		return
	}
	from.Release(bytes)
}
