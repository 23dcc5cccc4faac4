package main

import (
	"os"
	"syscall"
)

// peakOf is the most bytes of memory that a process has held that has ended.
func peakOf(ended *os.ProcessState) int64 {
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
