//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package sink

import "errors"

// Lock is not supported.
func (osHandle) Lock() (func(), error) { return nil, errors.ErrUnsupported }
