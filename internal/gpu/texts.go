package gpu

import (
	"errors"
	"slices"
	"sync"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// texts is the store of strings of a device (decode.Store), to which the rows refer that it makes:
// of long ones of keys, and of those of states. Nothing is translated: the store's memory becomes a
// chunk of the run's registry.
//
// STORE-COPIED: the host reads no string of a row of a device before the store has been copied to
// the chunk of its base, which is done when the pass has ended, or the string alone has been, and
// the row refers to the copy. That is so for the few groups that are wanted; and, where memory is
// limited, for rows that leave the device before the end: their writer may put them to disk.
//
// Where there is a store there is one device (plan.DeviceFacts): equal strings of two stores would
// have different refs, and neither device could compare those of the other (DEVICE-REFS).
type texts struct {
	*decode.Store
	registry *arena.Arenas
	size     decode.StoreSize
	copied   bool // it is a chunk of the registry, which owns it

	// Once the pass has ended:
	n     int64 // strings
	bytes int   // of a chunk
}

// leaving is a ref of a row that leaves the device, to a string of the store.
type leaving struct {
	ref   *uint64
	bytes int    // of the string
	begin []byte // its first bytes, if they were read
}

const (
	// storeParts is the divisor of a device's memory that gives the most for the store. It decides
	// where a run has more long strings than that: the device declines the rest.
	storeParts = 3

	// storeBeside is how much larger the store is than the strings of 16 bytes or more, for headers
	// and gaps; and storeShort the same where there are shorter ones, of 5 bytes or more on
	// average.
	storeBeside = 1.5
	storeShort  = 2.

	// headBytes is how much of a string is read with its header, which tells how long it is.
	headBytes = 120

	// singly is how many strings are copied one by one at most: a copy of one takes 10 µs, as long
	// as one of 200 KiB.
	singly = 256

	// storePiece is what is copied at a time by each of storeCopiers goroutines, since the memory
	// that is copied to is touched for the first time.
	storePiece   = 8 << 20
	storeCopiers = 8
)

// openTexts makes the store, if rows may have strings of it, of a part of the memory of the pass.
func (p *pass) openTexts() error {
	c := &p.devices.config
	if !p.wantsTexts() || c.TextMemory == nil {
		return nil
	}
	units, beside, short := &c.Decode.Units.All, storeBeside, c.Decode.Plan.Refs()
	if short {
		beside = storeShort
	}
	bytes := min(p.memory/storeParts, int64(beside*float64(units.Bytes+units.Expanded)))
	if c.Texts > 0 {
		bytes = min(bytes, c.Texts)
	}
	size := decode.StoreSize{
		Bytes: bytes,
		Texts: int64(min(rowsOf(c), uint64(units.Rows))) * int64(c.Decode.Plan.TextFields()),
		Short: short,
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

// wantsTexts reports whether rows that devices make may have strings of theirs.
func (p *pass) wantsTexts() bool {
	plan := p.devices.config.Decode.Plan
	return plan != nil && plan.Texts()
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
	c := &p.devices.config
	if p.texts == nil || p.texts.copied || p.texts.bytes == 0 || !c.Keys.HasRefs() && !c.States.HasTexts() {
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
	if p.textsOf(rows, nil) > singly {
		return p.copyTexts()
	}
	texts, err := p.leavingOf(rows)
	if err != nil {
		return err
	}
	return p.takeSingly(texts, p.texts.registry.NewFrom(p.devices.config.TextMemory))
}

// takeSingly copies strings to an arena, one by one.
func (p *pass) takeSingly(texts []leaving, to *arena.Arena) error {
	t, err := p.context.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	for _, l := range texts {
		ref, memory := to.Room(l.bytes)
		n := copy(memory, l.begin)
		if n < l.bytes {
			err = p.texts.Read(t, memory[n:], 8*int(uint32(*l.ref))+n)
		}
		if err != nil {
			return err
		}
		*l.ref = ref
	}
	return nil
}

// leaveEarly makes the refs of rows valid that go to a writer before the pass has ended, where that
// may put them to disk (STORE-COPIED).
func (p *pass) leaveEarly(rows []uint64, to *cpu.PartitionWriter) error {
	if p.texts == nil || p.texts.copied || p.devices.config.Texts == 0 {
		return nil
	}
	texts, err := p.leavingOf(rows)
	if err != nil || len(texts) == 0 {
		return failed(p.context, err)
	}
	bytes := 0
	for _, l := range texts {
		bytes += arena.Size(l.bytes)
	}
	p.devices.copied.Store(true) // a string may have two refs from now on
	if err := to.Room(bytes); err != nil {
		return err
	}
	return failed(p.context, p.takeSingly(texts, to.Values()))
}

// textsOf calls each, unless it is nil, with the refs of rows to the store, and the bytes of their
// strings; -1: the row does not tell. It returns how many there are.
func (p *pass) textsOf(rows []uint64, each func(ref *uint64, bytes int)) (n int) {
	note := func(ref *uint64, bytes int) {
		if *ref&^0xffffffff != p.texts.Base {
			return
		}
		if n++; each != nil {
			each(ref, bytes)
		}
	}
	c := &p.devices.config
	for row := range slices.Chunk(rows, c.Layout.Stride()) {
		for _, l := range c.Keys.Refs(row, c.Keys.Base()) {
			note(l.Ref, l.Bytes)
		}
		for _, ref := range c.States.Texts(row) {
			note(ref, -1)
		}
	}
	return n
}

// leavingOf is the refs of rows to the store, with what has to be known of each string.
func (p *pass) leavingOf(rows []uint64) (texts []leaving, err error) {
	p.textsOf(rows, func(ref *uint64, bytes int) { texts = append(texts, leaving{ref, bytes, nil}) })
	if !slices.ContainsFunc(texts, func(l leaving) bool { return l.bytes < 0 }) {
		return texts, nil
	}
	t, err := p.context.Lock()
	if err != nil {
		return nil, err
	}
	defer t.Unlock()
	for i := range texts {
		l := &texts[i]
		if l.bytes >= 0 {
			continue
		}
		if l.bytes, l.begin, err = p.texts.Begin(t, 8*int(uint32(*l.ref)), headBytes); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// Texts is how many strings the device has had in its store, and the bytes that they take. It is
// known once Finish has ended.
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
