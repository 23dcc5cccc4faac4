package expr

import "golang.org/x/sys/cpu"

// pairStep is what the length of indexPair's arguments is a multiple of.
const pairStep = 32

// indexPairAVX2 returns the first place where p has a and q has b, or their length if there is
// none. Both have the same length, a multiple of pairStep.
//
//go:noescape
func indexPairAVX2(p, q []byte, a, b byte) int

// indexPairGeneric is the reference.
func indexPairGeneric(p, q []byte, a, b byte) int {
	for i, c := range p {
		if c == a && q[i] == b {
			return i
		}
	}
	return len(p)
}

func indexPair(p, q []byte, a, b byte) int {
	if !cpu.X86.HasAVX2 {
		return indexPairGeneric(p, q, a, b)
	}
	return indexPairAVX2(p, q, a, b)
}
