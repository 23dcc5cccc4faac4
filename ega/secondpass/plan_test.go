package secondpass

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// A plan takes all the memory that it is given, but for less than a slot; buffers are as large as
// wanted where that is a small part.
func TestPlan(t *testing.T) {
	wide := ega.Layout{Hash: true, KeyWords: 4, Ops: make([]combine.Op, 20)}
	for _, l := range []ega.Layout{ega.Pairs, wide, {Hash: true, KeyWords: 1}} {
		for _, device := range []int64{50_000, 1 << 20, 1<<30 + 7, 100 << 30} {
			c := Config{Layout: l, Device: device}.withDefaults()
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			p := makePlan(&c)
			more := p
			more.slots++
			if p.bytes(&l) > cuda.Size(device) || p.slots < ega.MaxSlots && more.bytes(&l) <= cuda.Size(device) {
				t.Errorf("%d bytes: %+v takes %d", device, p, p.bytes(&l))
			}
			want := cuda.Size(min(DefaultBufferBytes, device/bufferShare)) / l.RowBytes()
			if cuda.Size(p.buffer) != max(want, leastBuffer) {
				t.Errorf("%d bytes: %+v, want buffers of %d rows", device, p, want)
			}
		}
	}
	bad := Config{Layout: ega.Layout{KeyWords: 1}, Device: 100, BufferBytes: -1, Load: feedback.LoadConfig{Full: 1, Max: .5}}
	if err := bad.Validate(); err == nil || strings.Count(err.Error(), "\n") != 2 || !strings.Contains(err.Error(), "at least") {
		t.Errorf("three mistakes: %v", err)
	}
}

// With Bytes there is room for as many groups as rows, and with much less there is none.
func TestBytes(t *testing.T) {
	for _, l := range []ega.Layout{ega.Pairs, {Hash: true, KeyWords: 4, Ops: make([]combine.Op, 20)}} {
		for _, rows := range []int64{0, 1, 1000, 7_800_000} {
			c := Config{Layout: l}.withDefaults()
			c.Device = Bytes(c, rows)
			p := makePlan(&c)
			if err := c.Validate(); err != nil || float64(p.slots)*c.Load.Full < float64(rows) {
				t.Errorf("%d rows: %d bytes are %d slots, %v", rows, c.Device, p.slots, err)
			}
			if c.Device = c.Device * 2 / 3; rows == 7_800_000 && float64(makePlan(&c).slots)*c.Load.Full >= float64(rows) {
				t.Errorf("%d rows: %d bytes would do", rows, c.Device)
			}
		}
	}
}

// For any groups of the rows, any thresholds, and any number of rows sent at once: the table never
// has more groups than it may (LOAD-MAX), every count that is waited for comes, and loading ends
// only when all rows are taken or the table counts as full.
func TestRoundsSimulated(t *testing.T) {
	full, waits := 0, 0
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 2))
		c := feedback.LoadConfig{Full: random.Float64() * .8}
		c.Max = c.Full + (1-c.Full)*(.1+.9*random.Float64())
		load := c.Of(2 + random.Int64N(400))
		r := newRounds(load)
		buffer, rows, of := 1+random.Int64N(100), random.Int64N(4000), 1+random.Int64N(500)
		if random.IntN(2) == 0 {
			of = 1 + of/20
		}
		groups, asked := map[int64]bool{}, int64(0) // asked: what the count under way will say
		for r.taken < rows {
			if r.left() == 0 {
				if r.asked != unasked {
					r.answer(asked)
				}
				if !r.next() && !r.exact() {
					waits++
					r.ask()
					r.answer(int64(len(groups)))
					r.next()
				}
				if r.left() == 0 {
					break
				}
			}
			n := min(buffer, r.left(), rows-r.taken)
			for range n {
				groups[random.Int64N(of)] = true
			}
			r.taken += n
			if int64(len(groups)) > load.NextLoad(0) {
				t.Fatalf("seed %d: LOAD-MAX: %d groups, at most %d", seed, len(groups), load.NextLoad(0))
			}
			if int64(len(groups)) > r.most() {
				t.Fatalf("seed %d: %d groups, and the bound says %d", seed, len(groups), r.most())
			}
			if r.due() {
				r.ask()
				asked = int64(len(groups))
			}
		}
		if r.taken < rows {
			full++
			if !load.Full(int64(len(groups))) {
				t.Fatalf("seed %d: ended at %d groups, which is not full", seed, len(groups))
			}
		}
	}
	if full < 300 || full > 2700 || waits < 300 {
		t.Errorf("%d of 3000 tables were full, %d counts were waited for: the inputs test one way only", full, waits)
	}
}
