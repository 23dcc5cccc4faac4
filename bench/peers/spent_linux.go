package main

import (
	"os"
	"syscall"
)

// counted is the peak of the resident bytes of a process that has ended, and the bytes that it
// wrote to files. Pages that become dirty count as written, whether or not the file is still there
// when the disk would get them; files in memory (tmpfs) do not count.
//
// Linux counts this program's own peak as the child's until the child has grown past it, so this
// program has to stay small.
func counted(ended *os.ProcessState) (peak, written int64) {
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0
	}
	const kilobyte, block = 1024, 512
	return usage.Maxrss * kilobyte, usage.Oublock * block
}
