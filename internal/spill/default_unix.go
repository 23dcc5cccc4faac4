//go:build unix

package spill

import "os"

// DefaultDir is where files go if nobody says where: $TMPDIR, else /var/tmp,
// which is for large files that may stay a while. /tmp is often memory, and
// spilling to memory what does not fit in memory helps nobody; it is used
// where there is no /var/tmp.
func DefaultDir() string {
	if os.Getenv("TMPDIR") == "" {
		if info, err := os.Stat(varTmp); err == nil && info.IsDir() {
			return varTmp
		}
	}
	return os.TempDir()
}

const varTmp = "/var/tmp"
