package main

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg"
)

// defaultMemoryPercent leaves room for the page cache, which reading needs, and for memory that a
// budget does not count: stacks, code, the runtime.
const defaultMemoryPercent = 80

// memoryLimit is the memory limit in bytes, 0 for none. It is the size that was asked for, or the
// default share of the machine's memory if that is known, but never more than the limits of the
// process allow.
func memoryLimit(asked size) (limit int64, err error) {
	root := systemFiles()
	allowed := memoryAllowed(root, totalMemory())
	switch {
	case asked == size{}:
		limit = size{percent: defaultMemoryPercent}.of(allowed)
	case allowed == 0 && asked.percent != 0:
		return 0, usagef("--memory-limit %s: this system does not tell how much memory there is; give a size such as 4GiB", &asked)
	default:
		limit = asked.of(allowed)
	}
	for _, s := range spaces(root) {
		if s.memory() < leastMemory {
			return 0, &spaceError{s}
		}
		if limit == 0 || s.memory() < limit {
			limit = s.memory()
		}
	}
	return limit, nil
}

// space is a limit of what a process may map (ulimit -v, ulimit -d), in bytes. The Go runtime
// crashes when it is refused memory, so the memory limit has to stay far enough below: half of the
// space that is left is for memory that is mapped but not resident, or no longer (arenas of 64
// MiB, stacks, huge pages that are shared). Measured: a run of 60 MiB takes up to 250 MiB of
// address space more than the process has at its beginning, one of 256 MiB 400 MiB.
type space struct {
	flag        string // of ulimit
	what        string
	limit, used int64
}

const (
	// runtimeSpace is the address space that the runtime and its threads map after the start.
	runtimeSpace = 96 * mib
	// leastMemory is about the least memory with which any query runs.
	leastMemory = 64 * mib
)

func (s space) memory() int64 { return max(s.limit-s.used-runtimeSpace, 0) / 2 }

// spaceError says that a limit of the process leaves no room for any run.
type spaceError struct{ space }

func (e *spaceError) Error() string {
	text := func(n int64) string { return humanize.IBytes(uint64(n)) }
	return fmt.Sprintf("%s of this process is limited to %s (ulimit %s), and %s are in use: raise it to %s at least; --memory-limit and control groups limit memory better",
		e.what, text(e.limit), e.flag, text(e.used), text(e.used+runtimeSpace+2*leastMemory))
}

func (e *spaceError) Is(target error) bool { return target == gagg.ErrBudget }

// memoryAllowed is the bytes of memory that the process may use: the total of the machine, or less
// where a control group (a container, a batch job, a systemd unit) says so. It is 0 where that is
// not known. root is the root of the file system.
func memoryAllowed(root fs.FS, total int64) int64 {
	least := total
	lowerTo := func(n int64) {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	lower := func(name string) {
		text, err := fs.ReadFile(root, name)
		n, parseErr := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && parseErr == nil {
			lowerTo(n) // "max" does not parse; version 1 writes a huge number
		}
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		switch {
		case len(parts) != 3:
		case parts[0] == "0": // version 2: every group above counts too
			for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
				lower(path.Join("sys/fs/cgroup", dir, "memory.max"))
				if dir == "/" {
					break
				}
			}
		case strings.Contains(","+parts[1]+",", ",memory,"): // version 1
			for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
				lower(path.Join("sys/fs/cgroup/memory", dir, "memory.limit_in_bytes"))
				if dir == "/" {
					break
				}
			}
			// Inside a container its own group is mounted as the root. Only here are the limits of
			// the groups above visible.
			lowerTo(hierarchicalLimit(root, "sys/fs/cgroup/memory"))
		}
	}
	return least
}

// hierarchicalLimit is the least limit of a group of version 1 and of the groups above it, 0 where
// it is not known.
func hierarchicalLimit(root fs.FS, group string) int64 {
	text, _ := fs.ReadFile(root, path.Join(group, "memory.stat"))
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(line, "hierarchical_memory_limit "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			return n
		}
	}
	return 0
}

// peakResident is the most memory that the process has held so far, 0 where the system does not
// tell. getrusage cannot be used: its value begins with the memory of the parent when that started
// this process.
func peakResident(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/status")
	if err != nil {
		return 0
	}
	return kibOf(string(text), "VmHWM:")
}

// kibOf is the bytes of a line such as "VmHWM:  1234 kB".
func kibOf(text, name string) int64 {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == name {
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}
