package main

import (
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// totalMemory is the memory of the machine in bytes, 0 where it is not known.
func totalMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// systemFiles is the root of the file system, for small files of the kernel.
func systemFiles() fs.FS { return kernelFiles{os.DirFS("/")} }

// kernelFiles only opens, reads and closes a file. Package os also registers files with the
// runtime's poller, which takes five more system calls for each: a twentieth of the time of a
// small query.
type kernelFiles struct{ fs.FS }

var _ fs.ReadFileFS = kernelFiles{}

// ReadFile reads the file called name from the root on.
func (kernelFiles) ReadFile(name string) ([]byte, error) {
	fd, err := unix.Open("/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	text := make([]byte, 0, 4<<10)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: name, Err: err}
		case n == 0:
			return text, nil
		default:
			text = append(text[:len(text)+n], 0)[:len(text)+n] // with room for more
		}
	}
}

// spaces are the limits of the memory that this process may map, if there are any.
func spaces(root fs.FS) []space {
	status := sync.OnceValue(func() string {
		text, _ := fs.ReadFile(root, "proc/self/status")
		return string(text)
	})
	var all []space
	for _, r := range []struct {
		resource   int
		flag, what string
		used       string // a line of status
	}{
		{unix.RLIMIT_AS, "-v", "the address space", "VmSize:"},
		{unix.RLIMIT_DATA, "-d", "the data segment", "VmData:"},
	} {
		var limit unix.Rlimit
		if err := unix.Getrlimit(r.resource, &limit); err != nil || limit.Cur > 1<<62 {
			continue // RLIM_INFINITY
		}
		if used := kibOf(status(), r.used); used > 0 {
			all = append(all, space{flag: r.flag, what: r.what, limit: int64(limit.Cur), used: used})
		}
	}
	return all
}
