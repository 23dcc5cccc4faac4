package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// point is what was measured of a strategy.
type point struct {
	Table        string  `json:"table"` // groups, skew, load
	Strategy     string  `json:"road"`
	Distribution string  `json:"distribution"`
	Groups       uint64  `json:"groups"`         // that there were to be
	Found        uint64  `json:"found"`          // that there were
	Load         float64 `json:"load,omitempty"` // groups a slot of the plain table
	Chosen       bool    `json:"chosen"`         // it is the strategy of reference.Choose
	Time         float64 `json:"us"`
	Failed       string  `json:"failed,omitempty"`
}

// opener makes a strategy, or not.
type opener func() (strategy, error)

// strategies is all of them for so many groups.
func (b *bench) strategies(groups uint64, load float64) []opener {
	return []opener{
		func() (strategy, error) { return newTables(b, false, groups, load) },
		func() (strategy, error) { return newTables(b, true, groups, load) },
		func() (strategy, error) { return newScattered(b, groups) },
		func() (strategy, error) { return newSingle(b) },
	}
}

// measure fills the report.
func (r *report) measure(rig *device.Rig) (err error) {
	b, err := newBench(rig, r.rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	for _, groups := range r.groups {
		if groups <= uint64(r.rows)/2 {
			if err := r.table(b, point{Table: "groups", Distribution: uniform.name, Groups: groups}, b.fill(uniform, groups), b.strategies(groups, tableLoad)); err != nil {
				return err
			}
		}
	}
	for _, groups := range r.skewed {
		for _, d := range distributions {
			if err := r.table(b, point{Table: "skew", Distribution: d.name, Groups: groups}, b.fill(d, groups), b.strategies(groups, tableLoad)); err != nil {
				return err
			}
		}
	}
	return r.byLoad(b)
}

// loads of the plain table: groups a slot.
var loads = []float64{.5, .7, .9, .95, .97}

// byLoad has as many slots as rows, which is what SP-EGA's buffers have, and
// groups for a share of them: the paper's comparison.
func (r *report) byLoad(b *bench) error {
	for _, load := range r.loads {
		groups := uint64(load * float64(r.rows))
		about := point{Table: "load", Distribution: "repeated", Groups: groups, Load: load}
		strategies := b.strategies(groups, load)
		if err := r.table(b, about, b.repeat(groups), []opener{strategies[0], strategies[2], strategies[3]}); err != nil {
			return err
		}
	}
	return nil
}

// table measures strategies side by side. One that there is no memory for has no time; one whose
// groups are wrong ends the run.
func (r *report) table(b *bench, about point, filled error, openers []opener) (err error) {
	if filled != nil {
		return filled
	}
	fmt.Fprintf(os.Stderr, "%s: %s, %d groups\n", about.Table, about.Distribution, about.Groups)
	taken := b.chosen(distributionOf(about.Distribution), about.Groups)
	var points []point
	var cases []device.Case
	for _, open := range openers {
		way, err := open()
		if errors.Is(err, cuda.ErrOutOfMemory) {
			continue
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, way.close()) }()
		p := about
		p.Strategy = way.name()
		p.Chosen = p.Strategy == taken
		if p.Found, err = b.trial(way); err != nil {
			p.Failed = err.Error()
			if !errors.Is(err, ega.ErrRestFull) {
				return fmt.Errorf("%s, %s, %d groups: %w", p.Strategy, p.Distribution, p.Groups, err)
			}
		} else {
			cases = append(cases, device.Case{Name: p.Strategy, Prepare: prepare(b, way), Run: way.run})
		}
		points = append(points, p)
	}
	times, err := b.rig.Rounds(r.rounds, cases)
	if err != nil {
		return err
	}
	for i := range points {
		if points[i].Found != points[0].Found && points[i].Failed == "" {
			return fmt.Errorf("%s finds %d groups, %s %d", points[i].Strategy, points[i].Found, points[0].Strategy, points[0].Found)
		}
		if points[i].Failed == "" {
			points[i].Time, times = times[0], times[1:]
		}
	}
	r.Points = append(r.Points, points...)
	return nil
}

// trial is a run that does not count, looked at.
func (b *bench) trial(way strategy) (uint64, error) {
	if err := errors.Join(prepare(b, way)(b.stream), way.run(b.stream), b.stream.Synchronize()); err != nil {
		return 0, err
	}
	rows, groups, err := way.groups()
	if err != nil {
		return 0, err
	}
	return groups, b.check(rows, groups)
}

// chosen is the name of the strategy that gagg would take, with room for all and estimates that are
// right.
func (b *bench) chosen(d distribution, groups uint64) string {
	device := b.rig.Thread.Context().Device()
	facts := reference.Facts{
		Rows: uint64(b.rows), Groups: groups, Spare: 4 * uint64(b.rows),
		Frequent: d.top(reference.FrequentGroups(&ega.Pairs, device), groups),
	}
	switch reference.Choose(&ega.Pairs, device, facts) {
	case reference.StrategyBuckets:
		return nameScattered
	case reference.StrategySingle:
		return nameSingle
	}
	return nameShared
}
