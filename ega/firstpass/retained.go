package firstpass

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/internal/pinned"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// kept is the rows of a Pass that stay in the pinned buffers to which they left the device: no placer looks at them, and the
// second pass copies them from there to the device (BucketPass.AddPinned). So the host's memory, which bounds both passes
// (docs/experiments/0012), is written once for a row and read once.
//
//	device     chain 0 | chain 1 | chain 2 …      of a full set, as its leaver copies them (sender.chain)
//	              │         │         │
//	buffer     [ span  ][ span  ][ span …      ]   of 32 MiB, pinned ahead of need
//	              │                                 Finish: Kept
//	              ├──▶ BucketPass.AddPinned         where devices aggregate what has left them
//	              └──▶ Kept.Drain ──▶ placers       else
//
// A span is rows of one chain that lie side by side in one buffer. The rows of a chain share their top hash bits, so that a bucket
// of these bits or fewer is whole spans. Groups of the table, which leave it at last in order of hash, are divided alike.
//
// The phases are keptPhase's. Buffers are made by goroutines of their own, the pinners, a few ahead of need:
// most of it is waiting for the system to clear pages, and then for the driver's lock.
//
// Invariants. KEPT-WHOLE: of a buffer that is kept every row is in one span, and its copy has ended. KEPT-BUDGET: all buffers
// together take Keep bytes at most, each drawn from Host before it is made; what is pinned cannot spill. GO-ON: who waits for a
// buffer gets one or hears that there will be none, and goes on with those of the placers, who need none of these.
type kept struct {
	pass   *Pass
	memory *keptMemory

	mu      sync.Mutex // of what follows
	changed sync.Cond
	phase   keptPhase
	asked   uint           // how often it might have been asked whether rows should stay
	size    cuda.Size      // of a buffer
	bytes   int64          // of those that were made, or are being
	making  int            // buffers under way
	ready   []*cuda.Pinned // made, and not used yet
	full    []*keptBuffer  // all that senders have given back
	forget  func() bool    // ends the watch over the pass's context; nil: there is none
	pinners sync.WaitGroup
}

// keptPhase is where the making of buffers is.
type keptPhase int

const (
	keptAsking keptPhase = iota // no row has stayed; before set 1, 2, 4 and so on leaves, KeepPays is asked, until it says yes
	keptMaking                  // pinners make buffers; until Keep or the host's memory is used up, or the pass ends
	keptSpent                   // none is made any more; senders use those there are, and then the placers' again
)

const (
	// keptBytes is the size of a buffer where memory is plenty. The driver's lock is taken for each: beside copies and kernels four
	// goroutines pinned 8 GB/s by 4 MiB and 14 by 32, nearly all of which was the system clearing pages (docs/experiments/0012).
	keptBytes = 32 << 20

	// keptPinners is how many buffers are pinned at a time, or lie ready: together they hold what two sets of chains have at most, of
	// which one leaves when rows are first kept. Twelve were no faster.
	keptPinners = 8

	// keptBuffers is how many there should be, so that a last one half full is not much. A guess.
	keptBuffers = 8
)

func (k *kept) init(m *Pass) {
	k.pass, k.changed.L = m, &k.mu
	k.memory = &keptMemory{context: m.context, host: m.config.Host, spares: m.config.Spares}
	if m.config.Keep == 0 {
		k.phase = keptSpent
	}
}

// decide has rows stay from now on if that pays, before a set leaves, in buffers of so many bytes at most.
func (k *kept) decide(kernels *ega.Kernels, look *cuda.Stream, size cuda.Size) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked++; k.phase != keptAsking || k.asked&(k.asked-1) != 0 { // all groups are counted for an answer
		return nil
	}
	if pays := k.pass.config.KeepPays; pays != nil {
		groups, err := k.pass.table.exact(kernels, look)
		if err != nil || !pays(k.pass.gainFacts(groups)) {
			return err
		}
	}
	k.size = keptSize(cuda.Size(k.pass.config.Keep), size, max(pinned.Least, k.pass.plan.layout.RowBytes()))
	if k.size == 0 {
		k.spend()
		return nil
	}
	k.phase = keptMaking
	k.forget = context.AfterFunc(k.pass.ctx, k.end)
	for range min(keptPinners, max(runtime.GOMAXPROCS(0)/2, 1)) {
		k.pinners.Go(func() {
			if invariant.Fenced(k.pin) != nil {
				k.end() // a lost device is told by who needs it
			}
		})
	}
	return nil
}

// keptMost is the most that keptSize may say for sets of such chains, where the placers have buffers of so many bytes: all pinners
// together make room for two sets. If the host allows no larger ones, these are no larger either.
func keptMost(placers cuda.Size, set poolPlan) cuda.Size {
	if placers < placeBytes {
		return placers
	}
	return max(min(keptBytes, 2*cuda.Size(set.pages)*set.page/keptPinners), placers)
}

// keptSize is the size of buffers where they may take so many bytes together: the most, or less, so that there are some, but not
// less than the least; 0: there are none.
func keptSize(keep, most, least cuda.Size) cuda.Size {
	size := most
	for keep/size < keptBuffers && size/2 >= least {
		size /= 2
	}
	if size > keep {
		return 0
	}
	return size
}

// gainFacts is what there is to judge by: of rows that are under way nobody knows yet where they go.
func (m *Pass) gainFacts(groups uint64) feedback.GainFacts {
	c := &m.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	return feedback.GainFacts{Rows: c.settled, Rest: c.RestRows, Groups: groups}
}

// pin is the life of a pinner.
func (k *kept) pin() error {
	t, err := k.pass.context.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	for k.wanted() {
		if err := k.make(t); err != nil {
			return err // as of memory that the host has no more of
		}
	}
	return nil
}

// make makes a buffer that was wanted.
func (k *kept) make(t *cuda.Thread) (err error) {
	var b *cuda.Pinned
	defer func() { k.made(b) }() // also if it panics: somebody waits
	defer k.pass.counts.pinned(time.Now())
	b, err = k.memory.make(t, k.size)
	return err
}

// wanted waits until another buffer is wanted, and counts it; false: none is any more.
func (k *kept) wanted() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.phase == keptMaking && len(k.ready)+k.making >= keptPinners {
		k.changed.Wait()
	}
	if k.phase == keptMaking && k.bytes+int64(k.size) > k.pass.config.Keep {
		k.spend()
	}
	if k.phase != keptMaking {
		return false
	}
	k.bytes += int64(k.size)
	k.making++
	return true
}

// made takes a buffer that was wanted; nil: it could not be had.
func (k *kept) made(b *cuda.Pinned) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.making--
	if b == nil {
		k.bytes -= int64(k.size)
	} else {
		k.ready = append(k.ready, b)
	}
	k.changed.Broadcast()
}

// end has no more buffers made.
func (k *kept) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spend()
}

// spend is end with mu held.
func (k *kept) spend() {
	k.phase = keptSpent
	k.changed.Broadcast()
}

// buffer is the next one, for which it waits while any is made; nil: rows do not stay, or no longer (GO-ON).
func (k *kept) buffer() *keptBuffer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.phase == keptAsking {
		return nil
	}
	defer k.pass.counts.leaverWaited(time.Now())
	for len(k.ready) == 0 && (k.phase == keptMaking || k.making > 0) {
		k.changed.Wait()
	}
	last := len(k.ready) - 1
	if last < 0 {
		return nil
	}
	b := &keptBuffer{of: k.memory, pinned: k.ready[last]}
	k.ready = k.ready[:last]
	k.changed.Broadcast()
	return b
}

// take takes a buffer whose rows are all there, or, without any, one that an error left.
func (k *kept) take(b *keptBuffer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.full = append(k.full, b)
}

// finish ends the making of buffers and frees those that nobody used. Nobody waits for any.
func (k *kept) finish() error {
	k.end()
	k.pinners.Wait()
	if k.forget != nil {
		k.forget()
	}
	unused := k.ready
	k.ready = nil
	var errs []error
	for _, b := range unused {
		errs = append(errs, k.memory.free(b))
	}
	return errors.Join(errs...)
}

// close frees all buffers but those that Pass.Kept has taken.
func (k *kept) close() error {
	err := k.finish()
	full := k.full
	k.full = nil
	for _, b := range full {
		err = errors.Join(err, b.free())
	}
	return err
}
