package filepool

import (
	"os"

	"golang.org/x/sys/unix"
)

var pageSize = int64(os.Getpagesize())

func ahead(f *os.File, off, n int64) (asked int64) {
	// Fd would take the file out of non-blocking mode; the raw connection
	// leaves it as it is.
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = conn.Control(func(fd uintptr) {
		for n > 0 {
			piece := min(n, Piece)
			if !cached(int(fd), off, piece) && unix.Fadvise(int(fd), off, piece, unix.FADV_WILLNEED) == nil {
				asked += piece
			}
			off, n = off+piece, n-piece
		}
	})
	return asked
}

// cached reports whether a range is in the page cache, or on its way there; false where the system
// does not tell: Linux before 6.5, or of files of others.
func cached(fd int, off, n int64) bool {
	pages := (off+n-1)/pageSize - off/pageSize + 1
	var s unix.Cachestat_t
	err := unix.Cachestat(uint(fd), &unix.CachestatRange{Off: uint64(off), Len: uint64(n)}, &s, 0)
	return err == nil && int64(s.Cache) >= pages
}
