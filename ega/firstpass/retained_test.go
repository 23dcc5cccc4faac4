package firstpass_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
)

// retainAll is more than any test's rows need.
const retainAll = 64 << 20

// atMost grants so many bytes at a time.
func atMost(bytes int64) func(int64) error {
	return func(n int64) error {
		if n > bytes {
			return budgettest.Refused()
		}
		return nil
	}
}

// Rows that leave the device stay in pinned memory, by chains. They go to writers where that memory
// is used up, or where retaining does not pay. In each case they are, with the groups of the table,
// all rows, and draining gives the same.
func TestRetained(t *testing.T) {
	random, drain := rand.New(rand.NewPCG(3, 4)), false
	layouts := passLayouts
	if testing.Short() {
		layouts = layouts[:1] // under sanitizers one layout will do: rows are retained as bytes
	}
	for _, l := range layouts {
		rows := egatest.Rows(random, &l, 12_000+8000/l.KeyWords, func(i int) uint64 { return uint64(i) })
		for _, c := range []struct {
			name  string
			keep  int64
			grant int64 // bytes by the host's budget; 0: all
			pays  func(feedback.GainCounts) bool
			want  func(s firstpass.Stats) bool
		}{
			{"all", retainAll, 0, nil, func(s firstpass.Stats) bool { return s.WrittenRows == 0 }},
			{"one buffer", leastPinned, 0, nil, func(s firstpass.Stats) bool { return s.RetainedBuffers == 1 && s.WrittenRows > 0 }},
			{"too little for one", leastPinned - 1, 0, nil, func(s firstpass.Stats) bool { return s.RetainedRows == 0 }},
			{"a short host", retainAll, 380_000, nil, func(s firstpass.Stats) bool { return s.RetainedRows > 0 && s.WrittenRows > 0 }},
			{"does not pay", retainAll, 0, func(feedback.GainCounts) bool { return false }, func(s firstpass.Stats) bool { return s.RetainedRows == 0 }},
			{"pays", retainAll, 0, func(f feedback.GainCounts) bool {
				if f.Rows-f.Rest > f.Groups { // each row is a group of its own
					t.Errorf("rows under way count as combined: %+v", f)
				}
				return f.Rest > 0 && f.Groups > 1000
			}, func(s firstpass.Stats) bool { return s.RetainedRows > 0 }},
		} {
			t.Run(fmt.Sprintf("keys=%d/%s/drain=%t", l.KeyWords, c.name, drain), func(t *testing.T) {
				r := newRig(t)
				p := passRig{drain: drain, config: firstpass.Config{
					Layout: l, Streams: 2, Depth: 2, SlotBytes: 20_000, Device: 700_000, Writers: 2, RetainBytes: c.keep, RetainPays: c.pays,
				}}
				p.grant = func(n int64) error {
					if n > leastPinned || c.grant > 0 && p.host+n > c.grant {
						return budgettest.Refused()
					}
					return nil
				}
				r.Do(p.run(r.Thread.Context(), rows))
				p.check(t, rows)
				if !c.want(p.stats) {
					t.Errorf("%+v", p.stats)
				}
			})
			drain = !drain
		}
	}
}

// Of the rows that a pass has retained, any number may be taken before they are closed, and a pass
// may be closed without.
func TestRetainedCloses(t *testing.T) {
	r := newRig(t)
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 20_000, func(i int) uint64 { return uint64(i) })
	for _, handed := range []bool{false, true} {
		var host atomic.Int64
		m, err := firstpass.Start(t.Context(), r.Thread.Context(), firstpass.Config{
			Layout: l, SlotBytes: 20_000, Device: 700_000, RetainBytes: retainAll, Streams: 1,
			Write: func(int, []uint64) error { return nil },
			Host:  budgettest.Lender(func(n int64) error { host.Add(n); return nil }),
		})
		r.Do(err)
		r.Do(feed(m, &l, rows))
		_, err = m.Finish(0)
		r.Do(err)
		if handed {
			k := m.EvictedRows()
			if m.EvictedRows() != nil {
				t.Error("rows are handed over twice")
			}
			r.Do(m.Close())
			for _, s := range k.Spans(1, 1) {
				r.Do(s.Done())
			}
			refusal := errors.New("no")
			if err := k.Drain(3, func(int, []uint64) error { return refusal }); !errors.Is(err, refusal) {
				t.Errorf("write fails, and Drain says %v", err)
			}
			if err := k.Drain(3, func(int, []uint64) error { panic("no bucket") }); err == nil {
				t.Error("write panics, and Drain says nothing")
			}
			r.Do(k.Close())
		}
		r.Do(m.Close())
		if n := host.Load(); n != 0 {
			t.Errorf("%d bytes of the host are not given back", n)
		}
	}
}

// The next pass uses the buffers of a pass that has ended; meanwhile they count in no budget.
func TestRetainedSpares(t *testing.T) {
	r := newRig(t)
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 20_000, func(i int) uint64 { return uint64(i) })
	spares := &evict.Spares{}
	p := passRig{config: firstpass.Config{Layout: l, Streams: 1, SlotBytes: 20_000, Device: 700_000, RetainBytes: retainAll, Spares: spares}}
	for range 2 {
		r.Do(p.run(r.Thread.Context(), rows))
		p.check(t, rows)
	}
	r.Do(errors.Join(spares.Close(), spares.Close()))
}
