package streams

import (
	"syscall"
	"time"
)

// pollPause is how long a lane sleeps before it asks its events again. The kernel makes 90 µs of it
// (Pause): with 1 µs it would be 70, with 100 it would be longer than the 150 µs in which 8 MiB
// cross the link.
const pollPause = 20 * time.Microsecond

// Pause sleeps for a moment on the caller's own OS thread: for who asks the device
// again and again whether it is done. time.Sleep takes a millisecond where
// all goroutines sleep, since the runtime then waits in epoll, whose clock is that
// coarse; this takes 90 µs.
func Pause() {
	d := syscall.NsecToTimespec(int64(pollPause))
	_ = syscall.Nanosleep(&d, nil) // a signal ends it early
}
