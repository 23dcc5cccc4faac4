package cpu

import (
	"context"
	"fmt"

	"github.com/gagg-dev/gagg/partition"
)

// This file is how rows that crowd are merged where most of their groups fit in memory, but not
// all: rows whose group is there are combined into it, and the others set aside on disk and loaded
// in a second turn. Dividing all of them would write each once more.

// restMost is how many times the groups in memory there may be in all: of more, most rows would be
// set aside. Of twice as many groups half of the rows are; of three times as many two thirds, and a
// third once more, which is as much as dividing all of them writes.
const restMost = 2

// restPays reports whether to do so. States that refer to values may need memory to combine, of
// which there is none left.
func (m *Merger) restPays() bool {
	_, groups := m.crowd()
	return m.dir.seeded && m.n > 0 && groups <= restMost*float64(m.n) && !m.cfg.States.HasRefs()
}

// restRuns makes sorted runs of the groups in memory, and then of those of the rows set aside.
func (m *Merger) restRuns(ctx context.Context) (runs []sortedRun, err error) {
	rest, err := m.setAside(ctx)
	if err != nil {
		return nil, err
	}
	m.in.blocks = nil
	if runs, err = m.sortRuns(ctx); err != nil {
		return runs, err
	}
	m.in.seeded, m.in.shared, m.in.blocks = true, 0, rest
	strategy := m.sortRuns
	if err := m.load(ctx); refused(err) {
		strategy = m.makeRuns // makeRuns ends: there are fewer rows than before
	} else if err != nil {
		return runs, err
	}
	some, err := strategy(ctx)
	return append(runs, some...), err
}

// setAside combines all rows that have not been loaded into their groups, and returns where those
// lie that have none.
func (m *Merger) setAside(ctx context.Context) (rest []sourceBlock, err error) {
	var blocks []partition.Block
	rows := m.rowsLeftToLoad()
	for ; m.merged < m.in.pages; m.merged++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		page := m.pages[m.merged]
		if blocks, err = m.combineKnown(page, blocks); err != nil {
			return nil, err
		}
		rows -= len(page) / m.cfg.Stride
	}
	for _, b := range m.in.blocks {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows -= int(b.Rows)
		if b.Long {
			rest = append(rest, b)
		} else if blocks, err = m.combineBlock(b, blocks); err != nil {
			return nil, err
		}
	}
	if rows != 0 {
		return nil, fmt.Errorf("internal error: %d rows were neither combined nor set aside", rows)
	}
	blocks, err = m.store.disk.Flush(blocks)
	for _, b := range blocks {
		rest = append(rest, sourceBlock{b, m.store.disk})
	}
	return rest, err
}

func (m *Merger) combineBlock(b sourceBlock, rest []partition.Block) ([]partition.Block, error) {
	base, err := m.open(b)
	if err != nil {
		return rest, err
	}
	defer m.shut(base)
	if rest, err = m.combineKnown(m.block.Rows, rest); err == nil {
		b.disk.Free(b.Block)
	}
	return rest, err
}

// combineKnown combines rows into their groups, and writes those that have none to disk, behind the
// others.
func (m *Merger) combineKnown(rows []uint64, rest []partition.Block) (_ []partition.Block, err error) {
	stride := m.cfg.Stride
	for len(rows) > 0 {
		some := rows[:min(len(rows), touchRows*stride)]
		for i, g := range m.candidates(some) {
			row := some[i*stride : (i+1)*stride : (i+1)*stride]
			var dst []uint64
			if g != noGroup {
				dst = m.row(g)
			}
			if dst == nil || !m.equal(dst, row) {
				_, _, dst = m.find(row)
			}
			if dst != nil {
				m.combine(dst, row)
			} else if rest, err = m.store.disk.Write(rest, row); err != nil {
				return rest, err
			}
		}
		rows = rows[len(some):]
	}
	return rest, nil
}
