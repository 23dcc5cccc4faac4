package parquetio

import "golang.org/x/sys/cpu"

// greatestAVX2 returns the greatest of the codes, seen as numbers without
// sign, so that a negative one is greater than all others. len(codes) is a
// multiple of 32.
//
//go:noescape
func greatestAVX2(codes []int32) uint32

// codesBelow is codesBelowGeneric, which is the reference, at 32 codes a step.
func codesBelow(codes []int32, n int) bool {
	if whole := len(codes) &^ 31; cpu.X86.HasAVX2 && whole > 0 {
		if uint64(greatestAVX2(codes[:whole])) >= uint64(n) {
			return false
		}
		codes = codes[whole:]
	}
	return codesBelowGeneric(codes, n)
}
