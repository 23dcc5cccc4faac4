package budget

// Or is l, or a lender that has no limit and counts nothing if it is nil.
func Or(l Lender) Lender {
	if l == nil {
		return unlimited{}
	}
	return l
}

type unlimited struct{}

func (unlimited) Draw(int64) error { return nil }
func (unlimited) Release(int64)    {}

// Checked is a part of what l has. A draw asks check first, which may refuse it with an *Error,
// and then l. A release goes to l.
func Checked(l Lender, check func(bytes int64) error) Lender { return checked{l, check} }

type checked struct {
	Lender
	check func(bytes int64) error
}

func (c checked) Draw(bytes int64) error {
	if err := c.check(bytes); err != nil {
		return err
	}
	return c.Lender.Draw(bytes)
}
