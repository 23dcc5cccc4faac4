//go:build !linux

package spill

import "errors"

func (h osHandle) Prefetch(off, n int64) {}

func (h osHandle) Punch(off, n int64) error { return errors.ErrUnsupported }
