package expr

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// rowsOf is, by eight bits, the numbers of those that are 1, first.
var rowsOf = func() (t [256][selectStep]byte) {
	for bits := range t {
		k := 0
		for i := range byte(selectStep) {
			t[bits][k] = i
			k += bits >> i & 1
		}
	}
	return t
}()

// The kernels write the rows of the first len &^ 7 values that are true and not NULL to dst, with
// selectStep numbers more, and return how many there are. null is nil if none is NULL. They need
// AVX2 and POPCNT.

//go:noescape
func selectWordsAVX2(dst *int32, is []int64, null *bool, rows *[256][selectStep]byte) int

//go:noescape
func selectBitsAVX2(dst *int32, codes []int32, null *bool, rows *[256][selectStep]byte, bits uint32) int

// Code c has bit c%32 of word c/32.
//
//go:noescape
func selectManyAVX2(dst *int32, codes []int32, null *bool, rows *[256][selectStep]byte, bits []uint32) int

// flip is 0 for the rows with the code, 255 for the others.
//
//go:noescape
func selectCodeAVX2(dst *int32, codes []int32, null *bool, rows *[256][selectStep]byte, code int32, flip uint32) int

var hasSelect = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

// firstNull is where NULLs are told, nil if nowhere. There are n rows.
func firstNull(null []bool, n int) *bool {
	if null == nil {
		return nil
	}
	return unsafe.SliceData(null[:n])
}

// selectWords writes the numbers of the words that are 1, and not NULL, to dst, which has room for
// selectStep more than there are words, and returns how many there are.
func selectWords(dst []int32, is []int64, null []bool) (k int) {
	i := 0
	if hasSelect && len(dst) >= len(is)+selectStep {
		i = len(is) &^ (selectStep - 1)
		k = selectWordsAVX2(unsafe.SliceData(dst), is, firstNull(null, len(is)), &rowsOf)
	}
	return selectWordsFrom(dst, is, null, i, k)
}

// selectBits does so for the codes whose bit is 1. All are less than 32.
func selectBits(dst, codes []int32, null []bool, bits []uint32) (k int) {
	i := 0
	if hasSelect && len(dst) >= len(codes)+selectStep {
		i = len(codes) &^ (selectStep - 1)
		k = selectBitsAVX2(unsafe.SliceData(dst), codes, firstNull(null, len(codes)), &rowsOf, bits[0])
	}
	return selectManyFrom(dst, codes, null, bits, i, k)
}

// selectMany does so for any codes.
func selectMany(dst, codes []int32, null []bool, bits []uint32) (k int) {
	i := 0
	if hasSelect && len(dst) >= len(codes)+selectStep {
		i = len(codes) &^ (selectStep - 1)
		k = selectManyAVX2(unsafe.SliceData(dst), codes, firstNull(null, len(codes)), &rowsOf, bits)
	}
	return selectManyFrom(dst, codes, null, bits, i, k)
}

// selectCode does so for one code, or for all others.
func selectCode(dst, codes []int32, null []bool, code int32, others bool) (k int) {
	i := 0
	if hasSelect && len(dst) >= len(codes)+selectStep {
		i = len(codes) &^ (selectStep - 1)
		k = selectCodeAVX2(unsafe.SliceData(dst), codes, firstNull(null, len(codes)), &rowsOf, code, uint32(255*truth(others)))
	}
	return selectCodeFrom(dst, codes, null, code, others, i, k)
}
