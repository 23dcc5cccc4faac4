package exec

import (
	"log/slog"
	"sync/atomic"
)

// phase is where a run is. What devices do is planned before the run (plan.Device); that one of
// them fails is found only while running, and takes the run to another phase, at most once:
//
//	phase         event       next          what happens
//	scanning      grouped     output        all rows are read and grouped
//	scanning      deviceLost  rescanning    the input is read again, by the CPU alone
//	rescanning    grouped     outputByCPU   the groups are those of the second reading
//	output        deviceLost  regrouping    the same while groups are put out: mergers wait
//	regrouping    grouped     outputByCPU   mergers go on with the second reading's groups
//	rescanning    failed      ended         the second reading failed, and so does the run
//	regrouping    failed      ended         the same; mergers get its error
//
// Any other event leaves the phase as it is, and any other error ends the run in its phase. That no
// device could be opened in time is no event: the workers keep the rows. If a hint of the plan was
// wrong the run ends, and Run begins another one with another plan.
//
// From rescanning or regrouping on nothing is used that the first reading has made (DEVICE-VOID in
// package gpu).
type phase int32

const (
	scanning    phase = iota // the input is read, and grouped by the CPU and by devices
	output                   // groups are merged and put out
	rescanning               // a device has failed: the input is read again, by the CPU alone
	regrouping               // the same, and a part of the groups has been put out
	outputByCPU              // groups of the second reading are merged and put out
	ended                    // the second reading failed
)

func (p phase) String() string {
	return [...]string{"scanning", "output", "rescanning", "regrouping", "output by the CPU", "ended"}[p]
}

// event is what takes a run from one phase to another.
type event int

const (
	grouped    event = iota // a reading is complete
	deviceLost              // a device has failed, and the CPU can stand in for it
	failed                  // the second reading failed
)

// transitions is the table of phase's comment.
var transitions = map[phase]map[event]phase{
	scanning:   {grouped: output, deviceLost: rescanning},
	output:     {deviceLost: regrouping},
	rescanning: {grouped: outputByCPU, failed: ended},
	regrouping: {grouped: outputByCPU, failed: ended},
}

// machine is in the phase of a run. Only the goroutine that reads the input, or one that holds
// failover.failing, steps; any may look.
type machine struct{ in atomic.Int32 }

func (m *machine) phase() phase { return phase(m.in.Load()) }

// step takes the run to the next phase; false: the event leaves it where it is.
func (m *machine) step(e event) (phase, bool) {
	from := m.phase()
	to, ok := transitions[from][e]
	if !ok {
		return from, false
	}
	m.in.Store(int32(to))
	return to, true
}

// void reports whether the first reading may not be used any more (DEVICE-VOID).
func (p phase) void() bool { return p >= rescanning }

// step takes the run to its next phase, and tells the log.
func (r *run) step(e event) (phase, bool) {
	to, ok := r.machine.step(e)
	if ok {
		r.opt.logger().Debug("phase", slog.String("name", to.String()))
	}
	return to, ok
}
