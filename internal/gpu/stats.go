package gpu

import (
	"slices"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/ega/secondpass"
)

// Stats is what one device did for a run.
type Stats struct {
	Number int
	Name   string
	Start  time.Duration // from when it was first wanted until all devices were ready
	Memory int64         // bytes that it might take
	Peak   int64         // bytes that it held at most
	// zero unless the first pass was finished; InCore: all groups stayed on devices
	First firstpass.Stats
	// Selected: groups in the table that left it at once, since few were wanted, or there were few
	Selected int64
	// Regrouped: groups that those in the table became, for aggregates of distinct values
	Regrouped int64
	Second    []secondpass.Stats // of each merger that has ended
}

// Stats is about the devices that were opened. It may be called once Finish has returned, also
// after Close, and is complete when the mergers are closed.
func (d *Devices) Stats() []Stats {
	select {
	case <-d.opened:
	default:
		return nil // they came too late to be used
	}
	var list []Stats
	for _, p := range d.passes {
		device, first := p.context.Device(), p.first
		first.InCore = first.InCore && (d.stayed() || d.selected)
		list = append(list, Stats{
			Number: device.Ordinal, Name: device.Name, Start: d.took, Memory: p.memory, Peak: int64(p.context.Peak()),
			First: first, Selected: p.selected, Regrouped: p.regrouped, Second: p.second.get(),
		})
	}
	return list
}

// stayed reports whether Finish has left all groups on a device: those that a first pass had in its
// table may have gone to writers.
func (o *outcome) stayed() bool { return o.context != nil }

// Opening reports whether devices are being opened.
func (d *Devices) Opening() bool {
	pending, _ := d.Opened()
	return pending
}

// Opened tells whether devices were opened, and if not, why; pending: that is not known yet.
func (d *Devices) Opened() (pending bool, err error) {
	select {
	case <-d.opened:
		return false, d.err
	default:
		return true, nil
	}
}

// secondStats collects what second passes on a device did, from the goroutines of mergers.
type secondStats struct {
	mu   sync.Mutex
	list []secondpass.Stats
}

func (s *secondStats) add(b secondpass.Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, b)
}

func (s *secondStats) get() []secondpass.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// Close adds the counts of the pass to the statistics.
func (b *secondPass) Close() error {
	b.notes.add(b.Stats())
	return b.of.closing(b.context, b.Pass.Close())
}
