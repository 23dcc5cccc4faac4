package gpu

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// retainedRun is retained rows, which stand for as many input rows as is said.
func retainedRun(rows, stand int64) (*retained, error) {
	k := &retained{list: []retainedOf{{context: &cuda.Context{}}}}
	k.left.Store(rows)
	return k, k.expect(stand)
}

// DEVICE-WHOLE of retained rows: what comes back is compared with what was sent when the last has
// come, and what is impossible is found at once.
func TestRetainedBack(t *testing.T) {
	type part struct{ rows, stand int64 }
	for name, c := range map[string]struct {
		parts []part
		fails int // the part that is the first to fail; -1: none
	}{
		"whole":     {[]part{{4, 10}, {0, 0}, {6, 15}}, -1},
		"missing":   {[]part{{4, 10}, {6, 14}}, 1},
		"doubled":   {[]part{{4, 11}, {6, 15}}, 1},
		"too few":   {[]part{{4, 3}, {6, 22}}, 0},
		"not ended": {[]part{{4, 20}, {5, 20}}, -1},
	} {
		k, err := retainedRun(10, 25)
		if err != nil {
			t.Fatal(err)
		}
		failed := -1
		for i, p := range c.parts {
			if err := k.back(p.rows, p.stand); err != nil {
				var e *Error
				if !errors.As(err, &e) || !e.Late || !errors.Is(err, ErrRows) {
					t.Errorf("%s: %v", name, err)
				}
				failed = i
				break
			}
		}
		if failed != c.fails {
			t.Errorf("%s: part %d fails, want %d", name, failed, c.fails)
		}
	}
	if _, err := retainedRun(10, 9); !errors.Is(err, ErrRows) {
		t.Errorf("10 rows for 9: %v", err)
	}
}

// Rows are retained if devices gain enough by aggregating them, as far as can be foreseen.
func TestRetainPays(t *testing.T) {
	facts := feedback.GainCounts{Rows: 300, Rest: 100, Groups: 100} // 2 rows a group so far
	for _, c := range []struct {
		name string
		rows int64
		gain float64
		want bool
	}{
		{"enough already", 300, 2, true},
		{"never enough", 300, 2.1, false},
		{"enough with the rows to come", 600, 3, true},
		{"nobody knows how many come", -1, 3, true},
		{"and not enough then", -1, 3.1, false},
	} {
		d := &Devices{config: Config{Run: cpu.NewRun(cpu.Config{}), States: new(agg.Layout), Rows: c.rows, Threads: 8, Gain: c.gain}, contexts: make([]*cuda.Context, 1)}
		if got := (&pass{devices: d}).retainPays(facts); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// A run's chains have to be enough for its threads, and no larger than partitions where memory is
// limited.
func TestChainsFit(t *testing.T) {
	for _, c := range []struct {
		partitions, chains uint
		merge              int64
		want               bool
	}{{3, 3, 0, true}, {10, 4, 0, true}, {10, 3, 0, false}, {2, 3, 0, true}, {10, 7, 1 << 20, false}, {7, 7, 1 << 20, true}} {
		d := &Devices{config: Config{Threads: 16, Host: cpu.Memory{Merge: c.merge}}}
		if got := d.chainsFit(c.partitions, c.chains); got != c.want {
			t.Errorf("%d and %d bits, %d bytes: %t", c.partitions, c.chains, c.merge, got)
		}
	}
}
