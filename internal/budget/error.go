package budget

import (
	"errors"
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// Resource is what a budget is of. It is the kind of its refusals too, for errors.Is.
type Resource int

// The resources.
const (
	Memory Resource = iota // of the host, what is pinned included
	Disk                   // temporary files
	Device                 // memory of a GPU
)

func (r Resource) Error() string {
	return [...]string{Memory: "out of memory", Disk: "no more temp space", Device: "out of GPU memory"}[r]
}

// Error is a refusal: there are fewer bytes than were asked for.
type Error struct {
	Of    Resource
	Limit int64  // bytes; 0: not known, a part of them was used up
	Used  int64  // bytes of it that were reserved
	Want  int64  // bytes that had been, if the request had been granted
	Need  int64  // the least limit that is enough; 0: not known
	Why   string // says what part is used up; "": the budget itself is
}

// Is makes a refusal one of its resource.
func (e *Error) Is(target error) bool { return target == e.Of }

func (e *Error) Error() string {
	switch {
	case e.Why != "":
		return e.Why
	case e.Of == Disk:
		return fmt.Sprintf("temp limit reached: %s allowed, %s used, %s wanted; give a larger --temp-limit or more memory",
			iec(e.Limit), iec(e.Used), iec(e.Want-e.Used))
	case e.Of == Device && e.Need > 0:
		const tenth = float64(1<<20) / 10
		return fmt.Sprintf("GPU memory limit too small: needs at least %.1f MiB, has %.1f MiB",
			math.Ceil(float64(e.Need)/tenth)/10, math.Floor(float64(e.Limit)/tenth)/10)
	default:
		return fmt.Sprintf("%v: %s wanted, the limit is %s; give a larger memory limit", e.Of, iec(e.Want), iec(e.Limit))
	}
}

// Refusal is the first refusal of a resource that err is or wraps; nil: there is none.
func Refusal(err error, of Resource) *Error {
	var e *Error
	switch {
	case !errors.Is(err, of):
		return nil
	case errors.As(err, &e) && e.Of == of:
		return e
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			if e := Refusal(err, of); e != nil {
				return e
			}
		}
		return nil
	}
	return Refusal(errors.Unwrap(err), of)
}

func iec(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
