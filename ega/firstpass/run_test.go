package firstpass_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/streams"
)

// passRig takes what a Pass gives back.
type passRig struct {
	config firstpass.Config
	bits   uint
	grant  func(bytes int64) error               // by the host's budget; nil: all
	write  func(writer int, rows []uint64) error // before rows are taken; may be nil
	feed   func(m *firstpass.Pass) error         // submits the rows; nil: feed
	drain  bool                                  // retained rows are drained, not taken

	mu       sync.Mutex
	host     int64    // bytes drawn from the budget
	written  []uint64 // rows
	retained []uint64 // rows
	device   []uint64 // rows of Groups
	stats    firstpass.Stats
}

// run sends rows through a pass. What was pinned has been given back then, and the device's memory
// was within the budget.
func (p *passRig) run(c *cuda.Context, rows []uint64) (err error) {
	p.written, p.device, p.retained = nil, nil, nil
	cfg := p.config
	cfg.Readers = 2
	cfg.Write = func(writer int, rows []uint64) error {
		if p.write != nil {
			if err := p.write(writer, rows); err != nil {
				return err
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.written = append(p.written, rows...)
		return nil
	}
	cfg.Host = budgettest.Lender(func(n int64) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if n > 0 && p.grant != nil {
			if err := p.grant(n); err != nil {
				return err
			}
		}
		p.host += n
		return nil
	})
	ctx, cancel := bounded.Context("the end of a pass")
	defer cancel()
	m, err := firstpass.Start(ctx, c, cfg)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, m.Close(), m.Close())
		if err == nil && p.host != 0 && c.Lost() == nil {
			err = fmt.Errorf("%d bytes are still drawn from the host's budget", p.host)
		}
		if peak := int64(c.Peak()); err == nil && peak > cfg.Device {
			err = fmt.Errorf("BUDGET: %d bytes of device memory were in use, %d were allowed", peak, cfg.Device)
		}
	}()
	if p.feed != nil {
		err = p.feed(m)
	} else {
		err = feed(m, &cfg.Layout, rows)
	}
	if err != nil {
		return err
	}
	g, err := m.Finish(p.bits)
	if err != nil {
		return err
	}
	p.stats = m.Stats()
	if g == nil {
		k := m.EvictedRows()
		return errors.Join(m.Close(), p.readRetained(k))
	}
	err = p.read(g)
	return errors.Join(err, g.Close(), g.Close())
}

// feed submits rows from two goroutines.
func feed(m *firstpass.Pass, l *ega.Layout, rows []uint64) error {
	half := len(rows) / l.Stride() / 2 * l.Stride()
	errs := make(chan error, 2)
	for _, part := range [][]uint64{rows[:half], rows[half:]} {
		go func() { errs <- feedPart(m, l, part) }()
	}
	return bounded.Errors("goroutines that submit rows", 2, errs)
}

func feedPart(m *firstpass.Pass, l *ega.Layout, rows []uint64) error {
	ctx, cancel := bounded.Context("a slot")
	defer cancel()
	for len(rows) > 0 {
		s, err := m.Slot(ctx)
		if err != nil {
			return err
		}
		to := wordsIn(s)
		n := copy(to[:len(to)/l.Stride()*l.Stride()], rows)
		rows = rows[n:]
		if err := m.Submit(s, n/l.Stride()); err != nil {
			m.Release(s)
			return err
		}
	}
	return nil
}

// wordsIn is a slot as words.
func wordsIn(s *streams.Slot) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s.Bytes()))), len(s.Bytes())/8)
}

// read reads all partitions, odd and even ones by two readers at once, and checks the order.
func (p *passRig) read(g *groups.Groups) error {
	if err := g.Open(); err != nil {
		return err
	}
	pieces := make([][]uint64, 1<<p.bits)
	errs := make(chan error, 2)
	for first := range 2 {
		go func() { errs <- p.readSome(g, pieces, first) }()
	}
	if err := bounded.Errors("goroutines that read groups", 2, errs); err != nil {
		return err
	}
	p.device = slices.Concat(pieces...)
	if n := uint64(len(p.device) / p.config.Layout.Stride()); n != g.Len() {
		return fmt.Errorf("%d groups were read, there are %d", n, g.Len())
	}
	return nil
}

func (p *passRig) readSome(g *groups.Groups, pieces [][]uint64, first int) (err error) {
	r, err := g.Reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	stride := p.config.Layout.Stride()
	for i := first; i < len(pieces); i += 2 {
		last := uint64(0) // the greatest hash of the pieces before
		err := r.Read(i, func(rows []uint64) error {
			least, most := ^uint64(0), uint64(0)
			for at := 0; at < len(rows); at += stride {
				least, most = min(least, rows[at]), max(most, rows[at])
				if int(rows[at]>>1>>(63-p.bits)) != i {
					return fmt.Errorf("partition %d has hash %x", i, rows[at])
				}
			}
			if len(rows) == 0 || len(pieces[i]) > 0 && least <= last {
				return fmt.Errorf("partition %d: a piece of %d words begins with hash %x behind %x", i, len(rows), least, last)
			}
			last = most
			pieces[i] = append(pieces[i], rows...)
			return nil
		})
		if n := uint64(len(pieces[i]) / stride); err == nil && n != g.Partition(i) {
			err = fmt.Errorf("partition %d: %d groups were read, there are %d", i, n, g.Partition(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check compares what came back with the twin. Groups on the device are whole.
func (p *passRig) check(t *testing.T, rows []uint64) {
	t.Helper()
	l := &p.config.Layout
	want := reference.Combine(l, rows)
	got := slices.Concat(p.device, p.written, p.retained)
	if len(p.written)+len(p.retained) > 0 {
		got = reference.Combine(l, got)
	}
	if err := egatest.Difference(l, got, want); err != nil {
		t.Errorf("%v\n%+v", err, p.stats)
	}
	s := p.stats
	if s.InCore != (len(p.written)+len(p.retained) == 0 && s.WrittenRows == 0) || s.InCore && s.Groups != uint64(len(p.device)/l.Stride()) {
		t.Errorf("%d words are on the device, %d were written: %+v", len(p.device), len(p.written), s)
	}
	retained, written := uint64(len(p.retained)/l.Stride()), uint64(len(p.written)/l.Stride())
	if s.RetainedRows != retained || s.WrittenRows != written ||
		!s.InCore && s.WrittenRows+s.RetainedRows != s.RestRows+s.Groups {
		t.Errorf("%d words were written, %d retained: %+v", len(p.written), len(p.retained), s)
	}
	if s.Rows != uint64(len(rows)/l.Stride()) {
		t.Errorf("%d rows of %d: %+v", s.Rows, len(rows)/l.Stride(), s)
	}
}
