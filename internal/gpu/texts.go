package gpu

import (
	"errors"
	"sync"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/key"
)

// texts is the store of long strings of a device (decode.Store), to which the rows refer that it
// makes. Nothing is translated: the store's memory becomes a chunk of the run's registry.
//
// STORE-COPIED: the host reads no string of a row of a device before the store has been copied to
// the chunk of its base, which is done when the pass has ended, or the string alone has been, and
// the row refers to the copy. That is so for the few groups that are wanted; and, where memory is
// limited, for rows that leave the device before the end: their writer may put them to disk.
//
// Each device has a store of its own, so that equal strings of two devices have different refs:
// their groups meet on the CPU, which compares the bytes (DEVICE-REFS).
type texts struct {
	*decode.Store
	registry *arena.Arenas
	size     decode.StoreSize
	copied   bool // it is a chunk of the registry, which owns it

	// Once the pass has ended:
	n     int64 // strings
	bytes int   // of a chunk
}

const (
	// storeParts is the divisor of a device's memory that gives the most for the store. It decides
	// where a run has more long strings than that: the device declines the rest.
	storeParts = 3

	// storeBeside is how much larger the store is than the strings of 16 bytes or more, for headers
	// and gaps.
	storeBeside = 1.5

	// singly is how many strings are copied one by one at most: a copy of one takes 10 µs, as long
	// as one of 200 KiB.
	singly = 256

	// storePiece is what is copied at a time by each of storeCopiers goroutines, since the memory
	// that is copied to is touched for the first time.
	storePiece   = 8 << 20
	storeCopiers = 8
)

// openTexts makes the store, if rows may have long strings, of a part of the memory of the pass.
func (p *pass) openTexts() error {
	c := &p.devices.config
	if !p.wantsTexts() || c.TextMemory == nil {
		return nil
	}
	units := &c.Decode.Units.All
	bytes := min(p.memory/storeParts, int64(storeBeside*float64(units.Bytes+units.Expanded)))
	if c.Texts > 0 {
		bytes = min(bytes, c.Texts/int64(len(p.devices.contexts)))
	}
	size := decode.StoreSize{
		Bytes: bytes,
		Texts: int64(min(rowsOf(c), uint64(units.Rows))) * int64(c.Decode.Plan.TextFields()),
	}
	t, err := p.context.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	base := c.Arenas.Adopt(nil)
	store, err := decode.NewStore(t, size, base)
	if err != nil {
		c.Arenas.Drop(base)
		return err
	}
	p.texts = &texts{Store: store, registry: c.Arenas, size: size}
	p.memory -= p.texts.memory()
	return nil
}

// wantsTexts reports whether rows that devices make may have long strings of theirs.
func (p *pass) wantsTexts() bool {
	plan := p.devices.config.Decode.Plan
	return plan != nil && plan.Texts()
}

// apart reports whether equal strings may have different refs, being those of different devices.
func (d *Devices) apart() bool {
	return len(d.passes) > 1 && d.passes[0].wantsTexts()
}

// store is the store of a pass, if it has one.
func (t *texts) store() *decode.Store {
	if t == nil {
		return nil
	}
	return t.Store
}

// countTexts notes what the store has, of a pass that has ended.
func (p *pass) countTexts() error {
	if p.texts == nil {
		return nil
	}
	t, err := p.context.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	p.texts.n, p.texts.bytes, err = p.texts.Len(t)
	return err
}

// copyTexts makes the refs of rows valid on the host (STORE-COPIED).
func (p *pass) copyTexts() error {
	if p.texts == nil || p.texts.copied || p.texts.bytes == 0 || !p.devices.config.Keys.HasRefs() {
		return nil
	}
	memory := hostmem.Make[byte](p.texts.bytes + arena.Padding)
	if err := p.readTexts(memory[:p.texts.bytes]); err != nil {
		hostmem.Free(memory)
		return err
	}
	registry := p.texts.registry
	registry.Fill(p.texts.Base, memory)
	registry.NewFrom(p.devices.config.TextMemory).Own(memory, 0, p.texts.Base)
	p.texts.copied = true
	return nil
}

// readTexts copies the first bytes of the store.
func (p *pass) readTexts(to []byte) error {
	pieces := (len(to) + storePiece - 1) / storePiece
	errs := make([]error, min(pieces, storeCopiers))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			t, err := p.context.Lock()
			if err != nil {
				errs[i] = err
				return
			}
			defer t.Unlock()
			for k := i; k < pieces && errs[i] == nil; k += len(errs) {
				from := k * storePiece
				errs[i] = p.texts.Read(t, to[from:min(from+storePiece, len(to))], from)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// takeTexts makes the refs of these rows valid on the host, which are all that leave the device
// (STORE-COPIED).
func (p *pass) takeTexts(rows []uint64) error {
	if p.texts == nil {
		return nil
	}
	long := p.longOf(rows)
	if len(long) > singly {
		return p.copyTexts()
	}
	return p.takeSingly(long, p.texts.registry.NewFrom(p.devices.config.TextMemory))
}

// takeSingly copies strings to an arena, one by one.
func (p *pass) takeSingly(long []key.Ref, to *arena.Arena) error {
	t, err := p.context.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	for _, l := range long {
		ref, memory := to.Room(l.Bytes)
		if err := p.texts.Read(t, memory, 8*int(uint32(*l.Ref))); err != nil {
			return err
		}
		*l.Ref = ref
	}
	return nil
}

// leaveEarly makes the refs of rows valid that go to a writer before the pass has ended, where that
// may put them to disk (STORE-COPIED).
func (p *pass) leaveEarly(rows []uint64, to *cpu.PartitionWriter) error {
	if p.texts == nil || p.texts.copied || p.devices.config.Texts == 0 {
		return nil
	}
	long, bytes := p.longOf(rows), 0
	for _, l := range long {
		bytes += arena.Size(l.Bytes)
	}
	if len(long) == 0 {
		return nil
	}
	p.devices.copied.Store(true) // a string may have two refs from now on
	if err := to.Room(bytes); err != nil {
		return err
	}
	return p.takeSingly(long, to.Values())
}

// longOf is the refs of rows to the store.
func (p *pass) longOf(rows []uint64) (refs []key.Ref) {
	c := &p.devices.config
	for stride := c.Layout.Stride(); len(rows) > 0; rows = rows[stride:] {
		for _, l := range c.Keys.Refs(rows, c.Keys.Base()) {
			if *l.Ref&^0xffffffff == p.texts.Base {
				refs = append(refs, l)
			}
		}
	}
	return refs
}

// Texts is how many long strings the devices have had, each once on each, and the bytes that they
// take. It is known once Finish has ended.
func (d *Devices) Texts() (n, bytes int64) {
	for _, p := range d.passes {
		if p.texts != nil {
			n, bytes = n+p.texts.n, bytes+int64(p.texts.bytes)
		}
	}
	return n, bytes
}

// memory is the device memory that the store takes.
func (t *texts) memory() int64 {
	if t == nil {
		return 0
	}
	return int64(t.size.Memory())
}

// close frees the store.
func (t *texts) close() error {
	if t == nil || t.Store == nil {
		return nil
	}
	if !t.copied {
		t.registry.Drop(t.Base)
	}
	store := t.Store
	t.Store = nil
	return store.Close()
}
