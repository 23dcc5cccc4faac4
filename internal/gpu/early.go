package gpu

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// early is the tiles that are filled before the devices are ready: memory of the host. Opening a
// device takes as long as packing some gigabytes of rows, which is faster than aggregating them.
//
// EARLY-ONCE: rows of a submitted tile are in the list, or on a device, or were given back to the
// CPU. A batch is in the list, or on a device, or declined.
type early struct {
	most int64 // bytes

	mu    sync.Mutex
	tiles []*earlyTile // submitted; movers take those there are when devices become ready
	held  int64        // bytes of all that are not free yet
	ready bool         // devices are: a tile submitted from now on is moved at once
	gone  bool         // there will be none: batches are declined

	movers sync.WaitGroup
	next   atomic.Int64 // tile to be moved
	err    error        // of the first mover that failed
}

// enoughBatches is how many bytes of batches workers fill before they wait for the devices. What
// they fill beyond that they may as well read into pinned memory, without a copy; and the driver
// makes a context in .07 s, and in up to three times that while the process touches new memory
// (docs/decisions/0035).
const enoughBatches = 1 << 30

// earlyTile is a tile in host memory.
type earlyTile struct {
	d      *Devices
	words  []uint64
	memory *budget.Reservation // of which its memory is: workers have as much less while it is held

	// Once it is submitted:
	rows  int
	batch *decode.Batch // nil: it holds rows
}

// earlyTile returns a tile in host memory; nil: there is no room, or they are not needed any more.
func (d *Devices) earlyTile() *earlyTile {
	words := d.config.tileBytes() / 8
	e := &d.early
	e.mu.Lock()
	defer e.mu.Unlock()
	bytes := int64(8 * words)
	if e.ready || e.gone || e.held+bytes > e.most {
		return nil
	}
	memory, err := d.config.Run.Reserve(bytes)
	if err != nil {
		return nil
	}
	memory.Commit(bytes)
	e.held += bytes
	return &earlyTile{d: d, words: hostmem.Make[uint64](words), memory: memory}
}

// enoughEarly reports whether so many batches wait for devices that workers had better wait too.
func (d *Devices) enoughEarly() bool {
	e := &d.early
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.ready && !e.gone && e.held > 0 && e.held+int64(d.config.tileBytes()) > min(e.most, enoughBatches)
}

// Words is the memory for rows, a whole number of them.
func (t *earlyTile) Words() []uint64 {
	stride := t.d.config.Layout.Stride()
	return t.words[:len(t.words)/stride*stride]
}

// Bytes is the memory for a batch.
func (t *earlyTile) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(t.words))), 8*len(t.words))
}

func (t *earlyTile) Submit(rows int) error {
	t.rows = rows
	return t.submit()
}

func (t *earlyTile) SubmitBatch(p *decode.Batch) error {
	t.d.batches.begin()
	t.batch = p
	return t.submit()
}

// submit keeps the tile until devices are ready, or moves it if they are.
func (t *earlyTile) submit() error {
	e := &t.d.early
	e.mu.Lock()
	switch {
	case e.ready:
		e.mu.Unlock()
		return t.move()
	case e.gone && t.batch != nil:
		e.mu.Unlock()
		t.decline(noDevice)
		return nil
	}
	e.tiles = append(e.tiles, t)
	e.mu.Unlock()
	return nil
}

// Release gives the memory back.
func (t *earlyTile) Release() {
	bytes := int64(8 * len(t.words))
	hostmem.Free(t.words)
	t.words = nil
	t.memory.Uncommit(bytes)
	t.memory.Close()
	e := &t.d.early
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held -= bytes
}

// rowWords is the words of the rows that were submitted.
func (t *earlyTile) rowWords() []uint64 { return t.words[:t.rows*t.d.config.Layout.Stride()] }

// noDevice is why batches are declined that no device can take.
const noDevice = "no device was ready"

// decline has the batch's units read by workers.
func (t *earlyTile) decline(reason string) {
	t.Release()
	t.d.decline(t.batch, reason)
}

// move copies the rows of the tile to a device.
func (t *earlyTile) move() error {
	if t.batch != nil {
		return t.moveBatch()
	}
	defer t.Release()
	stride := t.d.config.Layout.Stride()
	for rows := t.rowWords(); len(rows) > 0; {
		to, err := t.d.slot()
		if err != nil {
			return err
		}
		n := copy(to.Words(), rows)
		rows = rows[n:]
		if err := to.Submit(n / stride); err != nil {
			return err
		}
	}
	return nil
}

func (t *earlyTile) moveBatch() error {
	defer t.Release()
	to, err := t.d.slot()
	if err != nil {
		return err
	}
	return to.submit(t.batch, t.Bytes())
}

// fail declines all batches: there will be no device. Rows are given back when they are asked for
// (EARLY-ONCE).
func (e *early) fail() {
	e.mu.Lock()
	e.gone = true
	tiles := e.tiles
	e.tiles = slices.DeleteFunc(slices.Clone(tiles), func(t *earlyTile) bool { return t.batch != nil })
	e.mu.Unlock()
	for _, t := range tiles {
		if t.batch != nil {
			t.decline(noDevice)
		}
	}
}

// start moves the tiles that have been submitted so far; the devices are ready.
func (e *early) start(movers int) {
	e.mu.Lock()
	e.ready = true
	e.mu.Unlock()
	for range min(movers, len(e.tiles)) {
		e.movers.Go(func() {
			if err := e.moveAll(); err != nil {
				e.mu.Lock()
				defer e.mu.Unlock()
				if e.err == nil {
					e.err = err
				}
			}
		})
	}
}

func (e *early) moveAll() (err error) {
	defer invariant.Recovered(&err)
	for {
		n := int(e.next.Add(1)) - 1
		if n >= len(e.tiles) {
			return nil
		}
		if err := e.tiles[n].move(); err != nil {
			return err
		}
	}
}

// any reports whether tiles were submitted early.
func (e *early) any() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.tiles) > 0
}

// back is the tiles that no device will take, for the CPU.
func (e *early) back() []cpu.Returned {
	var list []cpu.Returned
	for _, t := range e.tiles {
		list = append(list, cpu.Returned{Rows: t.rowWords(), Release: t.Release})
	}
	e.tiles = nil
	return list
}

// close frees what was neither moved nor given back. Movers have ended.
func (e *early) close() {
	for _, t := range e.tiles {
		if t.words != nil {
			t.Release()
		}
	}
	e.tiles = nil
}
