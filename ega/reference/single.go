package reference

import (
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// SinglePass is SP-EGA (paper 003, §4.1): aggregation of up to L rows in
// three buffers of L elements, two of rows and one of 32-bit integers:
//
//	          red                    yellow                               blue
//	load      rows                   -                                    -
//	place     rows                   table | tags |                       a bit a row: refused
//	collect 1 rows                   table | tags |        placed groups  bits
//	pick      rows                   refused rows |        placed groups  bits
//	probe     table                  refused rows |        placed groups  tags
//	collect 2 table                        probed groups , placed groups  -
//
// In phase 1 a row only looks at the slot of its hash: it claims it, or combines
// with what is there if the keys are equal, or is refused. All rows of a key look
// at the same slot, so a key is either placed with all of its rows or refused with all
// of them, and the groups of both rounds are disjoint. The refused rows then have all
// of red for their table, which they fill far less than all rows would have.
//
// Placed groups and refused rows are together at most L, so that yellow always
// holds them: no number of groups up to L is too many, and the load factor may be 1.
// What the second round's table is loaded with is less: at L different keys
// phase 1 places L/2 * (1 - e^-2) = .43 L of them, and .57 is left.
//
// It differs from the paper: the table of phase 1 takes the hashes of all rows and not
// of the part that would fall into it, since it then fills up to .86 and not .38 of
// its slots; the scans and the moves after them are one pass each; the blue
// array of phase 1 has a bit a row.
type SinglePass struct {
	k      launcher
	rows   uint32 // L
	first  uint32 // slots of the table of phase 1
	skip   uint32
	memory cuda.Pieces
	gather ega.Gather

	red, yellow, blue cuda.Span
	restCount         cuda.Span
}

// SinglePassConfig is the shape of a SinglePass.
type SinglePassConfig struct {
	Rows uint32 // L: the most rows at once, 1 to ega.MaxSlots
	Skip uint32 // see ega.TableConfig
}

// Validate reports everything that is wrong with the configuration.
func (c SinglePassConfig) Validate() error {
	return ega.TableConfig{Slots: c.Rows, Skip: c.Skip}.Validate()
}

// yellowSlack is the rows that yellow has beyond L, so that there is a table of one
// slot even if L is 1: its extra row, its tags, its group.
const yellowSlack = 4

// NewSinglePass allocates the buffers. k is kept, not owned. Errors:
// cuda.ErrOutOfMemory, and those of Validate.
func NewSinglePass(k *ega.Kernels, c SinglePassConfig) (*SinglePass, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("single pass: %w", err)
	}
	p := &SinglePass{k: newLauncher(k), rows: c.Rows, first: firstSlots(&k.Layout, c.Rows), skip: c.Skip, memory: cuda.Pieces{Thread: k.Thread}}
	row, n := k.Layout.RowBytes(), cuda.Size(c.Rows)
	err := p.memory.AllocAll(
		cuda.Piece{To: &p.red, Bytes: (n + 1) * row},
		cuda.Piece{To: &p.yellow, Bytes: (n + yellowSlack) * row},
		cuda.Piece{To: &p.blue, Bytes: max(4*k.Layout.Tags(c.Rows), bitsBytes(uint64(c.Rows)))},
		cuda.Piece{To: &p.gather.Tiles, Bytes: ega.TilesBytes(uint64(c.Rows) + 1)},
		cuda.Piece{To: &p.gather.Total, Bytes: 8},
		cuda.Piece{To: &p.restCount, Bytes: ega.RestBytes},
	)
	if err != nil {
		return nil, fmt.Errorf("buffers for %d rows: %w", c.Rows, err)
	}
	return p, nil
}

// firstSlots is how many slots the table of phase 1 may have, so that it, its
// tags, and as many groups fit into yellow.
func firstSlots(l *ega.Layout, rows uint32) uint32 {
	if l.KeyWords == 1 {
		return max(rows/2, 1)
	}
	stride := uint64(l.Stride())
	return uint32(max(uint64(rows)*2*stride/(4*stride+1), 1)) // 8 bytes a word, 4 a tag
}

// bitsBytes is the size of a bit for each of n rows.
func bitsBytes(n uint64) cuda.Size { return cuda.Size((n + 31) / 32 * 4) }

// Tile is where the rows have to be before Run: the red buffer. Run spoils it.
func (p *SinglePass) Tile() cuda.Span { return p.red.Slice(0, cuda.Size(p.rows)*p.k.Layout.RowBytes()) }

// Phase is where a Run is.
type Phase int

const (
	PhasePlace Phase = iota // rows look at one slot each; PhaseCollectPlaced follows
	// the groups that have formed go to the end of yellow; PhasePick follows
	PhaseCollectPlaced
	// refused rows go to its start; PhaseProbe follows, or PhaseDone if there are none
	PhasePick
	// they are combined in red by linear probing; PhaseCollectProbed follows
	PhaseProbe
	PhaseCollectProbed // their groups go before the others; PhaseDone follows
	PhaseDone          // the groups are in Result.Rows
)

// String is the name of a phase.
func (p Phase) String() string {
	return [...]string{"place", "collect placed", "pick", "probe", "collect probed", "done"}[p]
}

// Result is what a Run came to.
type Result struct {
	Rows   cuda.Span // the groups, dense; valid until the next Run
	Groups uint64
	Placed uint64 // of these, those that phase 1 of SP-EGA placed
	Probed uint64 // rows that took the longer way: refused by phase 1, or of buckets that were left
}

// Run aggregates the first n rows of Tile, and waits for that. Error: those of
// the driver.
func (p *SinglePass) Run(s *cuda.Stream, n uint32) (Result, error) {
	var r Result
	if n == 0 {
		return r, nil
	}
	if n > p.rows {
		panic(fmt.Sprintf("reference: %d rows in buffers for %d", n, p.rows))
	}
	for phase := PhasePlace; phase != PhaseDone; {
		next, err := p.step(s, phase, n, &r)
		if err != nil {
			return Result{}, fmt.Errorf("phase %v: %w", phase, err)
		}
		phase = next
	}
	row, top := p.k.Layout.RowBytes(), cuda.Size(p.top())
	r.Rows = p.yellow.Slice((top-cuda.Size(r.Groups))*row, top*row)
	return r, nil
}

// top is the row of yellow behind the groups, which are written downward from it.
func (p *SinglePass) top() uint64 { return uint64(p.rows) + yellowSlack }

// step does the work of a phase.
func (p *SinglePass) step(s *cuda.Stream, phase Phase, n uint32, r *Result) (next Phase, err error) {
	k := &p.k
	switch phase {
	case PhasePlace:
		table := p.firstTable()
		if err := k.Clear(s, table); err != nil {
			return 0, err
		}
		grid, err := k.placing(uint64(n))
		if err != nil {
			return 0, err
		}
		return PhaseCollectPlaced, k.only.Place(s, grid, k.view, p.red.Ptr, uint64(n), table, p.blue.Ptr)
	case PhaseCollectPlaced:
		r.Placed, err = p.collect(s, p.firstTable(), p.top())
		r.Groups = r.Placed
		return PhasePick, err
	case PhasePick:
		if err := k.pick(s, &p.gather, p.red, uint64(n), p.blue, kernels.EgaDense{Rows: p.yellow.Ptr}); err != nil {
			return 0, err
		}
		if r.Probed, err = p.total(s); r.Probed == 0 {
			return PhaseDone, err
		}
		return PhaseProbe, err
	case PhaseProbe:
		return PhaseCollectProbed, p.probe(s, r.Probed)
	}
	probed, err := p.collect(s, p.secondTable(r.Probed), p.top()-r.Placed)
	r.Groups += probed
	return PhaseDone, err
}

// firstTable is in yellow, with its tags behind it.
func (p *SinglePass) firstTable() kernels.EgaTable {
	row := p.k.Layout.RowBytes()
	tags := p.yellow.Slice((cuda.Size(p.first)+1)*row, p.yellow.Size)
	return kernels.EgaTable{Rows: p.yellow.Ptr, Tags: tags.Ptr, Slots: p.first, Skip: p.skip, Probes: 1}
}

// secondTable is in red, with its tags in blue. It is as large as n rows need at
// most: half full, or all of red.
func (p *SinglePass) secondTable(n uint64) kernels.EgaTable {
	slots := uint32(min(2*n, uint64(p.rows)))
	return kernels.EgaTable{Rows: p.red.Ptr, Tags: p.blue.Ptr, Slots: slots, Skip: p.skip, Probes: slots}
}

// collect writes the groups of a table before row top of yellow, and counts them.
func (p *SinglePass) collect(s *cuda.Stream, table kernels.EgaTable, top uint64) (uint64, error) {
	if err := p.gather.Collect(s, p.k.Kernels, table, kernels.EgaDense{Rows: p.yellow.Ptr, At: top, Down: 1}); err != nil {
		return 0, err
	}
	return p.total(s)
}

// total waits for what the last pass counted.
func (p *SinglePass) total(s *cuda.Stream) (uint64, error) {
	if err := s.Synchronize(); err != nil {
		return 0, err
	}
	words, err := p.memory.Thread.ReadWords(p.gather.Total, 1)
	if err != nil {
		return 0, err
	}
	return words[0], nil
}

// probe combines the n refused rows in red.
func (p *SinglePass) probe(s *cuda.Stream, n uint64) error {
	table := p.secondTable(n)
	if err := p.k.Clear(s, table); err != nil {
		return err
	}
	if err := s.Fill(p.restCount, 0); err != nil {
		return err
	}
	rest := kernels.EgaRest{Count: p.restCount.Ptr, Status: p.restCount.Slice(8, 12).Ptr}
	if err := p.k.Probe(s, p.yellow.Ptr, n, table, rest); err != nil {
		return err
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	words, err := p.memory.Thread.ReadWords(p.restCount, 1)
	if err == nil && words[0] != 0 {
		err = ega.ErrNoSlot
	}
	return err
}

// Close frees the buffers. A second call does nothing.
func (p *SinglePass) Close() error { return p.memory.Close() }
