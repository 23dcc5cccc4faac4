package plan

import (
	"math"
	"time"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/gpu"
)

// Device is the decision what computes. It is made once, before anybody has looked for a device, so
// that a small query opens no driver. That there is none is found by looking: see Without.
type Device struct {
	Choice
	Facts    DeviceFacts
	Decoding gpu.Decoding // how devices make the rows themselves
	RowsBy   string       // why workers make all rows; "": devices make some

	// Reconsiders: the CPU begins, with its own rows, until Anew says that devices should. Rows
	// that devices combine are up to three times as wide
	Reconsiders bool
	told        bool // workers have seen that a device pays
	// devices pay if there are more groups by the keys and a distinct value than are usual
	doubtful bool

	// Select is which groups leave a device that has all of them; nil: all do. Wanted says the same
	// for people, or why all do; "": all are wanted.
	Select *gpu.Selection
	Wanted string

	// Regroup is how a device that has all groups by the keys and a distinct value makes groups by
	// the keys of them, of which Select is then; nil: the CPU does. Regroups says so, for people;
	// "": nothing is grouped twice.
	Regroup  *gpu.Regrouping
	Regroups string

	costs Costs
}

// Without is the decision once it is known why there is no device to use.
func (d Device) Without(why string) Device {
	d.Facts.NoDevice = why
	d.Choice = d.choose(d.Facts)
	return d
}

// choose decides by facts. What workers have seen counts for more than what is predicted: a device
// that may be used then is.
func (d Device) choose(f DeviceFacts) Choice {
	choice := d.costs.choose(f)
	choice.Use = choice.Use || d.told && choice.CPU > 0
	return choice
}

// Anew predicts, while the CPU reads the input, whether a run that begins anew with devices would
// be faster than the CPU with the rest of it, from what a worker has seen, as all others do about.
//
// The CPU goes on at the pace of the rows read so far, which knows of filters, expressions and
// texts what footers do not, but gets slower as its tables grow, by less than with random keys: the
// geometric mean of that and nothing is taken (docs/decisions/0028). A pace that is not settled yet
// is too slow by half and more: then a device must gain more. So it must where workers would make
// its rows, for which they take as long as the pace tells. opening is since when a device has been
// being opened, beside the workers; 0: none is.
func (d Device) Anew(seen cpu.Sample, settled bool, opening time.Duration) Choice {
	all := d.Facts.after(seen)
	all.Opening = opening.Seconds()
	read := all.threads() * float64(seen.Read)
	left := max(float64(all.Rows)-read, 0)
	rest := all.rest(int64(left))
	if read > 0 {
		rest.Reading = seen.Seconds / read * left * math.Sqrt(d.costs.slower(all, float64(seen.Groups)))
	}
	most := d.costs.Settled
	if !settled || all.Encoded == 0 {
		most = d.costs.Early
	}
	return d.costs.compare(rest, all, most)
}

// after are the facts with what a worker has seen of groups and of the filter.
func (f DeviceFacts) after(seen cpu.Sample) DeviceFacts {
	if seen.Read > 0 {
		f.Selectivity = float64(max(seen.Selected, 1)) / float64(seen.Read)
	}
	rows, _ := f.counts()
	all := expected(seen, rows)
	f.Merged = f.threads() * expected(seen, rows/f.threads())
	if seen.Shared {
		f.Merged = all
	}
	switch {
	case f.Unseen:
	case f.Regroup:
		f.Groups = all
	default:
		f.Groups = min(f.Groups, all)
	}
	return f
}

// expected is how many groups so many rows will have made, as a worker has seen them so far. Rows
// with the same key often come together, so that there are more than random rows would show; and
// the same keys come again later, so that there are fewer than if that went on. The geometric mean
// of both is taken.
func expected(seen cpu.Sample, rows float64) float64 {
	total := int64(rows)
	o := feedback.Observation{Rows: seen.Rows, Groups: seen.Groups}
	least := o.AtRandom(total)
	if half := seen.Half; half.Rows > 0 {
		o.Before = feedback.Observation{Rows: half.Rows, Groups: half.Groups}.AtRandom(total)
		o.Grown = 2 // as where rows of a group come together
	}
	return math.Sqrt(least * o.Expected(total))
}

// reconsiders reports whether the CPU begins, and workers tell whether a device pays: once in all
// runs of a query, since a run that begins anew knows.
func (d Device) reconsiders() bool { return !d.told && (d.unsure() || d.near()) }

// unsure reports whether devices should be opened only when workers have told their pace: opening
// takes its time, and it is not known how many rows pass the filter and how long that takes, or how
// many groups they make, or the CPU may be as fast, as with keys that come in order.
func (d Device) unsure() bool {
	f := &d.Facts
	if !d.Use || f.Spec.Required() || d.costs.start(*f) == 0 || f.Kept {
		return false
	}
	if f.Filtered || d.doubtful || f.Together || f.Limit > 0 {
		return true
	}
	return !f.Sampled && !f.Regroup && (f.Groups >= float64(f.Rows) || d.Choice.Device > d.costs.Clear*d.Choice.CPU)
}

// near reports whether the CPU is predicted to be about as fast as a device, where one that is
// opened in vain costs nothing at the end: the pace of workers tells which is faster. What a sample
// predicts is nearer to the truth than a pace of the first rows.
func (d Device) near() bool {
	f := &d.Facts
	return !d.Use && (f.Left || d.costs.Exit == 0) && !f.Kept && (!f.Sampled || f.Filtered) &&
		d.Choice.Device > 0 && d.Choice.Device < d.costs.Near*d.Choice.CPU
}

// usualRepeats is how many rows a group of keys and a distinct value is expected to have where
// nothing tells (ClickBench 9: 6). If a device pays with so few groups it is opened at once, and if
// it pays with more the CPU begins. So many rows are expected of parts of the keys too, of which
// workers tell nothing: there the CPU does not begin for that.
const usualRepeats = 8

// decideDevice decides what computes. How devices would make rows themselves takes a look at each
// unit and so is asked for only where one may be used; how many groups there may be, which may read
// some pages, only where a device could be worth it at all.
func (p *planner) decideDevice() Device {
	if p.cuts = p.Options.Device.Kind != device.CPU && p.hasCuts(); p.cuts {
		if d := p.divideOrNot(); d.Decoding.Plan != nil {
			return d
		}
		p.cuts = false // there may be no room for texts on devices
	}
	return p.divideOrNot()
}

// divideOrNot decides with keys divided, if that is of use, or as they are.
func (p *planner) divideOrNot() Device {
	if p.Divided = p.divide(); p.Divided != nil {
		if d := p.deviceByKeys(); d.Decoding.Plan != nil {
			return d
		}
		p.Divided = nil // devices do not make rows of the parts
	}
	return p.deviceByKeys()
}

// deviceByKeys is decideDevice for the keys that devices group by.
func (p *planner) deviceByKeys() Device {
	spec := p.Options.Device
	if p.oneGroup() && spec.Kind != device.CPU {
		p.Layout.Constant()
	}
	states := p.DeviceStates()
	d := Device{costs: p.Options.Tuning.Costs, told: p.Learnt.Device}
	f := &d.Facts
	*f = DeviceFacts{
		Spec: spec, Unsupported: p.unsupported(states), Rereadable: p.Rereadable, Kept: p.Options.DeviceKept, Left: p.Options.DeviceLeft,
		Devices: len(spec.Numbers), Memory: p.Options.GPUMemory,
		Rows: p.Facts.Rows, Bytes: p.Facts.Bytes, Plain: p.Facts.Plain, Slow: p.Facts.Slow, Groups: math.Inf(1), Threads: p.cpuThreads(), Builders: p.Threads,
		RowSize: p.deviceRow(states), Filtered: p.Query.Where != nil, Operations: p.operations(), Updates: states.Slots(),
		Lists: int64(len(states.DeviceLists())), Regroup: p.Regroups(), Unseen: p.Divided != nil,
	}
	if n, ok := p.HashLimit(); ok {
		f.Limit = int64(n)
	}
	if f.Unsupported == "" && spec.Kind != device.CPU {
		d.Decoding, d.RowsBy = p.decoding(states)
		switch {
		case d.Decoding.Plan != nil:
		case f.Lists > 0:
			f.Unsupported = "lists of values are only kept where a GPU makes the rows, and the CPU does: " + d.RowsBy
		case states.HasTexts():
			f.Unsupported = "texts are only compared where a GPU makes the rows, and the CPU does: " + d.RowsBy
		case p.oneGroup():
			f.Unsupported = "there are no keys, and one group is only added up where a GPU makes the rows, and the CPU does: " + d.RowsBy
		}
	}
	if d.Decoding.Plan != nil && d.Decoding.Plan.Texts() {
		f.Spec.Most = 1 // which alone can compare the texts that it keeps
		f.Devices = min(f.Devices, f.Spec.Most)
	}
	switch {
	case f.Unsupported != "" || spec.Kind == device.CPU:
	case f.Regroup:
		d.regroup(p, states)
		f.Regroups = d.Regroup != nil
	default:
		d.Select, d.Wanted = p.selection(states)
		f.Few = d.Select != nil
	}
	if units := &d.Decoding.Units; d.Decoding.Plan != nil {
		f.Encoded = float64(units.All.Rows) / float64(max(p.Facts.Rows, units.All.Rows))
		f.Crossing, f.Unpacked = units.All.Bytes, units.Unpacked
		f.Texts, f.Stored = p.longTexts(d.Decoding.Plan, units.All.Rows)
	}
	if !p.Options.DevicePresent {
		f.NoDevice = "there is no NVIDIA driver"
	}
	d.Choice = d.choose(*f)
	if d.Use || d.near() || d.Choice.CPU >= leastSampled {
		f.Groups = ExpectedGroups(p.Plan, p.scan)
		if p.likely != nil && !spec.Required() && !f.Kept && d.choose(*f).Use {
			p.likely(f.Spec)
		}
		p.expect(f)
		if d.Choice = d.choose(*f); d.Use && f.Regroup && !f.Sampled && !spec.Required() {
			d.expectUsual()
		}
	}
	return d
}

// leastSampled is from how many seconds on that a run is predicted to take a sample is worth its
// milliseconds: the prediction may be a fifth of what the run takes.
const leastSampled = .03

// expectUsual expects the usual number of groups of a device that regroups, if there may be more,
// unless the choice is in doubt by that, or workers have told that there are more.
func (d *Device) expectUsual() {
	usual := d.Facts
	usual.Groups = float64(usual.Rows) / usualRepeats
	if usual.Groups >= d.Facts.Groups || d.told && !usual.Unseen {
		return
	}
	choice := d.choose(usual)
	if d.doubtful = !choice.Use && !usual.Unseen; !d.doubtful {
		d.Facts, d.Choice = usual, choice
	}
}

// operations is how many operations of expressions a row takes.
func (p *planner) operations() (all int) {
	if where := p.Query.Where; where != nil {
		all = where.Operations()
	}
	for _, exprs := range [][]*expr.Expr{p.Query.Keys, p.Query.Args} {
		for _, e := range exprs {
			if e != nil { // as where states are merged
				all += e.Operations()
			}
		}
	}
	return all
}
