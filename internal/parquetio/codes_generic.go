package parquetio

import "unsafe"

// codesBelowGeneric reports whether all codes are in [0, n). It looks at two codes
// at a time: x is below n if neither x nor x + (2^31 - n) has its top bit
// set. A carry out of the lower code needs that code's top bit set, so it
// cannot turn a failure into a success.
func codesBelowGeneric(codes []int32, n int) bool {
	const top = 1<<31 | 1<<63
	add := (uint64(1)<<31 - uint64(n)) * (1<<32 | 1)
	seen := uint64(0)
	if len(codes)&1 == 1 {
		x := uint64(uint32(codes[len(codes)-1]))
		seen = x | (x + add)
		seen |= seen << 32
		codes = codes[:len(codes)-1]
	}
	if len(codes) == 0 { // nothing that a pointer to a pair may point to
		return seen&top == 0
	}
	pairs := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes)/2)
	other := uint64(0) // a second chain of or, to do two words a cycle
	for ; len(pairs) >= 4; pairs = pairs[4:] {
		p := pairs[:4:4]
		seen |= p[0] | (p[0] + add) | p[1] | (p[1] + add)
		other |= p[2] | (p[2] + add) | p[3] | (p[3] + add)
	}
	for _, x := range pairs {
		seen |= x | (x + add)
	}
	return (seen|other)&top == 0
}
