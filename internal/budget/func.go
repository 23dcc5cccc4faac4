package budget

// Grow is a lender as a function, which is told of what is released as a negative number.
func Grow(l Lender) func(bytes int64) error {
	return func(bytes int64) error {
		if bytes < 0 {
			l.Release(-bytes)
			return nil
		}
		return l.Draw(bytes)
	}
}

// SetAside reserves bytes, or gives them back if negative.
func (b *Budget) SetAside(bytes int64) error { return b.reserveBeside(bytes, b.heldBack.Load()) }

// Commit is commit.
func (b *Budget) Commit(bytes int64) { b.commit(bytes) }

// Func is a function as a lender.
type Func func(bytes int64) error

// Draw is part of a Lender.
func (f Func) Draw(bytes int64) error { return f(bytes) }

// Release is part of a Lender.
func (f Func) Release(bytes int64) { _ = f(-bytes) }

// OfFunc is f as a lender; nil: nil.
func OfFunc(f func(bytes int64) error) Lender {
	if f == nil {
		return nil
	}
	return Func(f)
}
