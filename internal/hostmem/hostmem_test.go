package hostmem

import "testing"

// Buffers around the size of huge pages are zero, of the length asked for and
// writable to their ends.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, hugePage / 8, 2*hugePage/8 - 1, 2 * hugePage / 8, 5*hugePage/8 + 3} {
		checkZero(t, Make[uint64](n), n)
		checkZero(t, Make[uint32](n), n)
	}
}

func checkZero[T uint32 | uint64](t *testing.T, s []T, n int) {
	t.Helper()
	if len(s) != n {
		t.Fatalf("Make(%d) has %d elements", n, len(s))
	}
	for i, w := range s {
		if w != 0 {
			t.Fatalf("Make(%d)[%d] = %d", n, i, w)
		}
		s[i] = 1
	}
}
