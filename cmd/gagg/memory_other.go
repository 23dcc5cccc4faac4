//go:build !linux

package main

import (
	"io/fs"
	"os"
)

// totalMemory is what only Linux tells.
func totalMemory() int64 { return 0 }

// systemFiles is the root of the file system.
func systemFiles() fs.FS { return os.DirFS("/") }

// spaces are limits that only Linux tells how much of is in use.
func spaces(fs.FS) []space { return nil }
