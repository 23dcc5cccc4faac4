//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// freeSpace is the bytes that may be written to the file system of dir.
func freeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
