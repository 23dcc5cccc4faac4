package main

import (
	"fmt"

	"github.com/gagg-dev/gagg/bench/device"
)

// others is the best that others reach on an H200 with 2^28 pairs, billions of rows
// a second, at any load factor: CUB's sort and reduce (11.4 at any number of
// groups), or cuCollections' upsert where that is faster.
var others = map[uint64]float64{1: 11.4, 100: 11.4, 1e4: 21, 1e6: 25, 1e7: 13.6, 1e8: 12.3, 1 << 27: 11.4}

const (
	overProbe  = 5.39 // times the plain linear probe above load .9: the paper's claim
	noCliff    = .9   // of the rate with a group less
	noSkew     = .8   // of the rate of uniform keys: what is wanted
	goodChoice = .9   // of the fastest strategy's rate
)

// marks are what has to be reached.
func (r *report) marks() []device.Mark {
	var list []device.Mark
	for _, groups := range r.groups {
		chosen, _ := r.best("groups", uniform.name, groups)
		if want, judged := others[groups]; judged {
			list = append(list, device.Mark{What: fmt.Sprintf("uniform keys, %d groups", groups), Got: chosen, Want: want, Unit: "G rows/s", None: chosen == 0})
		}
		if cub := r.at("groups", nameCUB, uniform.name, groups); cub > 0 {
			list = append(list, device.Mark{What: fmt.Sprintf("over CUB in the same run, %d groups", groups), Got: chosen / cub, Want: 1, Unit: "times"})
		}
	}
	list = append(list, r.choice())
	few, _ := r.best("groups", uniform.name, 128)
	more, _ := r.best("groups", uniform.name, 129)
	list = append(list, ratio("129 groups, of 128", more, few, noCliff))
	for _, groups := range r.skewed {
		even, _ := r.best("skew", uniform.name, groups)
		for _, d := range distributions[1:] {
			skewed, _ := r.best("skew", d.name, groups)
			list = append(list, ratio(fmt.Sprintf("%s, %d groups, of uniform", d.name, groups), skewed, even, noSkew))
		}
	}
	for _, load := range r.loads {
		if load > .9 {
			groups := uint64(load * float64(r.Rows))
			_, best := r.best("load", "repeated", groups)
			list = append(list, ratio(fmt.Sprintf("over the plain probe at load %.4g", load), best, r.at("load", nameProbe, "repeated", groups), overProbe))
		}
	}
	return list
}

// choice is how good the strategy taken is where it is worst.
func (r *report) choice() device.Mark {
	m := device.Mark{What: "the strategy taken, of the fastest, at worst", Got: 1, Want: goodChoice, Unit: "times", None: true}
	for _, p := range r.Points {
		if chosen, best := r.best(p.Table, p.Distribution, p.Groups); chosen > 0 {
			m.Got, m.None = min(m.Got, chosen/best), false
		}
	}
	return m
}

// ratio is a mark for a / b.
func ratio(what string, a, b, want float64) device.Mark {
	m := device.Mark{What: what, Want: want, Unit: "times", None: a == 0 || b == 0}
	if !m.None {
		m.Got = a / b
	}
	return m
}
