package plan

import (
	"math"
	"strconv"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
)

// This file is where exact sums of floats have their digits (agg.Window). A window of 128 bits has
// all digits of usual columns; fewer do where statistics rule small values out. It ends where the
// statistics of the input say that values end; for computed arguments it is assumed. Where a value
// has digits elsewhere the run ends, and the next plan has a wider window. Results do not depend on
// it.

const (
	// usualWords is the words of a sum before anything is known of the digits of its values.
	usualWords = 2

	// assumedHigh: computed values of which nothing is known are less than 2^assumedHigh.
	assumedHigh = 32

	// lowSlack and highSlack are how many bits a window has below and above the digits that were
	// met, in the second plan; each further plan has slackGrowth times as many, so that there are
	// few.
	lowSlack    = 24
	highSlack   = 8
	slackGrowth = 4
)

// ExactSum is an exact sum of floats, as an integer.
type ExactSum struct {
	Of   string // x, x^2 or x*y
	Bits int    // of the integer
	Low  int    // a unit of it is worth 2^Low
}

// ExactSums lists the exact sums of floats of a plan.
func (p *Plan) ExactSums() (sums []ExactSum) {
	for _, f := range p.States(nil, false, nil).FixedSums() {
		e := ExactSum{Of: p.Query.ArgTexts[f.Args[0]], Bits: 64 * f.Words, Low: f.Low}
		if len(f.Args) > 1 {
			e.Of += "*" + p.Query.ArgTexts[f.Args[1]]
		}
		if f.Power > 1 {
			e.Of += "^" + strconv.Itoa(f.Power)
		}
		sums = append(sums, e)
	}
	return sums
}

// planWindows finds the windows of all arguments. Input that cannot be read again needs the widest,
// and so do states, whose values are not known.
func (p *planner) planWindows() {
	if !p.Options.Deterministic || !p.Rereadable || p.Query.Mode.Takes() {
		return
	}
	p.Windows = make([]agg.Window, len(p.Query.Args))
	for i := range p.Query.Calls {
		for _, arg := range p.Query.Calls[i].Args {
			if t := p.Query.Args[arg].Type(); t.IsNumeric() && !p.Windows[arg].Known() {
				p.Windows[arg] = p.window(arg, t)
			}
		}
	}
}

// window is the window of an argument; unknown: that of its type.
func (p *planner) window(arg int, t column.Type) agg.Window {
	sure := agg.WindowOf(t)
	if agg.Fit(sure.High, usualWords, p.Facts.Rows).Low <= sure.Low {
		return agg.Window{}
	}
	met := p.Learnt.windows(arg)
	if w := p.statistics(arg); w.Known() {
		return met.Join(w)
	}
	if met.Known() {
		return met
	}
	return agg.Fit(assumedHigh, usualWords, p.Facts.Rows)
}

// statistics is the window of an argument by the metadata of the input; unknown: they say nothing.
// It ends where values do, and begins where the least of them has its last place, if none is
// smaller: sums of their powers have the fewer words.
func (p *planner) statistics(arg int) agg.Window {
	least, most, ok := p.Query.Args[arg].ReachFloat(p.scan.Ends)
	if !ok || math.IsInf(most, 0) {
		return agg.Window{}
	}
	_, high := math.Frexp(most)
	return agg.Fit(high, usualWords, p.Facts.Rows).From(least)
}

// windows is where the values of an argument have been met, with some slack.
func (l *Learnt) windows(arg int) agg.Window {
	w := l.Windows[arg]
	if !w.Known() {
		return w
	}
	low, high := lowSlack, highSlack
	for range l.Widened - 1 {
		low, high = low*slackGrowth, high*slackGrowth
	}
	return agg.Window{Low: max(w.Low-low, agg.Widest.Low), High: min(w.High+high, agg.Widest.High)}
}

// addWindows adds the windows of an error for values outside of theirs.
func (l *Learnt) addWindows(e *agg.WindowError) {
	windows := map[int]agg.Window{}
	for _, known := range []map[int]agg.Window{l.Windows, e.Windows} {
		for arg, w := range known {
			windows[arg] = windows[arg].Join(w)
		}
	}
	l.Windows, l.Special, l.Widened = windows, l.Special || e.Special, l.Widened+1
}
