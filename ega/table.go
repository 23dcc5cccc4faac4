package ega

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// ErrRestFull says that rows found neither a slot nor room in the rest: the table lacks them.
var ErrRestFull = errors.New("more rows without a slot than the rest has room for")

// ErrNoSlot says that a row found no slot though there are at least as many slots as rows.
var ErrNoSlot = errors.New("a row found no slot")

// TableConfig is the shape of a Table.
type TableConfig struct {
	// Slots is how many groups there is room for, 1 to MaxSlots. Beyond nine tenths of
	// that many probing gets long.
	Slots uint32
	// Skip is how many top bits of the hash are equal in all rows, because they chose the
	// partition. It is below 32.
	Skip uint32
	// Probes is how many slots a row looks at before it goes to the rest; 0: all.
	Probes uint32
	// Rest is the number of rows without a slot for which there is room. ErrRestFull is impossible
	// if it is the number of all rows.
	Rest uint64
}

// Validate reports everything that is wrong with the configuration.
func (c TableConfig) Validate() error {
	var errs []error
	if c.Slots < 1 || c.Slots > MaxSlots {
		errs = append(errs, fmt.Errorf("slots: %d is not in 1 to %d", c.Slots, uint32(MaxSlots)))
	}
	if c.Skip >= 32 {
		errs = append(errs, fmt.Errorf("skipped hash bits: %d is not below 32", c.Skip))
	}
	return errors.Join(errs...)
}

// Table is a hash table of groups in device memory. Clear comes first; then Add
// and AddShared, as often as wanted, until Count tells what is in it.
type Table struct {
	k    *Kernels
	view kernels.EgaTable
	rest kernels.EgaRest

	memory    cuda.Pieces
	rows      cuda.Span
	tags      cuda.Span
	restRows  cuda.Span
	restCount cuda.Span // the count of the rest, and the status behind it
	gather    Gather
}

// RestBytes is for the count of 8 bytes and the status of 4.
const RestBytes = 16

// NewTable allocates a table, which still has to be cleared. It keeps k without owning it. Errors:
// cuda.ErrOutOfMemory, and those of Validate.
func NewTable(k *Kernels, c TableConfig) (*Table, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	t := &Table{k: k, memory: cuda.Pieces{Thread: k.Thread}}
	row := k.Layout.RowBytes()
	err := t.memory.AllocAll(
		cuda.Piece{To: &t.rows, Bytes: (cuda.Size(c.Slots) + 1) * row},
		cuda.Piece{To: &t.tags, Bytes: 4 * k.Layout.Tags(c.Slots)},
		cuda.Piece{To: &t.restRows, Bytes: cuda.Size(c.Rest) * row},
		cuda.Piece{To: &t.restCount, Bytes: RestBytes},
		cuda.Piece{To: &t.gather.Tiles, Bytes: TilesBytes(uint64(c.Slots) + 1)},
		cuda.Piece{To: &t.gather.Total, Bytes: 8},
	)
	if err != nil {
		return nil, fmt.Errorf("table of %d slots: %w", c.Slots, err)
	}
	if c.Probes == 0 {
		c.Probes = c.Slots
	}
	t.view = kernels.EgaTable{Rows: t.rows.Ptr, Tags: t.tags.Ptr, Slots: c.Slots, Skip: c.Skip, Probes: min(c.Probes, c.Slots)}
	t.rest = kernels.EgaRest{Rows: t.restRows.Ptr, Count: t.restCount.Ptr, Capacity: c.Rest, Status: t.restCount.Slice(8, 12).Ptr}
	return t, nil
}

// Clear empties table and rest.
func (t *Table) Clear(s *cuda.Stream) error {
	if err := s.Fill(t.restCount, 0); err != nil {
		return err
	}
	return t.k.Clear(s, t.view)
}

// Add combines n rows into the table, one by one. All rows of a key end in one slot, or in the rest
// (SLOT-ONCE).
func (t *Table) Add(s *cuda.Stream, rows cuda.Span, n uint64) error {
	return t.AddRest(s, rows, n, t.Rest())
}

// AddRest is Add with a rest that the caller provides.
func (t *Table) AddRest(s *cuda.Stream, rows cuda.Span, n uint64, rest kernels.EgaRest) error {
	return t.k.Probe(s, t.k.span(rows, n), n, t.view, rest)
}

// AddShared combines n rows in the shared memory of blocks first, which pays
// where some groups have many of them. groups is how many there may be: an estimate.
func (t *Table) AddShared(s *cuda.Stream, rows cuda.Span, n, groups uint64) error {
	return t.AddPlanned(s, rows, n, t.k.PlanShared(groups), t.Rest())
}

// AddPlanned is AddShared by a plan, with a rest that the caller provides.
func (t *Table) AddPlanned(s *cuda.Stream, rows cuda.Span, n uint64, p SharedPlan, rest kernels.EgaRest) error {
	if p.Slots == 0 {
		return t.AddRest(s, rows, n, rest)
	}
	k := t.k
	grid := cuda.Grid{Blocks: p.blocks(n), Threads: p.Threads, Shared: uint32(SharedTable(&k.Layout, p.Slots))}
	return k.shape.Shared(s, grid, k.view, k.span(rows, n), n, p.Slots, p.Probes, p.Parts, t.view, rest)
}

// span is where n rows begin. It panics if there is no room for them.
func (k *Kernels) span(rows cuda.Span, n uint64) cuda.Ptr {
	return rows.Slice(0, cuda.Size(n)*k.Layout.RowBytes()).Ptr
}

// Collect writes the groups to the start of out, in the order of their slots, which is almost that
// of their hash. out must have room for all groups: for as many as there were rows, or slots.
func (t *Table) Collect(s *cuda.Stream, out cuda.Span) error {
	return t.gather.Collect(s, t.k, t.view, kernels.EgaDense{Rows: out.Ptr})
}

// Counts is what became of the rows.
type Counts struct {
	Groups uint64 // written by Collect
	Rest   uint64 // rows in RestRows, of groups that may have several there, but none in the table
}

// Total is the word in device memory in which Collect and CollectPart leave the number of groups.
func (t *Table) Total() cuda.Span { return t.gather.Total }

// Restrict makes the table use its first slots only, for rows that share the top skip bits of
// their hash. The caller clears the table next.
func (t *Table) Restrict(skip, slots uint32) {
	t.view.Skip, t.view.Slots, t.view.Probes = skip, slots, slots
}

// SetProbes changes how many slots a row looks at from the next launch on. It returns what it was.
func (t *Table) SetProbes(n uint32) (was uint32) {
	was = t.view.Probes
	t.view.Probes = n
	return was
}

// Move gives the table to another thread of its context.
func (t *Table) Move(to *cuda.Thread) { t.memory.Thread = to }

// View is the table as kernels take it.
func (t *Table) View() kernels.EgaTable { return t.view }

// Rest is the memory to which kernels write rows without a slot.
func (t *Table) Rest() kernels.EgaRest { return t.rest }

// Count returns what a Collect found, once the stream is done. Error: ErrRestFull.
func (t *Table) Count() (Counts, error) {
	groups, err := t.memory.Thread.ReadWords(t.gather.Total, 1)
	if err != nil {
		return Counts{}, err
	}
	rest, err := t.memory.Thread.ReadWords(t.restCount, 2)
	if err != nil {
		return Counts{}, err
	}
	if status := kernels.Status(rest[1]); status != kernels.StatusOk {
		return Counts{}, fmt.Errorf("%w: %d rows, %w", ErrRestFull, rest[0], status)
	}
	return Counts{Groups: groups[0], Rest: rest[0]}, nil
}

// RestRows holds the rows of Counts.Rest. They are whole rows: combined elsewhere, they give the
// groups that are missing here.
func (t *Table) RestRows() cuda.Span { return t.restRows }

// Close frees the memory. A second call does nothing.
func (t *Table) Close() error { return t.memory.Close() }

// Gather is the memory of the kernels that make rows dense.
type Gather struct {
	Tiles cuda.Span // TilesBytes
	Total cuda.Span // a word: becomes the number of rows
}

// TilesBytes is the size of Gather.Tiles for n elements.
func TilesBytes(n uint64) cuda.Size { return 8 * cuda.Size(kernels.EgaTiles(n).Blocks) }

// Scan prepares the memory for kernels with that grid.
func (g *Gather) Scan(s *cuda.Stream, grid cuda.Grid) (kernels.EgaScan, error) {
	err := s.Fill(g.Tiles.Slice(0, 8*cuda.Size(grid.Blocks)), 0)
	return kernels.EgaScan{Tiles: g.Tiles.Ptr, Total: g.Total.Ptr}, err
}

// Collect makes the groups of a table dense. The table may be in any memory of the device.
func (g *Gather) Collect(s *cuda.Stream, k *Kernels, table kernels.EgaTable, out kernels.EgaDense) error {
	grid := kernels.EgaTiles(uint64(table.Slots) + 1)
	scan, err := g.Scan(s, grid)
	if err != nil {
		return err
	}
	return k.shape.Collect(s, grid, k.view, table, out, scan)
}
