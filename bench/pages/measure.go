package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// amounts is how much is measured.
type amounts struct {
	rounds   int
	pages    int // of every pool
	counts   int // bursts over which steps are averaged
	smallest int // threads of the smallest burst; the next one has twice as many
	largest  int
}

var (
	full = amounts{rounds: 5, pages: 1 << 28, counts: 3, smallest: 1 << 5, largest: 1 << 20}
	// for the emulator
	small = amounts{rounds: 1, pages: 1 << 15, counts: 1, smallest: 1 << 5, largest: 1 << 7}
)

// sizes of bursts.
func (a amounts) sizes() (list []int) {
	for n := a.smallest; n <= a.largest; n *= 2 {
		list = append(list, n)
	}
	return list
}

// shares of free pages: the paper's.
var shares = []float64{.5, .1, .01, .005}

// point is what was measured of one contender.
type point struct {
	Table     string    `json:"table"` // get, printed, lanes, again or malloc
	Contender string    `json:"contender"`
	Share     float64   `json:"share"`          // of units that were to be free
	Free      int       `json:"free,omitempty"` // units that were free
	Units     int       `json:"units"`          // that were asked for, at once
	Lanes     int       `json:"lanes,omitempty"`
	Run       int       `json:"run,omitempty"` // free pages next to each other
	Scenario  string    `json:"scenario,omitempty"`
	Get       float64   `json:"get_us"`
	Give      float64   `json:"give_us"`
	Steps     *steps    `json:"steps,omitempty"`
	Formulas  *formulas `json:"formulas,omitempty"`
	Failed    string    `json:"failed,omitempty"`
}

// rate is units a second; 0: not known.
func (p *point) rate() float64 {
	if p.Get == 0 {
		return 0
	}
	return float64(p.Units) / p.Get * 1e6
}

// race measures contenders side by side, of whom some may have failed before:
// a burst of n units is got and given back. Where a unit is lost or handed out
// twice the run ends; a contender without memory for so many has no time.
func (r *report) race(rig *device.Rig, contenders []contender, n int, about func(contender) point) error {
	var points []point
	var cases []device.Case
	for _, c := range contenders {
		p := about(c)
		p.Contender, p.Units = c.name(), n
		err := withStream(rig.Thread, func(s *cuda.Stream) error { return trial(s, c, n) })
		switch {
		case errors.Is(err, errNone):
			p.Failed = err.Error()
		case err != nil:
			return fmt.Errorf("%s, %d units of %d free ones: %w", c.name(), n, p.Free, err)
		default:
			cases = append(cases,
				device.Case{Name: c.name(), Prepare: c.reset, Run: func(s *cuda.Stream) error { return c.get(s, n) }},
				device.Case{Name: c.name() + ", giving back", Run: func(s *cuda.Stream) error { return c.give(s, n) }})
		}
		points = append(points, p)
	}
	times, err := rig.Rounds(r.rounds, cases)
	if err != nil {
		return err
	}
	for i := range points {
		if points[i].Failed == "" {
			points[i].Get, points[i].Give, times = times[0], times[1], times[2:]
		}
	}
	r.Points = append(r.Points, points...)
	return nil
}

// trial is one burst that does not count, looked at.
func trial(s *cuda.Stream, c contender, n int) error {
	if err := errors.Join(c.reset(s), c.get(s, n), s.Synchronize()); err != nil {
		return err
	}
	checked := c.check(n)
	return errors.Join(checked, c.give(s, n), s.Synchronize())
}

// bursts is the paper's figures 4, 11 and 16: bursts of all sizes at all shares,
// each thread for one unit, with the steps of who counts them.
func (r *report) bursts(rig *device.Rig, all []contender) error {
	for _, share := range shares {
		free, err := filled(rig, all, share)
		if err != nil {
			return err
		}
		lost := map[contender]bool{} // who had no memory for fewer has none for more
		for _, n := range r.sizes() {
			var able []contender
			for _, c := range all {
				if l, ok := c.(limited); ok && n > l.most() {
					continue
				}
				if !lost[c] && suffices(free[c], n) {
					able = append(able, c)
				}
			}
			progress("%.4g %% free, %d threads", 100*share, n)
			from := len(r.Points)
			if err := r.race(rig, able, n, func(c contender) point {
				return point{Table: "get", Share: share, Free: free[c]}
			}); err != nil {
				return err
			}
			for i, c := range able {
				p := &r.Points[from+i]
				lost[c] = p.Failed != ""
				if err := r.steps(rig, c, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// suffices says whether a burst of n units is measured where so many are free.
// The last tenth is left: walkers that look for the very last page of a large
// pool need as many steps as it has words.
func suffices(free, n int) bool { return n <= free/10*9 }

// filled brings all contenders to a share, and says how many units each has free.
func filled(rig *device.Rig, all []contender, share float64) (map[contender]int, error) {
	free := map[contender]int{}
	return free, withStream(rig.Thread, func(s *cuda.Stream) (err error) {
		for _, c := range all {
			if free[c], err = c.fill(s, share); err != nil {
				return fmt.Errorf("%s at %.4g %% free: %w", c.name(), 100*share, err)
			}
		}
		return nil
	})
}

// steps counts those of a burst, and puts the formulas beside them.
func (r *report) steps(rig *device.Rig, c contender, p *point) error {
	k, counts := c.(counting)
	if !counts || p.Failed != "" {
		return nil
	}
	f := k.formulas(reference.Steps{Pages: r.pages, Free: p.Free, Threads: p.Units})
	p.Formulas = &f
	var mean steps
	err := withStream(rig.Thread, func(s *cuda.Stream) error {
		for range r.counts {
			if err := k.reset(s); err != nil {
				return err
			}
			one, err := k.count(s, p.Units)
			if err != nil {
				return fmt.Errorf("steps of %s: %w", c.name(), err)
			}
			mean.Thread += one.Thread / float64(r.counts)
			mean.Warp += one.Warp / float64(r.counts)
		}
		return nil
	})
	if mean.Thread > 0 {
		p.Steps = &mean
	}
	return err
}

// withStream runs do with a stream of its own.
func withStream(t *cuda.Thread, do func(*cuda.Stream) error) error {
	s, err := t.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// progress tells on stderr what is under way.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
