package key

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
)

// F10, F56: strings that were made to have one hash have numbers of their own,
// and lie near the slots where they are looked for.
func TestInternEqualHashes(t *testing.T) {
	t.Parallel()
	// slots: of so many strings that nobody chose none lies 100 from home
	const n, most = 20_000, 200
	in := NewInterner(nil)
	seen := map[uint32]string{}
	for _, s := range collidingStrings(t, n) {
		id := in.id([]byte(s))
		if other, ok := seen[id]; ok {
			t.Fatalf("%q and %q have the number %d", s, other, id)
		}
		seen[id] = s
		if again := in.id([]byte(s)); again != id || in.get(id) != s {
			t.Fatalf("%q has the numbers %d and %d, which is %q", s, id, again, in.get(id))
		}
	}
	for i := range in.shards {
		x := in.shards[i].index.Load()
		for slot, e := range x.dir {
			if mask := len(x.dir) - 1; e != 0 && (slot-int(x.entries[e-1].hash))&mask > most {
				t.Fatalf("a string of shard %d, of %d, lies %d slots from home", i, in.shards[i].n, (slot-int(x.entries[e-1].hash))&mask)
			}
		}
	}
}

// collidingStrings returns n strings of one hash: the words of short strings
// are multiplied, and the first of these words makes a factor zero.
func collidingStrings(t *testing.T, n int) []string {
	t.Helper()
	out := make([]string, n)
	for i := range out {
		b := binary.LittleEndian.AppendUint64(nil, hashLow)
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
		if hashBytes(b) != 0 {
			t.Fatalf("the hash has changed: string %d collides no more", i)
		}
		out[i] = string(b)
	}
	return out
}

// The budget knows of all memory; a string that it has no room for is interned
// all the same, and asked for again.
func TestInternBudget(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	limit, held := int64(math.MaxInt64), int64(0)
	in := NewInterner(budgettest.Lender(func(n int64) error {
		if held+n > limit {
			return refused
		}
		held += n
		return nil
	}))
	fill := func(from int) {
		for i := range 5000 {
			b := fmt.Appendf(nil, "string number %d", from+i)
			in.id(b)
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
