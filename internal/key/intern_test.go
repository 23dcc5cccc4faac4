package key

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// F56: strings of one hash have numbers of their own.
func TestInternEqualHashes(t *testing.T) {
	in := NewInterner(nil)
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

// The budget knows of all memory; a string that it has no room for is interned
// all the same, and asked for again.
func TestInternBudget(t *testing.T) {
	refused := errors.New("refused")
	limit, held := int64(math.MaxInt64), int64(0)
	in := NewInterner(func(n int64) error {
		if held+n > limit {
			return refused
		}
		held += n
		return nil
	})
	fill := func(from int) {
		for i := range 5000 {
			b := fmt.Appendf(nil, "string number %d", from+i)
			in.id(b, hashBytes(b))
		}
	}
	fill(0)
	if held != in.Bytes() || held < 5000*14 || in.Settle() != nil {
		t.Fatalf("%d bytes held of %d", held, in.Bytes())
	}
	limit = held
	fill(5000)
	if err := in.Settle(); !errors.Is(err, refused) || held != limit || in.Bytes() <= held {
		t.Fatalf("error %v, %d held of %d", err, held, in.Bytes())
	}
	limit = math.MaxInt64
	if err := in.Settle(); err != nil || held != in.Bytes() || in.Settle() != nil {
		t.Fatalf("error %v, %d held of %d", err, held, in.Bytes())
	}
	limit = held
	fill(10_000) // on debt
	if in.Close(); held != 0 || in.Bytes() != 0 || in.Settle() != nil {
		t.Fatalf("%d held of %d after closing", held, in.Bytes())
	}
}
