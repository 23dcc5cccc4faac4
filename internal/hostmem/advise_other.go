//go:build !linux

package hostmem

func advise([]byte) {}
