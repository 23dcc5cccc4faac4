//go:build !linux

package hostmem

func advise([]uint64) {}
