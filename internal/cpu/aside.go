package cpu

import "sync"

// Aside is memory that is drawn from the budget as a whole before it is made: it is there for an owner who could not go on without,
// whoever has all other memory by then. It counts as held as far as it is made.
//
//	SetAside ──▶ aside ──Take──▶ made ──Config.Grow(-n)──▶ the budget's again
//	               │  ▲───Put──────┘
//	             Close ──▶ the budget's again
//
// Any goroutine may use it. The zero Aside is empty.
type Aside struct {
	cfg  *Config
	mu   sync.Mutex
	left int64 // bytes that are not made
}

// SetAside draws so many bytes. Its error is a RefusedError, also where they would leave workers less than these keep in any case (share):
// readers, who cannot go on without memory, would find that it is gone.
func (c *Config) SetAside(bytes int64) (*Aside, error) {
	if err := asking(c.drawAside)(bytes); err != nil {
		return nil, err
	}
	return &Aside{cfg: c, left: bytes}, nil
}

func (c *Config) drawAside(bytes int64) error {
	draw := c.Aside
	if draw == nil {
		draw = c.Grow
	}
	err := errShareUsed
	if drawn, most := c.aside.Add(bytes), c.MostAside(); bytes <= 0 || most == 0 || drawn <= most {
		err = draw(bytes)
	}
	if err != nil {
		c.aside.Add(-bytes)
	}
	return err
}

// Take reports whether so many bytes are left, which the owner makes then.
func (a *Aside) Take(bytes int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if bytes > a.left {
		return false
	}
	a.move(bytes)
	return true
}

// Split makes an Aside of so many bytes of what is left; nil: fewer are, or a is nil.
func (a *Aside) Split(bytes int64) *Aside {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if bytes > a.left {
		return nil
	}
	a.left -= bytes
	return &Aside{cfg: a.cfg, left: bytes}
}

// Put takes back bytes of Take that were freed.
func (a *Aside) Put(bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.move(-bytes)
}

func (a *Aside) move(bytes int64) {
	a.left -= bytes
	if a.cfg != nil && a.cfg.Made != nil {
		a.cfg.Made(bytes)
	}
}

// Close gives back what is left. What was made stays the owner's to give back. A second call does nothing, nor does one of nil.
func (a *Aside) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left > 0 {
		_ = a.cfg.drawAside(-a.left) // only asking for more can fail
		a.left = 0
	}
}
