package ega

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// ErrTooSmall is that a pass was given too little device memory for the least that it needs.
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
