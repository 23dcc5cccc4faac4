//go:build !linux

package main

// workedSoFar is 0: this system does not tell how long threads have waited for a processor.
func workedSoFar() worked { return worked{} }
