package parquetio

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// fileID tells files and folders apart, also if they have several names.
type fileID struct{ device, inode uint64 }

func idOf(info fs.FileInfo) (fileID, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{uint64(s.Dev), s.Ino}, true
}

// isMadeUp reports whether a folder is of a file system by which the kernel
// shows and sets what it knows. There are no data in those, but links to
// everything else, files that wait when they are read, and trees without end.
func isMadeUp(dir string) bool {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return false
	}
	switch uint64(s.Type) {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.DEBUGFS_MAGIC,
		unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.BPF_FS_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.EFIVARFS_MAGIC, unix.NSFS_MAGIC:
		return true
	}
	return false
}
