//go:build !unix

package spill

import "os"

// DefaultDir is where files go if nobody says where.
func DefaultDir() string { return os.TempDir() }
