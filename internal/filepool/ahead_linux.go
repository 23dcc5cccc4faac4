package filepool

import (
	"os"

	"golang.org/x/sys/unix"
)

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
			if !cached(int(fd), off+piece-1) && unix.Fadvise(int(fd), off, piece, unix.FADV_WILLNEED) == nil {
				asked += piece
			}
			off, n = off+piece, n-piece
		}
	})
	return asked
}

// cached reports whether a byte is in the page cache; false where the file system does not tell.
func cached(fd int, off int64) bool {
	var b [1]byte
	n, err := unix.Preadv2(fd, [][]byte{b[:]}, off, unix.RWF_NOWAIT)
	return n == 1 && err == nil
}
