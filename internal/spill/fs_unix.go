//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package spill

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// unlinkOpen: a file is removed as soon as it is open, and lives on
	// without a name.
	unlinkOpen = true
	noFollow   = syscall.O_NOFOLLOW
)

// ownedByUs reports whether the user of this process owns the file.
func ownedByUs(info fs.FileInfo) bool { return ownedBy(info, os.Geteuid()) }

func ownedBy(info fs.FileInfo, uid int) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid
}

// ownedByOther reports whether someone who could mean harm owns the file:
// root owns the link /tmp of some systems.
func ownedByOther(info fs.FileInfo) bool { return !ownedByUs(info) && !ownedBy(info, 0) }

// openToAll reports whether anybody may remove and replace what others put
// into the folder.
func openToAll(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0
}

// Lock is flock. Unlike the locks of fcntl it is held against other files
// opened by the same process too.
func (h osHandle) Lock() (bool, error) {
	var locked bool
	err := h.control(func(fd int) error {
		for {
			err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			locked = err == nil
			if locked || errors.Is(err, unix.EWOULDBLOCK) {
				return nil
			}
			return errors.Join(errors.ErrUnsupported, err)
		}
	})
	return locked, err
}

// control calls f with the file's descriptor, which is not closed, and so
// cannot become that of another file, before f returns.
func (h osHandle) control(f func(fd int) error) error {
	conn, err := h.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	if err := conn.Control(func(fd uintptr) { result = f(int(fd)) }); err != nil {
		return err
	}
	return result
}
