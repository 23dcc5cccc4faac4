package main

import (
	"fmt"
	"math"

	"github.com/gagg-dev/gagg/bench/device"
)

// Steps are judged where the mean of so many threads, or warps of them, is known
// to 2 %.
const (
	judgedThreads = 1 << 12
	judgedWarps   = 1 << 14
)

// byChance is how far above a bound a mean of that many warps may come out.
const byChance = 1.02

// marks are what the page manager has to reach: speed against the queue, pages a
// second, and steps as the formulas say.
func (r *report) marks() []device.Mark {
	var list []device.Mark
	for _, queue := range []string{nameQueue, nameSerial} {
		for _, m := range []struct{ share, want float64 }{{.5, 10}, {.1, 10}, {.01, 10}, {.005, 3}} {
			ratio, n := r.over(queue, m.share)
			list = append(list, device.Mark{
				What: fmt.Sprintf("CoRW or CRW over the %s, %.4g %% free, %d threads", queue, 100*m.share, n),
				Got:  ratio, Want: m.want, Unit: "times", None: ratio == 0,
			})
		}
	}
	rate := 0.0
	for _, p := range r.of("get", func(p *point) bool { return p.Contender == nameCoRW || p.Contender == nameCRW }) {
		rate = max(rate, p.rate())
	}
	list = append(list, device.Mark{What: "pages of CoRW or CRW", Got: rate / 1e6, Want: 600, Unit: "million/s", None: rate == 0})
	for _, name := range []string{nameRW, nameRWBM, nameCRW} {
		off, known := r.deviation(name)
		list = append(list, device.Mark{What: name + ", steps a thread off the formula by", Got: 100 * off, Want: 10, AtMost: true, Unit: "%", None: !known})
	}
	for _, name := range []string{nameRW, nameRWBM, nameCoRW, nameCRW} {
		share, known := r.ofBound(name)
		list = append(list, device.Mark{What: name + ", steps a warp by their bound", Got: share, Want: byChance, AtMost: true, Unit: "times", None: !known})
	}
	return list
}

// over is how many times faster the better of CoRW and CRW is than a queue in the
// largest burst that it was measured with, and that burst; 0: not known.
func (r *report) over(queue string, share float64) (ratio float64, n int) {
	for _, q := range r.of("get", func(p *point) bool { return p.Contender == queue && p.Share == share && p.Get > 0 }) {
		ratio, n = 0, q.Units
		for _, name := range []string{nameCoRW, nameCRW} {
			if p := r.at(name, share, n); p != nil && p.Get > 0 {
				ratio = max(ratio, q.Get/p.Get)
			}
		}
	}
	return ratio, n
}

// deviation is the greatest distance of the measured steps a thread from their
// formula, as a share of it.
func (r *report) deviation(contender string) (off float64, known bool) {
	for _, p := range r.judged(contender, judgedThreads) {
		if f := p.Formulas.Thread; f > 0 && !p.Formulas.Bound {
			off, known = max(off, math.Abs(p.Steps.Thread/f-1)), true
		}
	}
	return off, known
}

// ofBound is the greatest measured share of a bound on the steps a warp.
func (r *report) ofBound(contender string) (share float64, known bool) {
	for _, p := range r.judged(contender, judgedWarps) {
		if f := p.Formulas.Warp; f > 0 {
			share, known = max(share, p.Steps.Warp/f), true
		}
	}
	return share, known
}

// judged are a contender's bursts of that many threads and more, with their steps.
func (r *report) judged(contender string, least int) []*point {
	return r.of("get", func(p *point) bool {
		return p.Contender == contender && p.Units >= least && p.Steps != nil && p.Formulas != nil
	})
}
