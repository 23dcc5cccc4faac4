package parquetio

import (
	"os"

	"golang.org/x/sys/unix"
)

// willNeed starts reading a range of a file into the page cache.
func willNeed(f *os.File, off, n int64) {
	// Fd would take the file out of non-blocking mode; the raw connection
	// leaves it as it is.
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		_ = unix.Fadvise(int(fd), off, n, unix.FADV_WILLNEED)
	})
}
