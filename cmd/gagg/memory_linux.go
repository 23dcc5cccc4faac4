package main

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// spaces are the limits of what this process may map, as far as there are any.
func spaces(root fs.FS) []space {
	status, err := fs.ReadFile(root, "proc/self/status")
	if err != nil {
		return nil
	}
	var all []space
	for resource, s := range map[int]space{
		unix.RLIMIT_AS:   {flag: "-v", what: "the address space", used: kibOf(string(status), "VmSize:")},
		unix.RLIMIT_DATA: {flag: "-d", what: "the data segment", used: kibOf(string(status), "VmData:")},
	} {
		var limit unix.Rlimit
		if err := unix.Getrlimit(resource, &limit); err != nil || limit.Cur > 1<<62 || s.used == 0 {
			continue // RLIM_INFINITY, or nothing is known
		}
		s.limit = int64(limit.Cur)
		all = append(all, s)
	}
	return all
}
