package cuda_test

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
)

func TestSpanSlice(t *testing.T) {
	s := cuda.Span{Ptr: 0x1000, Size: 100}
	if got := s.Slice(10, 30); got != (cuda.Span{Ptr: 0x100a, Size: 20}) {
		t.Errorf("[10:30] is %+v", got)
	}
	if got := s.Slice(10, 30).Slice(20, 20); got != (cuda.Span{Ptr: 0x101e}) {
		t.Errorf("[10:30][20:20] is %+v", got)
	}
	for _, r := range [][2]cuda.Size{{0, 101}, {50, 49}, {^cuda.Size(0), 1}, {101, 101}} {
		if !panics(func() { s.Slice(r[0], r[1]) }) {
			t.Errorf("[%d:%d] of 100 bytes is taken", uint64(r[0]), uint64(r[1]))
		}
	}
}

func panics(do func()) (did bool) {
	defer func() { did = recover() != nil }()
	do()
	return false
}
