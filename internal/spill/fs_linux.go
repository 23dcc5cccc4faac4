package spill

import "golang.org/x/sys/unix"

// Prefetch is a hint: its failure means nothing.
func (h osHandle) Prefetch(off, n int64) {
	_ = h.control(func(fd int) error { return unix.Fadvise(fd, off, n, unix.FADV_WILLNEED) })
}

func (h osHandle) Punch(off, n int64) error {
	return h.control(func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	})
}
