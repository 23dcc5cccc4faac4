//go:build nogpu || !linux || (!amd64 && !arm64)

package emu

// bind finds nothing where package cuda opens no library.
func bind() *Emu { return nil }
