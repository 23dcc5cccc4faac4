package main

import "os"

// spent is what a run took.
type spent struct {
	seconds float64
	cpu     float64 // seconds of all its threads, also in the kernel
	peak    int64   // highest resident bytes of the process
	written int64   // bytes it wrote to files
}

// spentBy is what the kernel counted of a process that has ended: what
// /usr/bin/time shows.
func spentBy(ended *os.ProcessState) spent {
	if ended == nil { // never started
		return spent{}
	}
	peak, written := counted(ended)
	return spent{cpu: (ended.UserTime() + ended.SystemTime()).Seconds(), peak: peak, written: written}
}
