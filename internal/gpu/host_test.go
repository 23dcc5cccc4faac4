package gpu

import (
	"context"
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
)

var errNo = errors.New("no")

// configOf is a configuration of a run whose memory is drawn from b.
func configOf(b *budget.Budget, threads int, worker int64) *Config {
	host := cpu.Memory{Worker: worker}
	return &Config{Threads: threads, Host: host, Run: cpu.NewRun(cpu.Config{Threads: threads, Memory: host, Budget: b})}
}

// Where memory is limited a device has a share of it, of which slots, rows that stay and rows that
// go to writers have parts; writers have what it cannot use.
func TestHostShare(t *testing.T) {
	s := planHost(configOf(nil, 4, 4<<20), 2)
	if s.pinned != 2<<20 || s.writers != 6<<20 {
		t.Fatalf("%+v", s)
	}
	if n, each := s.slots(12, 4<<20); n != 12 || each != leastSlot {
		t.Errorf("%d slots of %d bytes", n, each)
	}
	if n, each := s.slots(100, 4<<20); n != 16 || each != leastSlot {
		t.Errorf("%d slots of %d bytes", n, each)
	}
	for bytes, want := range map[int]int{512 << 10: 2, 512<<10 + 1: 0, 100 << 10: 10, 10 << 10: 12} {
		if n := s.whole(12, bytes); n != want {
			t.Errorf("%d slots of just %d bytes, want %d", n, bytes, want)
		}
	}
	if n := s.retain(1 << 40); n != 512<<10 {
		t.Errorf("%d bytes may be retained", n)
	}
	if s.use(1<<20, 0, 4); s.pinned != 2<<20 || s.writers != 4<<20 {
		t.Errorf("a small share that is used: %+v", s)
	}
	large := planHost(configOf(nil, 4, 4<<30), 1)
	if large.use(1<<20, 2<<20, 4); large.pinned != 3<<20+24*leavingBytes || large.pinned+large.writers != 12<<30 {
		t.Errorf("a large share, of which little is of use: %+v", large)
	}
}

// A device draws its share as a whole, keeps to it, and gives back what it does not use once the
// input has been read; then it draws what it takes. It holds what is pinned, no more.
func TestPinned(t *testing.T) {
	l := budget.New(budget.Memory, 0)
	p, err := newPinned(configOf(l, 4, 4<<20), hostShare{pinned: 2 << 20}, nil)
	want := func(step string, reserved, committed int64) {
		t.Helper()
		if l.Reserved() != reserved || l.Committed() != committed {
			t.Errorf("%s: %d bytes are reserved, %d committed, want %d and %d", step, l.Reserved(), l.Committed(), reserved, committed)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	want("opened", 2<<20, 0)
	if err := errors.Join(p.Draw(1<<20), p.Draw(1<<20)); err != nil {
		t.Error(err)
	}
	p.Release(1 << 20)
	want("some is pinned", 2<<20, 1<<20)
	if err := p.Draw(2 << 20); !errors.Is(err, errPinned) {
		t.Errorf("more than the share: %v", err)
	}
	p.Close()
	p.Close()
	want("lifted", 1<<20, 1<<20)
	if err := p.Draw(2 << 20); err != nil {
		t.Error(err)
	}
	p.Release(3 << 20)
	want("closed", 0, 0)
	l.SetLimit(1 << 20)
	if _, err := newPinned(configOf(l, 4, 4<<20), hostShare{pinned: 2 << 20}, nil); !errors.Is(err, budget.Memory) {
		t.Errorf("a share that is not there: %v", err)
	}
	want("refused", 0, 0)
}

// Without a limit slots are as wanted, and each request goes to the run's budget.
func TestPinnedUnlimited(t *testing.T) {
	l := budget.New(budget.Memory, 100)
	c := configOf(l, 4, 0)
	s := planHost(c, 1)
	if n, each := s.slots(12, 4<<20); n != 12 || each != 4<<20 {
		t.Errorf("%d slots of %d bytes", n, each)
	}
	if n := s.whole(12, 1<<40); n != 12 {
		t.Errorf("%d large slots", n)
	}
	if n := s.retain(1 << 40); n != 1<<40 {
		t.Errorf("%d bytes may be retained", n)
	}
	s.use(12<<40, 1<<40, 4)
	p, err := newPinned(c, s, nil)
	if err != nil || s != (hostShare{}) {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := p.Draw(100); err != nil || l.Committed() != 100 {
		t.Errorf("%v, %d bytes are held", err, l.Committed())
	}
	if err := p.Draw(101); !errors.Is(err, budget.Memory) {
		t.Errorf("%v", err)
	}
	p.Close()
}

// What a run's devices need is theirs however much workers take until they are open, and what they
// do not use is given back.
func TestReserve(t *testing.T) {
	l := budget.New(budget.Memory, 0)
	c := configOf(l, 4, 4<<20)
	c.Host.Pages = 1 << 20
	reserve := newReserve(c, 1)
	if l.Reserved() != 5<<20 {
		t.Fatalf("%d bytes are drawn", l.Reserved())
	}
	l.SetLimit(1) // workers have the rest
	p, err := newPinned(c, hostShare{pinned: 3 << 20}, reserve)
	if err != nil {
		t.Fatal(err)
	}
	reserve.Close()
	if l.Reserved() != 3<<20 {
		t.Errorf("%d bytes are drawn when what is not used was given back", l.Reserved())
	}
	if p.Close(); l.Reserved() != 0 || l.Committed() != 0 {
		t.Errorf("in the end %d bytes are drawn, %d held", l.Reserved(), l.Committed())
	}
	l.SetLimit(1 << 20)
	if r := newReserve(c, 1); r != nil || l.Reserved() != 0 {
		t.Errorf("a reserve of more than there is: %v, %d bytes are drawn", r, l.Reserved())
	}
}

// A run that needs a device has what that needs before the workers begin; one that cannot be opened
// leaves nothing drawn.
func TestReservedFirst(t *testing.T) {
	for _, needed := range []bool{true, false} {
		l := budget.New(budget.Memory, 0)
		asked, answer := make(chan struct{}), make(chan struct{})
		c := *configOf(l, 4, 4<<20)
		c.Needed = 1
		c.Open = func() ([]*cuda.Context, error) {
			close(asked)
			<-answer
			return nil, errNo
		}
		want := int64(0)
		if needed {
			c.Refused = func(err error) error { return err }
			want = 4 << 20
		}
		d := New(context.Background(), c)
		if bounded.Receive(t, "the question for devices", asked); l.Reserved() != want {
			t.Errorf("needed %v: %d bytes are drawn, want %d", needed, l.Reserved(), want)
		}
		close(answer)
		if bounded.Receive(t, "the opening of devices", d.opened); l.Reserved() != 0 {
			t.Errorf("needed %v: %d bytes are drawn in the end", needed, l.Reserved())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
