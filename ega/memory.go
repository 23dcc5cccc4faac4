package ega

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// ErrTooSmall says that a pass was given less device memory than it needs at least.
var ErrTooSmall = errors.New("too little device memory")

// SmallError is an ErrTooSmall that says how much there has to be.
type SmallError struct {
	Has, Need cuda.Size
}

func (e *SmallError) Error() string {
	return fmt.Sprintf("%v: %v, at least %v (%d bytes) are needed", ErrTooSmall, e.Has, e.Need, uint64(e.Need))
}

// Is makes it an ErrTooSmall.
func (e *SmallError) Is(target error) bool { return target == ErrTooSmall }
