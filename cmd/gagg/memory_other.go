//go:build !linux

package main

import (
	"io/fs"
	"os"
)

// totalMemory is 0: it is known only on Linux.
func totalMemory() int64 { return 0 }

// systemFiles is the root of the file system.
func systemFiles() fs.FS { return os.DirFS("/") }

// spaces is empty: only Linux tells how much of such limits is in use.
func spaces(fs.FS) []space { return nil }
