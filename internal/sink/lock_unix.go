//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sink

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Lock is flock, of a second descriptor of the same open file.
func (h osHandle) Lock() (unlock func(), err error) {
	raw, err := h.SyscallConn()
	if err != nil {
		return nil, err
	}
	var second uintptr
	var dupErr error
	err = raw.Control(func(fd uintptr) { second, dupErr = duplicate(fd) })
	if err = errors.Join(err, dupErr); err != nil {
		return nil, err
	}
	unlock = func() { _ = unix.Close(int(second)) } // nothing was written by it
	err = unix.Flock(int(second), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return unlock, nil
	}
	unlock()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, errors.Join(errors.ErrUnsupported, err)
}

// duplicate is a second descriptor of the same open file, which programs that are started do not
// get.
func duplicate(fd uintptr) (second uintptr, err error) {
	n, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	return uintptr(n), err
}
