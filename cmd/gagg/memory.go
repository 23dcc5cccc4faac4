package main

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// defaultMemoryPercent leaves room for the page cache, which reading needs,
// and for what a budget does not count: stacks, code, the runtime.
const defaultMemoryPercent = 80

// memoryLimit is the memory limit in bytes, 0 for none: what was asked for,
// or the default share where the machine tells how much there is.
func memoryLimit(asked size) (int64, error) {
	allowed := memoryAllowed(os.DirFS("/"))
	switch {
	case asked == size{}:
		return size{percent: defaultMemoryPercent}.of(allowed), nil
	case allowed == 0 && asked.percent != 0:
		return 0, usagef("--memory-limit %s: this system does not tell how much memory there is; give a size such as 4GiB", &asked)
	}
	return asked.of(allowed), nil
}

// memoryAllowed is the bytes of memory that the process may use: what the
// machine has, or less where a control group (a container, a batch job, a
// systemd unit) says so. It is 0 where nothing tells. root is the root of the
// file system.
func memoryAllowed(root fs.FS) int64 {
	least := totalMemory(root)
	lower := func(name string) {
		text, err := fs.ReadFile(root, name)
		n, parseErr := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && parseErr == nil && n > 0 && (least == 0 || n < least) {
			least = n // "max" does not parse; version 1 writes a huge number
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
		case strings.Contains(","+parts[1]+",", ",memory,"): // inside a container, its own group is mounted as the root
			lower(path.Join("sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
			lower("sys/fs/cgroup/memory/memory.limit_in_bytes")
		}
	}
	return least
}

// totalMemory is the memory of the machine, 0 where it is not known.
func totalMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	return kibOf(string(text), "MemTotal:")
}

// peakResident is the most memory that the process has held so far, 0 where
// the system does not tell. getrusage does not serve: it begins with what the
// parent held when it started this process.
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
