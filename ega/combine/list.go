package combine

import (
	"errors"
	"fmt"
)

// LeastValues is how many values of a list are handed out at a time at least, but for the last:
// those of 64 KiB.
const LeastValues = 8 << 10

// List says in which state words groups keep all values of theirs, on a device. Their operations
// are Or, Or and Add.
type List struct {
	// in a row that a Maker makes, of one input row: the value. In a row of Groups: the number of
	// the group's first value
	Value int
	Next  int // 0; the device's
	// in a row of one input row: Unit, or 0: it has no value. In a row of Groups: Unit times the
	// values
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
