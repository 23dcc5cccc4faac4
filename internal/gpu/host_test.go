package gpu

import (
	"context"
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// ledger is a budget that grants all, or no request of more than most bytes.
type ledger struct {
	most       int64 // 0: all
	used, held int64
}

var errNo = errors.New("no")

func (l *ledger) aside(bytes int64) error {
	if l.most > 0 && bytes > l.most {
		return errNo
	}
	l.used += bytes
	return nil
}

func (l *ledger) made(bytes int64) { l.held += bytes }

func (l *ledger) grow(bytes int64) error {
	err := l.aside(bytes)
	if err == nil {
		l.made(bytes)
	}
	return err
}

func (l *ledger) config(threads int, worker int64) *cpu.Config {
	return &cpu.Config{Threads: threads, Memory: cpu.Memory{Worker: worker}, Grow: l.grow, Aside: l.aside, Made: l.made}
}

// Where memory is limited a device has a share of it, of which slots, rows that stay and rows that go to placers have parts; placers
// have what it cannot use.
func TestHostShare(t *testing.T) {
	s := planHost((&ledger{}).config(4, 4<<20), 2)
	if s.pinned != 2<<20 || s.placers != 6<<20 {
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
	if n := s.keep(1 << 40); n != 512<<10 {
		t.Errorf("%d bytes may be kept", n)
	}
	if s.use(1<<20, 0, 4); s.pinned != 2<<20 || s.placers != 4<<20 {
		t.Errorf("a small share that is used: %+v", s)
	}
	large := planHost((&ledger{}).config(4, 4<<30), 1)
	if large.use(1<<20, 2<<20, 4); large.pinned != 3<<20+24*leavingBytes || large.pinned+large.placers != 12<<30 {
		t.Errorf("a large share, of which little is of use: %+v", large)
	}
}

// A device draws its share as a whole, keeps to it, and gives back what it does not use once the input has been read; then it draws
// what it takes. It holds what is pinned, no more.
func TestPinned(t *testing.T) {
	var l ledger
	p, err := newPinned(l.config(4, 4<<20), hostShare{pinned: 2 << 20}, nil)
	want := func(step string, used, held int64) {
		t.Helper()
		if l.used != used || l.held != held {
			t.Errorf("%s: %d bytes are drawn, %d held, want %d and %d", step, l.used, l.held, used, held)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	want("opened", 2<<20, 0)
	if err := errors.Join(p.take(1<<20), p.take(1<<20), p.take(-1<<20)); err != nil {
		t.Error(err)
	}
	want("some is pinned", 2<<20, 1<<20)
	var refused *cpu.RefusedError
	if err := p.take(2 << 20); !errors.As(err, &refused) {
		t.Errorf("more than the share: %v", err)
	}
	p.lift()
	p.lift()
	want("lifted", 1<<20, 1<<20)
	if err := errors.Join(p.take(2<<20), p.take(-3<<20)); err != nil {
		t.Error(err)
	}
	want("closed", 0, 0)
	l.most = 1 << 20
	if _, err := newPinned(l.config(4, 4<<20), hostShare{pinned: 2 << 20}, nil); !errors.As(err, &refused) {
		t.Errorf("a share that is not there: %v", err)
	}
	want("refused", 0, 0)
}

// Without a limit slots are as wanted, and each request goes to the run's budget.
func TestPinnedUnlimited(t *testing.T) {
	l := ledger{most: 100}
	c := l.config(4, 0)
	s := planHost(c, 1)
	if n, each := s.slots(12, 4<<20); n != 12 || each != 4<<20 {
		t.Errorf("%d slots of %d bytes", n, each)
	}
	if n := s.whole(12, 1<<40); n != 12 {
		t.Errorf("%d large slots", n)
	}
	if n := s.keep(1 << 40); n != 1<<40 {
		t.Errorf("%d bytes may be kept", n)
	}
	s.use(12<<40, 1<<40, 4)
	p, err := newPinned(c, s, nil)
	if err != nil || s != (hostShare{}) {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := p.take(100); err != nil || l.held != 100 {
		t.Errorf("%v, %d bytes are held", err, l.held)
	}
	if err := p.take(101); !errors.Is(err, errNo) {
		t.Errorf("%v", err)
	}
	p.lift()
}

// What a run's devices need is theirs however much workers take until they are open, and what they do not use is given back.
func TestReserve(t *testing.T) {
	var l ledger
	c := l.config(4, 4<<20)
	c.Memory.Pages = 1 << 20
	reserve := newReserve(c, 1)
	if l.used != 5<<20 {
		t.Fatalf("%d bytes are drawn", l.used)
	}
	l.most = 1 // workers have the rest
	p, err := newPinned(c, hostShare{pinned: 3 << 20}, reserve)
	if err != nil {
		t.Fatal(err)
	}
	reserve.Close()
	if l.used != 3<<20 {
		t.Errorf("%d bytes are drawn when what is not used was given back", l.used)
	}
	if p.lift(); l.used != 0 || l.held != 0 {
		t.Errorf("in the end %d bytes are drawn, %d held", l.used, l.held)
	}
	l.most = 1 << 20
	if r := newReserve(c, 1); r != nil || l.used != 0 {
		t.Errorf("a reserve of more than there is: %v, %d bytes are drawn", r, l.used)
	}
}

// A run that needs a device has what that needs before the workers begin; one that cannot be opened leaves nothing drawn.
func TestReservedFirst(t *testing.T) {
	for _, needed := range []bool{true, false} {
		var l ledger
		asked, answer := make(chan struct{}), make(chan struct{})
		c := Config{CPU: l.config(4, 4<<20), Needed: 1, Open: func() ([]*cuda.Context, error) {
			close(asked)
			<-answer
			return nil, errNo
		}}
		want := int64(0)
		if needed {
			c.Refused = func(err error) error { return err }
			want = 4 << 20
		}
		d := New(context.Background(), c)
		if bounded.Receive(t, "the question for devices", asked); l.used != want {
			t.Errorf("needed %v: %d bytes are drawn, want %d", needed, l.used, want)
		}
		close(answer)
		if bounded.Receive(t, "the opening of devices", d.opened); l.used != 0 {
			t.Errorf("needed %v: %d bytes are drawn in the end", needed, l.used)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
