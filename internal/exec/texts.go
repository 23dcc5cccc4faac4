package exec

import (
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/key"
)

// texts is the long strings of keys that workers give refs for devices, in an attempt, and the
// memory that is reserved for these and for copies of those that devices keep, of states too.
type texts struct {
	*key.Texts
	memory *budget.Reservation
}

// textsPart is the divisor of the workers' memory that gives the share of long strings for devices
// where memory is limited; devices pin another quarter. The strings stay in memory to the end, and
// workers cannot use the share while they read, even if it is not full. Workers read the row groups
// whose strings do not fit.
const textsPart = 8

// newTexts makes the texts of an attempt, and tells how many bytes are reserved. nil: rows have no
// strings, or there is no memory to reserve, and workers make the rows that have any.
func (r *run) newTexts(a *attempt) (*texts, int64) {
	if !a.cfg.Keys.HasRefs() && !a.cfg.States.HasTexts() {
		return nil, 0
	}
	bytes := r.plan.Memory.Worker * int64(r.plan.Threads) / textsPart
	memory, err := a.run.Reserve(bytes)
	if err != nil {
		return nil, 0
	}
	if bytes == 0 {
		memory.Close() // it lends memory of the run
	}
	return &texts{key.NewTexts(a.cfg.Arenas, memory), memory}, bytes
}

// table is what encoders add strings to.
func (t *texts) table() *key.Texts {
	if t == nil {
		return nil
	}
	return t.Texts
}

// count is how many texts there are, and their bytes, once none is added any more.
func (t *texts) count() (n, bytes int64) {
	if t == nil {
		return 0, 0
	}
	return t.Len()
}

// lender is what a device's own strings draw their memory from once they are copied to the host;
// nil: there is none.
func (t *texts) lender() budget.Lender {
	if t == nil {
		return nil
	}
	return t.memory
}

// read is called when workers add no string any more.
func (t *texts) read() {
	if t != nil {
		t.Close()
	}
}

// end is called when devices have given back all that they do: it releases reserved memory that is
// not used.
func (t *texts) end() {
	if t != nil {
		t.Close()
		t.memory.Close()
	}
}
