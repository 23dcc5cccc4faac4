package hostmem

import "testing"

// Buffers around the size of huge pages are zero, of the length asked for and
// writable to their ends.
func TestWords(t *testing.T) {
	for _, n := range []int{0, 1, hugePage / 8, 2*hugePage/8 - 1, 2 * hugePage / 8, 5*hugePage/8 + 3} {
		s := Words(n)
		if len(s) != n {
			t.Fatalf("Words(%d) has %d words", n, len(s))
		}
		for i, w := range s {
			if w != 0 {
				t.Fatalf("Words(%d)[%d] = %d", n, i, w)
			}
			s[i] = 1
		}
	}
}
