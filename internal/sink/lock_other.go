//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package sink

import "errors"

// Lock is not supported.
func (osHandle) Lock() (func(), error) { return nil, errors.ErrUnsupported }

// duplicate is not supported: there are no files by the names of descriptors either.
func duplicate(uintptr) (uintptr, error) { return 0, errors.ErrUnsupported }
