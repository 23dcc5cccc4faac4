package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// workedSoFar is the processor time of the threads of the process, by the counters of the
// scheduler; 0 where the kernel has no such counters.
func workedSoFar() (w worked) {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat") // the pattern is a good one
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		ran, waited := schedstat(string(text))
		w.ran, w.waited = w.ran+ran, w.waited+waited
	}
	return w
}

// schedstat reads the first two of a thread's counters.
func schedstat(text string) (ran, waited time.Duration) {
	f := strings.Fields(text)
	if len(f) < 2 {
		return 0, 0
	}
	a, errA := strconv.ParseInt(f[0], 10, 64)
	b, errB := strconv.ParseInt(f[1], 10, 64)
	if errA != nil || errB != nil {
		return 0, 0
	}
	return time.Duration(a), time.Duration(b)
}
