package gpu

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/cpu"
)

// Where memory is limited a device draws its share as a whole, keeps to it, and gives back what it does not use once the
// input has been read; then it draws what it takes.
func TestPinned(t *testing.T) {
	drawn := int64(0)
	c := &cpu.Config{Threads: 4, Memory: cpu.Memory{Worker: 4 << 20}, Grow: func(n int64) error { drawn += n; return nil }}
	p, err := newPinned(c, 2)
	if err != nil || drawn != 2<<20 {
		t.Fatalf("%v, %d bytes are drawn", err, drawn)
	}
	if n, each := p.slots(12, 4<<20); n != 12 || each != leastSlot {
		t.Errorf("%d slots of %d bytes", n, each)
	}
	if n, each := p.slots(100, 4<<20); n != 16 || each != leastSlot {
		t.Errorf("%d slots of %d bytes", n, each)
	}
	for bytes, want := range map[int]int{512 << 10: 2, 512<<10 + 1: 0, 100 << 10: 10, 10 << 10: 12} {
		if n := p.whole(12, bytes); n != want {
			t.Errorf("%d slots of just %d bytes, want %d", n, bytes, want)
		}
	}
	if n := p.keep(1 << 40); n != 512<<10 {
		t.Errorf("%d bytes may be kept", n)
	}
	if err := p.take(1 << 20); err != nil {
		t.Error(err)
	}
	var refused *cpu.RefusedError
	if err := p.take(2 << 20); !errors.As(err, &refused) {
		t.Errorf("more than the share: %v", err)
	}
	p.lift()
	p.lift()
	if drawn != 1<<20 {
		t.Errorf("%d bytes are drawn, one MiB is in use", drawn)
	}
	if err := errors.Join(p.take(2<<20), p.take(-3<<20)); err != nil || drawn != 0 {
		t.Errorf("%v, %d bytes are still drawn", err, drawn)
	}
}

// Without a limit slots are as wanted, and each request goes to the run's budget.
func TestPinnedUnlimited(t *testing.T) {
	no := errors.New("no")
	p, err := newPinned(&cpu.Config{Threads: 4, Grow: func(n int64) error {
		if n > 100 {
			return no
		}
		return nil
	}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n, each := p.slots(12, 4<<20); n != 12 || each != 4<<20 {
		t.Errorf("%d slots of %d bytes", n, each)
	}
	if n := p.whole(12, 1<<40); n != 12 {
		t.Errorf("%d large slots", n)
	}
	if n := p.keep(1 << 40); n != 1<<40 {
		t.Errorf("%d bytes may be kept", n)
	}
	if err := p.take(100); err != nil {
		t.Error(err)
	}
	if err := p.take(101); !errors.Is(err, no) {
		t.Errorf("%v", err)
	}
	p.lift()
}
