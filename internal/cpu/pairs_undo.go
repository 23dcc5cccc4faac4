package cpu

import (
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file is how pairs become rows of the inner worker, where the groups leave the table or
// memory is refused (PAIRS-TABLE).

// unpairRows is how many pairs become rows at a time.
const unpairRows = 4096

// unpair has all pairs of a distinct value become rows of its inner worker, and those that come
// later.
func (w *Worker) unpair(s *set) error {
	p := s.pairs
	if p == nil {
		return nil
	}
	s.pairs, p.took = nil, false
	p.closed.Store(true)
	defer p.close()
	if p.buckets == nil {
		return nil
	}
	d := w.newUnpairer(s, p)
	for part := range p.buckets.Partitions() {
		for _, page := range p.buckets.Pages(nil, part) {
			for len(page) > 0 {
				n := min(len(page), pairWords*unpairRows)
				if err := d.add(page[:n]); err != nil {
					return err
				}
				page = page[n:]
			}
		}
	}
	return nil
}

// unpairAll does that to the pairs of all distinct values: the table's groups are about to leave
// it.
func (w *Worker) unpairAll() error {
	if w.sets == nil {
		return nil
	}
	for i := range w.sets.of {
		if err := w.unpair(&w.sets.of[i]); err != nil {
			return err
		}
	}
	return nil
}

// unpairer makes rows of pairs.
type unpairer struct {
	w     *Worker
	set   *set
	keys  key.Decoder
	value key.Decoder
	rows  []uint64 // of the groups
	batch column.Batch
}

func (w *Worker) newUnpairer(s *set, p *pairs) *unpairer {
	c := w.cfg
	return &unpairer{
		w: w, set: s,
		keys:  key.Decoder{Layout: c.Keys, Intern: c.Intern, Arenas: c.Arenas, Base: c.Keys.Base(), Stride: c.Stride, Beside: true},
		value: key.Decoder{Layout: p.layout, Intern: c.Intern, Arenas: c.Arenas, Base: 1, Stride: pairWords, Beside: true},
		batch: column.Batch{Cols: make([]column.Vector, len(s.batch.Cols))},
	}
}

// add adds pairs in pieces, such that the texts of a piece's groups are not too long together.
func (d *unpairer) add(pairs []uint64) error {
	stride := d.w.cfg.Stride
	for len(pairs) > 0 {
		d.rows = d.rows[:0]
		bytes, n := 0, 0
		for ; n < len(pairs) && bytes <= foldBytes; n += pairWords {
			group := int(uint32(pairs[n]))
			row := d.w.table.rows.Rows[group*stride : (group+1)*stride]
			d.rows = append(d.rows, row...)
			bytes += d.w.cfg.Keys.LongBytes(row, 1)
		}
		if err := d.addSome(pairs[:n]); err != nil {
			return err
		}
		pairs = pairs[n:]
	}
	return nil
}

// addSome adds pairs whose groups' rows are at hand.
func (d *unpairer) addSome(pairs []uint64) error {
	last := len(d.batch.Cols) - 1
	d.keys.Begin(d.rows)
	for i := range last {
		d.keys.Decode(i, d.rows, &d.batch.Cols[i])
	}
	d.value.Begin(pairs)
	d.value.Decode(0, pairs, &d.batch.Cols[last])
	d.batch.Rows = len(pairs) / pairWords
	return d.set.addInner(&d.batch)
}
