package main

import (
	"errors"
	"slices"

	"github.com/gagg-dev/gagg/bench/device"
)

// asWalkers are methods as contenders on a pool.
func asWalkers(p *pool, ask asked, run int, of ...method) (list []contender) {
	for _, m := range of {
		list = append(list, &walkers{pool: p, how: m, ask: ask, at: setting{run: run}})
	}
	return list
}

// onBitmap are the paper's methods that work on a bitmap.
func onBitmap() []method { return slices.Clone(methods[1:]) }

// others is the methods as the paper prints them beside ours, for bursts of three sizes.
func (r *report) others(rig *device.Rig, p *pool) error {
	all := asWalkers(p, everyone, 1, append(onBitmap(), printed...)...)
	for _, share := range shares {
		free, err := filled(rig, all, share)
		if err != nil {
			return err
		}
		for _, n := range []int{r.smallest * 32, r.largest / 32, r.largest} {
			if n > r.largest || !suffices(free[all[0]], n) {
				continue
			}
			progress("as printed, %.4g %% free, %d threads", 100*share, n)
			if err := r.race(rig, all, n, func(contender) point {
				return point{Table: "printed", Share: share, Free: free[all[0]]}
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// laneShares are those of figure 12.
var laneShares = []float64{.05, .01, .008, .005}

// byLanes is figure 12: a quarter of the largest burst's warps, in which only
// some lanes want a page.
func (r *report) byLanes(rig *device.Rig, p *pool) error {
	for _, share := range laneShares {
		for _, lanes := range []int{1, 4, 8, 12, 16, 20, 24, 28, 32} {
			all := asWalkers(p, asked{lanes: lanes, rounds: 1}, 1, onBitmap()...)
			free, err := filled(rig, all, share)
			if err != nil {
				return err
			}
			n := max(r.largest/32/4, 1) * lanes
			progress("%.4g %% free, %d lanes of a warp", 100*share, lanes)
			if err := r.race(rig, all, n, func(contender) point {
				return point{Table: "lanes", Share: share, Free: free[all[0]], Lanes: lanes}
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// againRounds is how many pages a thread gets one after another where that is measured.
const againRounds = 8

// again is what CRW is for: threads that get page after page, of free pages that
// lie alone or in runs.
func (r *report) again(rig *device.Rig, p *pool) error {
	for _, share := range shares[:3] {
		for _, run := range []int{1, 32} {
			all := asWalkers(p, asked{lanes: 32, rounds: againRounds}, run, onBitmap()...)
			free, err := filled(rig, all, share)
			if err != nil {
				return err
			}
			progress("%.4g %% free in runs of %d, %d pages a thread", 100*share, run, againRounds)
			if err := r.race(rig, all, r.largest, func(contender) point {
				return point{Table: "again", Share: share, Free: free[all[0]], Run: run}
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// allocations is figure 14: memory of any size.
func (r *report) allocations(rig *device.Rig, p *pool) error {
	for _, what := range scenarios {
		for _, share := range shares {
			if err := r.allocation(rig, p, what, share); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *report) allocation(rig *device.Rig, p *pool, what scenario, share float64) (err error) {
	all := []contender{&mallocs{pool: p, what: what}}
	if what.bytes > 0 && !what.atOnce {
		m, err := newCUDAMalloc(p.bench, what.bytes)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.close()) }()
		all = append(all, m)
	}
	free, err := filled(rig, all, share)
	if err != nil {
		return err
	}
	for n := r.smallest; n <= r.largest && n*what.pages() <= free[all[0]]/2; n *= 4 {
		progress("%s, %.4g %% free, %d threads", what.name, 100*share, n)
		if err := r.race(rig, all, n, func(contender) point {
			return point{Table: "malloc", Scenario: what.name, Share: share, Free: free[all[0]]}
		}); err != nil {
			return err
		}
		if last := r.Points[len(r.Points)-1]; len(all) == 2 && last.Failed != "" {
			all = all[:1] // a heap too small for these threads is too small for more
		}
	}
	return nil
}
