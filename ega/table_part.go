package ega

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// CountGroups adds the number of groups to a word of 64 bits in device memory, which is 0 before:
// what Collect counts, without writing them.
func (t *Table) CountGroups(s *cuda.Stream, total cuda.Span) error {
	k := t.k
	return k.count.Slots(s, k.rows(clearKernel, uint64(t.view.Slots)+1), k.view, t.view, total.Ptr)
}

// FirstHash sets a word of 64 bits in device memory, which is 0 before, to the complement of a hash
// that at least so many groups do not exceed. The word stays 0 where no such hash is found near the
// front of the table. The layout has hashes; kernels of other streams may add meanwhile.
func (t *Table) FirstHash(s *cuda.Stream, groups uint64, beyond cuda.Span) error {
	return t.k.count.First(s, kernels.EgaFirstGrid(), t.k.view, t.view, groups, kernels.EgaFirstSlots(groups), beyond.Ptr)
}

// Groups counts the groups, and waits for that.
func (t *Table) Groups(s *cuda.Stream) (uint64, error) {
	total := t.gather.Total
	if err := errors.Join(s.Fill(total, 0), t.CountGroups(s, total), s.Synchronize()); err != nil {
		return 0, err
	}
	words, err := t.memory.Thread.ReadWords(total, 1)
	if err != nil {
		return 0, err
	}
	return words[0], nil
}

// CollectPart is Collect for the slots from `from` up to `to`. out must have room for one row more
// than there are slots. unused is a word in device memory that is 0.
func (t *Table) CollectPart(s *cuda.Stream, from, to uint32, unused, out cuda.Span) error {
	return t.gather.Collect(s, t.k, t.part(from, to, unused), kernels.EgaDense{Rows: out.Ptr})
}

// part is a table of some of the slots. One slot behind all others is for the key that looks like
// an empty slot. It belongs to the last part; in the other parts `unused` stands for its tag.
func (t *Table) part(from, to uint32, unused cuda.Span) kernels.EgaTable {
	p := t.view
	p.Rows += cuda.Ptr(cuda.Size(from) * t.k.Layout.RowBytes())
	p.Slots = to - from
	switch {
	case t.k.Layout.KeyWords > 1:
		p.Tags += 4 * cuda.Ptr(from)
	case to < t.view.Slots:
		p.Tags = unused.Ptr
	}
	return p
}
