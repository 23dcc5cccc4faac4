package main

import (
	"os"
	"syscall"
)

// spent is what a run took.
type spent struct {
	seconds float64
	cpu     float64 // seconds of all its threads, also in the kernel
	peak    int64   // highest resident bytes of the process
	written int64   // bytes it wrote to files
}

// spentBy is what the kernel counted of a process that has ended: what
// /usr/bin/time shows. Pages that become dirty count as written, whether or
// not the file is still there when the disk would get them; files in memory
// (tmpfs) do not count.
//
// Linux counts this program's own peak as the child's until the child has
// grown past it, so this program has to stay small.
func spentBy(ended *os.ProcessState) spent {
	if ended == nil { // never started
		return spent{}
	}
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return spent{}
	}
	const kilobyte, block = 1024, 512
	return spent{cpu: (ended.UserTime() + ended.SystemTime()).Seconds(), peak: usage.Maxrss * kilobyte, written: usage.Oublock * block}
}
