package gpu

import (
	"errors"

	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file has a device group its groups by some of their keys, where it has all of them: before
// any leaves it, and in place of cpu.Run.Regroup. From then on the devices take part in another
// run, with other keys, whose groups are selected and read as any that stay on a device.
//
// What the groups stand for is counted as before: each has the count of its input rows
// (DEVICE-WHOLE).

// Regrouping says how rows of groups by some of their keys are made.
type Regrouping = groups.Regrouping

// Regroup is how groups become those of another run.
type Regroup struct {
	Rows   *Regrouping
	Keys   *key.Layout // of the other run
	States *agg.Layout // the same
	Run    *cpu.Run
	Select *Selection    // which of its groups are wanted; nil: all
	Intern *key.Interner // of the texts of both runs
}

// regroup groups the groups of the device, which are all, for the other run; and `of` becomes the
// groups of that. If there is too little memory, all is as it was.
func (p *pass) regroup(g *groups.Groups, of *cpu.Groups) (*groups.Groups, error) {
	d := p.devices
	r := d.config.Regroup
	if r == nil || g.Len() == 0 {
		return g, nil
	}
	texts := groups.RegroupTexts{}
	if r.Rows.Numbered {
		texts.Hashes = r.Intern.Hashes()
	}
	if p.texts.store() != nil {
		texts.Arena, texts.Base = p.texts.Memory(), p.texts.Base
	}
	var next cpu.Groups
	out, err := g.Regroup(r.Rows, texts, func(groups uint64) uint {
		next = r.Run.Adopt(groups, of.Sent)
		p.regrouped = int64(groups)
		return next.Buckets[0].Bits()
	})
	if out.Groups == nil {
		p.regrouped = 0
		if err = errors.Join(err, next.Close()); err != nil {
			return nil, errors.Join(err, g.Close())
		}
		return g, nil
	}
	next.Distinct = []cpu.Folded{{Groups: int64(out.Valued), Partitions: 1 << g.Bits(), Partitioned: true}}
	err = errors.Join(g.Close(), of.Close())
	*of = next
	d.regrouped = true
	d.config.Layout.KeyWords, d.config.Keys, d.config.States, d.config.Run, d.config.Select = r.Rows.KeyWords, r.Keys, r.States, r.Run, r.Select
	for _, other := range d.passes {
		err = errors.Join(err, other.closeWriters()) // of the run before: they have no rows
	}
	if err != nil {
		return nil, errors.Join(err, out.Groups.Close())
	}
	return out.Groups, nil
}

// regroupWriter makes sure of a writer of the other run, if groups were regrouped. false: there is
// no memory for one.
func (p *pass) regroupWriter() (bool, error) {
	if len(p.writers) > 0 {
		return true, nil
	}
	err := p.openWriters(&Config{Run: p.devices.config.Run, Threads: 1}, 0)
	if errors.Is(err, budget.Memory) {
		return false, nil
	}
	return err == nil, err
}

// Regrouped reports whether the groups of Finish are those of Regroup.Run.
func (d *Devices) Regrouped() bool { return d.regrouped }
