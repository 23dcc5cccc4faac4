//go:build !amd64

package expr

func selectWords(dst []int32, is []int64, null []bool) int {
	return selectWordsFrom(dst, is, null, 0, 0)
}

func selectBits(dst, codes []int32, null []bool, bits []uint32) int {
	return selectMany(dst, codes, null, bits)
}

func selectMany(dst, codes []int32, null []bool, bits []uint32) int {
	return selectManyFrom(dst, codes, null, bits, 0, 0)
}

func selectCode(dst, codes []int32, null []bool, code int32, others bool) int {
	return selectCodeFrom(dst, codes, null, code, others, 0, 0)
}
