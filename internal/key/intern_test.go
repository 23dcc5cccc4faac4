package key

import (
	"fmt"
	"testing"
)

// F56: strings of one hash have numbers of their own.
func TestInternEqualHashes(t *testing.T) {
	in := NewInterner()
	seen := map[uint32]string{}
	for i := range 500 {
		s := fmt.Sprintf("a string of more than fifteen bytes, number %d", i)
		id := in.id([]byte(s), 42)
		if other, ok := seen[id]; ok {
			t.Fatalf("%q and %q have the number %d", s, other, id)
		}
		seen[id] = s
		if again := in.id([]byte(s), 42); again != id || in.get(id) != s {
			t.Fatalf("%q has the numbers %d and %d, which is %q", s, id, again, in.get(id))
		}
	}
}
