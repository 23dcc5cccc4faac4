//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package spill

import (
	"errors"
	"io/fs"
)

// An open file cannot be removed on Windows, and there are no owners to
// compare. Folders of dead processes stay.
const (
	unlinkOpen = false
	noFollow   = 0
)

func ownedByUs(fs.FileInfo) bool    { return true }
func ownedByOther(fs.FileInfo) bool { return false }
func openToAll(fs.FileInfo) bool    { return false }

func (h osHandle) Lock() (bool, error) { return false, errors.ErrUnsupported }
