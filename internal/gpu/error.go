package gpu

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// ErrRows is that rows were lost or doubled on a device, or on the way to it or back.
var ErrRows = errors.New("not all rows came back")

// Error is a failure of a device in the middle of a run.
type Error struct {
	Device int // its number
	Cause  error
	// groups that may be wrong were given away before it was found: no part of the run can be done
	// again
	Late bool
}

func (e *Error) Error() string { return fmt.Sprintf("device %d: %v", e.Device, e.Cause) }
func (e *Error) Unwrap() error { return e.Cause }

// limited is err as a refusal of the budget of a device if it is that the limit of a run, in bytes,
// leaves a pass too little memory to be of use.
func limited(err error, memory, limit int64) error {
	var small *ega.SmallError
	if errors.As(err, &small) && memory == limit {
		return &budget.Error{Of: budget.Device, Limit: limit, Need: int64(small.Need)}
	}
	return err
}

// writeError is an error of the host while it takes rows that a device has no room for.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// failed tells failures of the device of c from those of the host and from the end of a
// run.
func failed(c *cuda.Context, err error) error {
	var write *writeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &write):
		return write.error
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &Error{Device: c.Device().Ordinal, Cause: err}
}
