package budget

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
)

// checker checks the numbers of a budget, step by step.
type checker struct {
	*testing.T
	b *Budget
}

func (c checker) want(step string, reserved, committed, peak int64) {
	c.Helper()
	if b := c.b; b.Reserved() != reserved || b.Committed() != committed || b.Peak() != peak {
		c.Errorf("%s: %d reserved, %d committed, peak %d, want %d, %d, %d", step, b.Reserved(), b.Committed(), b.Peak(), reserved, committed, peak)
	}
}

func (c checker) none(err error) {
	c.Helper()
	if err != nil {
		c.Error(err)
	}
}

// Reserved bytes count against the limit like any others. They are committed, and in the peak,
// only as far as the owner makes them.
func TestReserve(t *testing.T) {
	t.Parallel()
	var all Reservations
	full := &Error{Why: "full"}
	c := checker{t, New(Memory, 1000)}
	c.b.HoldBack(100)
	c.none(c.b.Draw(200))
	r, err := all.Reserve(c.b, 600, 0, full)
	c.none(err)
	c.want("reserved", 800, 200, 200)
	_, err = all.Reserve(c.b, 101, 0, full)
	for _, err := range []error{c.b.Draw(101), err} {
		if e := Refusal(err, Memory); e == nil || e.Limit != 1000 || e.Used != 800 || e.Want != 901 {
			t.Errorf("beyond what is not held back: %v", err)
		}
	}
	if _, err := all.Reserve(c.b, 50, 649, full); !errors.Is(err, full) || all.Bytes() != 600 {
		t.Errorf("beyond what all reservations may be: %v, they are %d", err, all.Bytes())
	}
	c.want("refused", 800, 200, 200)
	if !r.Commit(500) || r.Commit(101) {
		t.Error("600 bytes are reserved")
	}
	c.want("made", 800, 700, 700)
	r.Uncommit(100)
	c.b.Release(400) // some of what was made
	c.want("freed", 400, 200, 700)
	r.Close()
	r.Close()
	c.want("closed", 200, 200, 700)
	r.Release(200)
	c.b.Count(900)
	if err := c.b.Draw(1); err == nil {
		t.Error("others have as much as before")
	}
	c.b.Count(200)
	c.want("beyond the limit", 1100, 1100, 1100)
	c.b.Count(-1100)
	c.want("all released", 0, 0, 1100)
}

// A reservation lends what is left of it, and once it is closed what its lender has. A part of a
// reservation is a reservation.
func TestReservationLends(t *testing.T) {
	t.Parallel()
	var all Reservations
	c := checker{t, New(Memory, 1000)}
	r, err := all.Reserve(c.b, 500, 500, nil)
	c.none(err)
	part := r.Split(200)
	if part == nil || r.Split(301) != nil {
		t.Fatal("500 bytes are reserved, 200 of them in a part")
	}
	c.none(part.Draw(150))
	c.want("drawn", 500, 150, 150)
	part.Full = &Error{Why: "the part is full"}
	if err := part.Draw(51); !errors.Is(err, part.Full) {
		t.Errorf("beyond the part: %v", err)
	}
	part.Release(50)
	part.Close()
	c.want("a part is closed", 400, 100, 150)
	c.none(part.Draw(600))
	if part.Draw(1) == nil || r.Draw(301) == nil {
		t.Error("no more is there")
	}
	part.Release(700)
	r.Close()
	c.want("all released", 0, 0, 700)
	if all.Bytes() != 100 { // what was committed when the part was closed
		t.Errorf("%d bytes are counted", all.Bytes())
	}
	var none *Reservation
	none.Close()
	if none.Split(0) != nil || (&Reservation{}).Commit(1) {
		t.Error("no reservation lends")
	}
}

// A reservation of a lender that does not tell them apart counts as committed.
func TestReserveOfLender(t *testing.T) {
	t.Parallel()
	var all Reservations
	c := checker{t, New(Memory, 1000)}
	r, err := all.Reserve(c.b.Beside(300), 700, 0, nil)
	c.none(err)
	c.want("reserved", 700, 700, 700)
	c.none(r.Draw(100))
	r.Close()
	r.Release(100)
	c.want("all released", 0, 0, 700)
}

// A budget without a limit counts all the same, and a limit may be set when some are reserved.
func TestLimit(t *testing.T) {
	t.Parallel()
	c := checker{t, New(Disk, 0)}
	c.b.HoldBack(1)
	c.none(c.b.Draw(1 << 40))
	c.b.SetLimit(1 << 20)
	if err := c.b.Draw(math.MaxInt64); !errors.Is(err, Disk) || errors.Is(err, Memory) || Refusal(err, Disk).Want != math.MaxInt64 {
		t.Errorf("beyond the limit: %v", err)
	}
	c.none(c.b.Draw(0))
	c.b.Release(1 << 40)
	c.want("released", 0, 0, 1<<40)
	if c.b.Limit() != 1<<20 {
		t.Errorf("the limit is %d", c.b.Limit())
	}
}

// A part has a limit of its own and leaves others what it is told to.
func TestParts(t *testing.T) {
	t.Parallel()
	c := checker{t, New(Memory, 1000)}
	full := &Error{Why: "full"}
	part := Checked(c.b.Beside(600), func(bytes int64) error {
		if bytes > 300 {
			return full
		}
		return nil
	})
	c.none(part.Draw(300))
	if err := part.Draw(301); !errors.Is(err, full) {
		t.Errorf("beyond the part: %v", err)
	}
	if err := part.Draw(101); Refusal(err, Memory).Limit != 1000 {
		t.Errorf("what others have: %v", err)
	}
	c.none(c.b.Draw(700))
	part.Release(300)
	c.want("released", 700, 700, 1000)
	c.none(Or(nil).Draw(math.MaxInt64))
	Or(nil).Release(1)
	if Or(c.b) != Lender(c.b) {
		t.Error("a lender is not itself")
	}
}

// Bytes taken in spite of a refusal are owed until they are drawn. Bytes freed before that were
// never drawn.
func TestDebt(t *testing.T) {
	t.Parallel()
	var d Debt
	c := checker{t, New(Memory, 100)}
	c.none(d.Settle(c.b))
	d.DrawOrOwe(c.b, 60)
	d.DrawOrOwe(c.b, 50)
	c.want("owed", 60, 60, 60)
	if err := d.Settle(c.b); !errors.Is(err, Memory) {
		t.Errorf("settled: %v", err)
	}
	c.want("refused", 60, 60, 60)
	d.Release(c.b, 20)
	c.none(d.Settle(c.b)) // the other 30
	c.want("settled", 90, 90, 90)
	d.DrawOrOwe(c.b, 20)
	d.Release(c.b, 60)
	c.want("released", 50, 50, 90)
	c.none(d.Settle(c.b))
	d.Release(c.b, 50)
	c.want("all released", 0, 0, 90)
}

// BUDGET-LIMIT: whoever asks at a time, the limit holds, and nobody is refused what is there.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	const workers, rounds = 4, 5000
	b := New(Memory, workers*10)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range rounds {
				if err := b.Draw(10); err != nil {
					t.Error(err)
					return
				}
				if b.Draw(workers*10) == nil {
					t.Error("more than the limit")
				}
				b.Release(10)
			}
		})
	}
	all.Wait()
	if b.Reserved() != 0 || b.Committed() != 0 || b.Peak() > workers*10 {
		t.Errorf("%d reserved, %d committed, peak %d", b.Reserved(), b.Committed(), b.Peak())
	}
}

// Each resource has its text, and a refusal is found wherever it is wrapped.
func TestErrors(t *testing.T) {
	t.Parallel()
	memory := &Error{Of: Memory, Limit: 1 << 20, Used: 1 << 20, Want: 3 << 20}
	disk := &Error{Of: Disk, Limit: 1 << 20, Used: 1 << 19, Want: 3 << 19}
	device := &Error{Of: Device, Limit: 1 << 20, Need: 3<<20 + 1}
	for _, c := range []struct {
		err  *Error
		want string
	}{
		{memory, "out of memory: 3.0 MiB wanted, the limit is 1.0 MiB; give a larger memory limit"},
		{disk, "temp limit reached: 1.0 MiB allowed, 512 KiB used, 1.0 MiB wanted; give a larger --temp-limit or more memory"},
		{device, "GPU memory limit too small: needs at least 3.1 MiB, has 1.0 MiB"},
		{&Error{Of: Device, Limit: 1 << 20, Want: 1 << 21}, "out of GPU memory: 2.0 MiB wanted, the limit is 1.0 MiB; give a larger memory limit"},
		{&Error{Why: "used up"}, "used up"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, err := range []error{memory, fmt.Errorf("a page: %w", memory), errors.Join(disk, fmt.Errorf("%w", errors.Join(device, memory)))} {
		if Refusal(err, Memory) != memory {
			t.Errorf("%v: not found", err)
		}
	}
	for _, err := range []error{nil, disk, errors.New("other"), fmt.Errorf("wrapped: %w", device), errors.Join(disk, device)} {
		if e := Refusal(err, Memory); e != nil {
			t.Errorf("%v: found %v", err, e)
		}
	}
}
