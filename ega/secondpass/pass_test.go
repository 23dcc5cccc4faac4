package secondpass_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/reference"
	"github.com/gagg-dev/gagg/ega/secondpass"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// tinyPass is device memory for a table of some hundred groups.
const tinyPass = 31_000

func (r *rig) bucketPass(c secondpass.Config) *secondpass.Pass {
	r.TB.Helper()
	return gputest.Keep(r.TB, func() (*secondpass.Pass, error) { return secondpass.New(r.Thread.Context(), c) })
}

// bucket is what becomes of a bucket's rows, which are added in pieces of all sizes, every other
// few of them from pinned memory: groups, and rows not taken.
func bucket(c *cuda.Context, b *secondpass.Pass, stride int, rows []uint64, skip uint) (groups, left []uint64, err error) {
	t, err := c.Lock()
	if err != nil {
		return nil, nil, err
	}
	defer t.Unlock()
	pinned, err := t.AllocPinned(cuda.Size(max(8*len(rows), 8)))
	if err != nil {
		return nil, nil, err
	}
	// A pass that fails may still be reading, until it is closed.
	defer func() { err = errors.Join(err, t.Synchronize(), pinned.Close()) }()
	all := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(pinned.Bytes()))), len(rows))
	copy(all, rows)
	if err := b.Begin(skip, math.MaxInt64); err != nil {
		return nil, nil, err
	}
	random := rand.New(rand.NewPCG(uint64(len(rows)), 5))
	for from := 0; from < len(rows) && len(left) == 0; {
		n := min(1+random.IntN(700), (len(rows)-from)/stride)
		end := from + n*stride
		taken := 0
		if random.IntN(3) > 0 {
			taken, err = b.AddPinned(pinned.Span(cuda.Size(8*from), cuda.Size(8*end)))
		} else {
			taken, err = b.Add(all[from:end])
			clear(all[from : from+taken*stride]) // they were copied
		}
		if err != nil {
			return nil, nil, err
		}
		if from += taken * stride; from < end {
			left = append(left, all[from:]...)
		}
	}
	err = b.End(func(rows []uint64) error {
		if len(rows) == 0 || len(rows)%stride != 0 {
			return fmt.Errorf("a piece of %d words, rows of %d", len(rows), stride)
		}
		groups = append(groups, rows...)
		return nil
	})
	return groups, left, err
}

// checked aggregates a bucket and compares with the twin: each group comes once, and the groups
// with the rows not taken are those of all rows.
func (r *rig) checked(b *secondpass.Pass, l *ega.Layout, rows []uint64, skip uint) (groups, left []uint64) {
	r.TB.Helper()
	groups, left, err := bucket(r.Thread.Context(), b, l.Stride(), rows, skip)
	r.Do(err)
	if got := len(reference.Combine(l, groups)); got != len(groups) {
		r.TB.Errorf("%d words of groups, of which %d are different groups", len(groups), got)
	}
	if n := len(groups) / l.Stride(); int64(n) > b.Capacity() {
		r.TB.Errorf("LOAD-MAX: %d groups, at most %d", n, b.Capacity())
	}
	r.Same(l, reference.Combine(l, slices.Concat(groups, left)), reference.Combine(l, rows))
	return groups, left
}

// All cases, in a pass that has room for all groups and in one that is full soon. Each runs twice,
// so that the second bucket finds what the first one left.
func TestPass(t *testing.T) {
	list := egatest.Cases()
	for _, device := range []int64{tinyPass, 8 << 20} {
		t.Run(fmt.Sprintf("device=%d", device), func(t *testing.T) {
			if device > tinyPass && testing.Short() {
				t.Skip("too long under sanitizers")
			}
			for i := range list {
				c := &list[i]
				if testing.Short() && i%3 != 0 { // of four kinds for each layout
					continue
				}
				t.Run(c.Name, func(t *testing.T) {
					r := newRig(t)
					b := r.bucketPass(secondpass.Config{Layout: c.Layout, Device: device, BufferBytes: 40 << 10})
					for range 2 {
						_, left := r.checked(b, &c.Layout, c.Rows, 0)
						if device > tinyPass && len(left) > 0 {
							t.Errorf("%d words were left", len(left))
						}
					}
				})
			}
		})
	}
}

// Buckets through one pass whose copies and kernels take their time: many rows of few groups, which
// all fit by rounds; more groups than it takes; nothing; one frequent key; a bucket that is
// forgotten.
func TestPassRounds(t *testing.T) {
	r := newRig(t)
	if emulator, emulated := emu.Control(); emulated {
		emulator.Slow(0, 200*time.Microsecond)
	}
	l := ega.Layout{Hash: true, KeyWords: 2, Ops: []combine.Op{combine.Add, combine.MinInt}}
	b := r.bucketPass(secondpass.Config{Layout: l, Device: tinyPass})
	random := rand.New(rand.NewPCG(7, 8))
	capacity := int(b.Capacity())
	rows := func(n int, key func(i int) uint64) []uint64 { return egatest.Rows(random, &l, n, key) }

	few := rows(20*capacity, func(i int) uint64 { return uint64(i % 50) })
	if groups, left := r.checked(b, &l, few, 0); len(left) > 0 || len(groups) != 50*l.Stride() {
		t.Errorf("few groups: %d words of groups, %d were left", len(groups), len(left))
	}
	s := b.Stats()
	if s.Buckets != 1 || s.Full != 0 || s.Rows != int64(20*capacity) || s.Groups != 50 || s.Rounds < 20 || s.Counts < 19 || s.Loads < s.Rounds || s.Pinned == 0 || s.Pinned == s.Rows {
		t.Errorf("few groups: %+v", s)
	}

	distinct := rows(3*capacity, func(i int) uint64 { return uint64(i) })
	groups, left := r.checked(b, &l, distinct, 0)
	if s = b.Stats(); len(left) == 0 || s.Full != 1 || len(groups)/l.Stride() != capacity {
		t.Errorf("distinct groups: %d words of groups, %d were left, %+v", len(groups), len(left), s)
	}
	counts := s.Counts
	r.checked(b, &l, nil, 0)
	r.checked(b, &l, rows(capacity/2, func(i int) uint64 { return uint64(i) }), 0)
	if s = b.Stats(); s.Counts != counts+1 { // before the parts are fetched
		t.Errorf("groups of a round that does not end were counted: %+v", s)
	}
	r.checked(b, &l, rows(20*capacity, func(i int) uint64 { return uint64(i % 3 * i % (capacity / 3)) }), 0)

	r.checked(b, &l, distinct, 70) // they share no bits at all

	r.Do(b.Begin(0, math.MaxInt64))
	_, err := b.Add(distinct)
	r.Do(err)
	r.checked(b, &l, few, 0)
}

// A bucket whose rows are known uses as much of the table as they need, and holds all. If there are
// more, none is lost.
func TestPassRows(t *testing.T) {
	r := newRig(t)
	l := ega.Layout{Hash: true, KeyWords: 1, Ops: []combine.Op{combine.Add}}
	b := r.bucketPass(secondpass.Config{Layout: l, Device: 4 << 20})
	random := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct {
		rows, told int
		full       bool
	}{{1, 1, false}, {48, 48, false}, {100, 100, false}, {997, 997, false}, {5000, 1000, true}, {5000, -3, true}, {300, 1 << 40, false}} {
		full := b.Stats().Full
		r.Do(b.Begin(0, int64(c.told)))
		rows := egatest.Rows(random, &l, c.rows, func(i int) uint64 { return uint64(i) })
		taken, err := b.Add(rows)
		r.Do(err)
		var groups []uint64
		r.Do(b.End(func(rows []uint64) error {
			groups = append(groups, rows...)
			return nil
		}))
		r.Same(&l, slices.Concat(groups, rows[taken*l.Stride():]), reference.Combine(&l, rows))
		if got := b.Stats().Full > full; got != c.full || taken < min(c.rows, c.told) {
			t.Errorf("%d rows, told %d: %d taken, full %t", c.rows, c.told, taken, got)
		}
	}
}

// Groups come in the order of their hash, by the bits behind those that all rows share, but for the
// length of a probe. The groups that went around the end of the table come first.
func TestPassOrder(t *testing.T) {
	r := newRig(t)
	const n, near = 800, 40
	for _, skip := range []uint{0, 5, 31} {
		for _, keys := range []int{1, 2} {
			l := ega.Layout{Hash: true, KeyWords: keys, Ops: []combine.Op{combine.Add}}
			b := r.bucketPass(secondpass.Config{Layout: l, Device: 60_000, BufferBytes: 2000})
			rows := egatest.Rows(rand.New(rand.NewPCG(1, 3)), &l, n, func(i int) uint64 { return uint64(i) << 20 })
			for i := 0; i < len(rows); i += l.Stride() {
				rows[i] >>= skip
			}
			groups, _ := r.checked(b, &l, rows, skip)
			var hashes []uint64
			for row := range slices.Chunk(groups, l.Stride()) {
				hashes = append(hashes, row[0])
			}
			for i, at := range placesOf(hashes) {
				if around := at - i; min(max(around, -around), n-max(around, -around)) > near {
					t.Errorf("skip %d, %d key words: place %d has the group that is number %d by hash", skip, keys, i, at)
				}
			}
		}
	}
}

// placesOf is where each number would be if they were in order.
func placesOf(list []uint64) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(list[a], list[b]) })
	places := make([]int, len(list))
	for place, i := range order {
		places[i] = place
	}
	return places
}

// A pass keeps to the memory that it was given, of the device and of the host, and gives all back.
func TestPassBudget(t *testing.T) {
	r := newRig(t)
	// each more than those before, for the peak
	for _, device := range []int64{tinyPass, 1 << 20, 50_000_000} {
		host := budget.New(budget.Memory, 0)
		config := secondpass.Config{Layout: egatest.EveryOp, Device: device, Host: host}
		b, err := secondpass.New(r.Thread.Context(), config)
		r.Do(err)
		if used := int64(r.Thread.Context().Peak()); used > device || used < device-5000 {
			t.Errorf("%d bytes of device memory, given %d", used, device)
		}
		if most := host.Peak(); most <= 0 || most > 2*secondpass.DefaultBufferBytes+1000 {
			t.Errorf("%d bytes pinned", most)
		}
		r.Do(errors.Join(b.Close(), b.Close()))
		if host := host.Reserved(); host != 0 {
			t.Errorf("%d bytes of the host are not given back", host)
		}
	}
	for want, config := range map[string]secondpass.Config{
		"out of memory": {Layout: egatest.EveryOp, Device: 1 << 20, Host: budget.New(budget.Memory, 1)},
		"at least":      {Layout: egatest.EveryOp, Device: 5000},
	} {
		if _, err := secondpass.New(r.Thread.Context(), config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// Wrong calls and an error of emit are reported, and the pass can still be used.
func TestPassErrors(t *testing.T) {
	r := newRig(t)
	l := ega.Layout{Hash: true, KeyWords: 1, Ops: []combine.Op{combine.Add}}
	b := r.bucketPass(secondpass.Config{Layout: l, Device: tinyPass, Load: feedback.LoadConfig{Full: .2, Max: .9}})
	rows := egatest.Rows(rand.New(rand.NewPCG(1, 3)), &l, 3000, func(i int) uint64 { return uint64(i % 400) })
	if _, err := b.Add(rows); !errors.Is(err, secondpass.ErrIdle) {
		t.Errorf("Add before Begin: %v", err)
	}
	if _, err := b.AddPinned(cuda.PinnedSpan{}); !errors.Is(err, secondpass.ErrIdle) {
		t.Errorf("AddPinned before Begin: %v", err)
	}
	if err := b.End(nil); !errors.Is(err, secondpass.ErrIdle) {
		t.Errorf("End before Begin: %v", err)
	}
	r.Do(b.Begin(0, math.MaxInt64))
	_, err := b.Add(rows)
	r.Do(err)
	half, err := r.Thread.AllocPinned(l.RowBytes() + 8)
	r.Do(err)
	defer func() { r.Do(half.Close()) }()
	if _, err := b.AddPinned(half.Span(0, l.RowBytes()+8)); err == nil {
		t.Error("a row and a part of one are taken")
	}
	refusal := errors.New("no")
	pieces := 0
	err = b.End(func([]uint64) error {
		pieces++
		return refusal
	})
	if !errors.Is(err, refusal) || pieces != 1 {
		t.Errorf("emit failed, and End says %v after %d pieces", err, pieces)
	}
	r.checked(b, &l, rows, 0)
}
