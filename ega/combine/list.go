package combine

import (
	"errors"
	"fmt"
)

// LeastValues is the least number of values of a list that are handed out at a time, except for
// the last ones: 64 KiB of them.
const LeastValues = 8 << 10

// List says in which state words a group on a device keeps the place of all its values. The
// operations of these words are Or, Or and Add.
type List struct {
	// in a row that a Maker makes of one input row: the value. In a row of Groups: the number of
	// the group's first value
	Value int
	Next  int // 0; the device's
	// in a row of one input row: Unit, or 0 if it has no value. In a row of Groups: Unit times the
	// number of values
	Count int
	Unit  uint64 // at least 1
}

// Validate reports everything that is wrong with a list, in rows whose states have the operations
// ops.
func (l *List) Validate(ops []Op) error {
	var errs []error
	for _, w := range []struct {
		name string
		word int
		op   Op
	}{{"value", l.Value, Or}, {"next", l.Next, Or}, {"count", l.Count, Add}} {
		if w.word < 0 || w.word >= len(ops) || ops[w.word] != w.op {
			errs = append(errs, fmt.Errorf("%s of a list: state word %d is not one", w.name, w.word))
		}
	}
	if l.Unit == 0 {
		errs = append(errs, errors.New("a value of a list counts 0"))
	}
	return errors.Join(errs...)
}
