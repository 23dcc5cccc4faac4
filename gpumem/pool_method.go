package gpumem

import "fmt"

// Method is how kernels look for pages of a Pool. It decides what the pool keeps
// of each page, and after how many steps a walker takes memory to be out.
type Method uint8

const (
	// CoRW: the lanes of a warp look together and share what they find. The
	// methods with a bitmap may be mixed in one pool.
	CoRW Method = iota
	// CRW: each thread looks next to its last page first.
	CRW
	// RWBM: each thread walks alone over a bitmap.
	RWBM
	// RW: each thread walks alone over a flag of 32 bits a page. It takes the
	// most steps, and gives a page back without an atomic.
	RW
)

var methodNames = [...]string{CoRW: "CoRW", CRW: "CRW", RWBM: "RW-BM", RW: "RW"}

// String is the paper's name.
func (m Method) String() string {
	if int(m) >= len(methodNames) {
		return fmt.Sprintf("method %d", uint8(m))
	}
	return methodNames[m]
}

// wordPages is how many pages a word of 32 bits stands for, and with it a step.
func (m Method) wordPages() uint32 {
	if m == RW {
		return 1
	}
	return 32
}
