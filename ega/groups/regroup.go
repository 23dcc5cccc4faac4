package groups

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// This file groups groups by some of their keys: by all but the last, a value that some aggregates
// take once. A kernel makes rows of the slots of the table, a piece at a time
// (internal/kernels/ega_regroup.cuh), and the kernels that combine any rows combine them in a
// second table:
//
//	table of groups ──ega_regroup_rows──▶ rows of a piece ──▶ table of the other groups
//	 [hash | keys, value | states]        [hash | keys | states]
//
// The first table stays as it is. So nothing is lost if there is too little memory for the second
// one: the groups are read as if nobody had tried.

// Regrouping says how groups are grouped by some of their keys. The state words and their
// operations stay the same.
type Regrouping struct {
	KeyWords int                       // of the other groups
	Keys     []kernels.EgaRegroupKey   // in the order of the key columns
	States   []kernels.EgaRegroupState // that a value adds to
	Value    kernels.EgaRegroupPlan    // where the value is; the other fields do not matter

	// Numbered: some keys are numbers of texts. RegroupTexts.Hashes is needed.
	Numbered bool
	AtMost   uint64 // groups that there can be
	// Sure is the slots of a table up to which nobody looks how many groups there are, about; 0:
	// some millions
	Sure uint64
}

// RegroupTexts is what the hashes of keys with texts follow from.
type RegroupTexts struct {
	Hashes []uint64 // by number of a text
	Arena  cuda.Ptr // of long texts on the device; 0: there is none
	Base   uint64   // of their refs
}

// Regrouped is the outcome of a Regrouping.
type Regrouped struct {
	Groups *Groups // that the groups became, the caller's to close; nil: none
	Valued uint64  // how many of the groups have a value that is not NULL
}

// RegroupSources lists the kernels that Regroup needs for groups of a layout. They may be loaded
// (cuda.Context.Load) beforehand.
func RegroupSources(c *cuda.Context, l *ega.Layout, what *Regrouping) []*cuda.Source {
	to := what.layout(l)
	return append(kernels.NewEgaRegroup(c).Parts(), ega.Sources(c, &to)...)
}

// layout is the layout of the other groups.
func (w *Regrouping) layout(of *ega.Layout) ega.Layout {
	to := *of
	to.KeyWords = w.KeyWords
	return to
}

// Regroup groups the groups by some of their keys. There are no other Groups if memory is short, or
// a text of a key is not on the device. bits is how many bits of the hash divide so many other
// groups into partitions. Regroup is called before the first Reader is made.
func (g *Groups) Regroup(what *Regrouping, texts RegroupTexts, bits func(groups uint64) uint) (out Regrouped, err error) {
	err = g.config.Context.OnStream(func(t *cuda.Thread, s *cuda.Stream) (err error) {
		n := regrouping{Groups: g, what: what, texts: texts, thread: t, stream: s, layout: what.layout(g.config.Layout), memory: cuda.Pieces{Thread: t}}
		out, err = n.run(bits)
		return errors.Join(err, n.close())
	})
	if err != nil && out.Groups != nil { // they were made, and something else could not be closed
		err = errors.Join(err, out.Groups.Close())
	}
	if errors.Is(err, cuda.ErrOutOfMemory) { // others have it
		return Regrouped{}, nil
	}
	if err != nil {
		return Regrouped{}, fmt.Errorf("regroup groups: %w", err)
	}
	return out, nil
}

// regrouping is a Regrouping under way.
type regrouping struct {
	*Groups
	what   *Regrouping
	texts  RegroupTexts
	thread *cuda.Thread
	stream *cuda.Stream
	layout ega.Layout // of the other groups
	kernel *kernels.EgaRegroup
	ega    *ega.Kernels
	spare  cuda.Size // memory of the device that nobody has

	memory cuda.Pieces // of what follows
	rows   cuda.Span   // of a piece
	words  cuda.Span   // of counts
	plan   kernels.EgaRegroupPlan

	table *ega.Table // of the other groups; nil: there is none, or they are Groups
	apart bool       // rows of a block hardly ever meet
}

// Words that kernels leave while rows are made and combined: those of ega_regroup_rows, and of
// kernels.EgaRest.
const (
	madeWord   = iota // rows that were made
	valuedWord        // of these: with a value
	stopWord          // not 0: some could not be made
	restWord          // rows that found no slot
	statusWord        // the status of the rest
	sentWord          // rows and groups that blocks have sent on
	regroupWords
)

// run is Regroup once there is a stream.
func (n *regrouping) run(bits func(groups uint64) uint) (out Regrouped, err error) {
	n.kernel = kernels.NewEgaRegroup(n.config.Context)
	if n.ega, err = ega.Load(n.thread, n.layout); err != nil {
		return out, err
	}
	n.spare = n.room
	most, err := n.open()
	if err != nil || most == 0 {
		return out, err
	}
	slots, err := n.guess(most)
	if err != nil {
		return out, err
	}
	words, err := n.combine(slots)
	if err == nil && words[restWord] > 0 && slots < most {
		words, err = n.combine(most)
	}
	if err != nil || !whole(words) {
		return out, err
	}
	groups, err := n.table.Groups(n.stream)
	if err != nil {
		return out, err
	}
	if err := n.memory.Close(); err != nil { // nobody needs the pieces any more
		return out, err
	}
	out.Valued = words[valuedWord]
	out.Groups, err = n.taken(groups, bits(groups))
	return out, err
}

// open makes the memory beside the table, of which it returns the most slots; 0: there is too
// little memory.
func (n *regrouping) open() (most uint32, err error) {
	row := n.layout.RowBytes()
	rows := cuda.Size(min(uint64(n.config.Table.View().Slots)+1, regroupRows, uint64(n.spare/regroupShare/row)))
	arguments := n.arguments()
	beside := cuda.Allocated(rows*row, 8*regroupWords)
	for _, a := range arguments {
		beside += cuda.Allocated(max(cuda.Size(len(a.bytes)), 1))
	}
	if rows == 0 || beside >= n.spare {
		return 0, nil
	}
	most = uint32(min(n.wanted(), uint64(ega.TableSlots(&n.layout, n.spare-beside))))
	if most < regroupLeast {
		return 0, nil
	}
	err = n.memory.AllocAll(cuda.Piece{To: &n.rows, Bytes: rows * row}, cuda.Piece{To: &n.words, Bytes: 8 * regroupWords})
	if err != nil {
		return 0, err
	}
	n.plan = n.what.Value
	n.plan.KeyCount, n.plan.StateCount, n.plan.HashCount = uint32(len(n.what.Keys)), uint32(len(n.what.States)), uint32(len(n.texts.Hashes))
	n.plan.KeyWords, n.plan.Arena, n.plan.Base = uint32(n.what.KeyWords), n.texts.Arena, n.texts.Base
	for _, a := range arguments {
		span, err := n.memory.Alloc(cuda.Size(len(a.bytes)))
		if err == nil && len(a.bytes) > 0 {
			err = n.thread.Write(span.Slice(0, cuda.Size(len(a.bytes))), a.bytes)
		}
		if err != nil {
			return 0, err
		}
		*a.to = span.Ptr
	}
	return most, nil
}

// atMost is how many other groups there can be.
func (n *regrouping) atMost() uint64 { return min(n.Len(), n.what.AtMost) }

// wanted is the slots of a table for as many.
func (n *regrouping) wanted() uint64 { return slotsFor(n.atMost()) }

// slotsFor is the slots of a table for groups.
func slotsFor(groups uint64) uint64 { return uint64(float64(groups)/ega.TableLoad) + regroupLeast }

// guess is how many slots the table should have, of `most`: of a large one few may be used, and all
// are read more than once. The groups of the first piece, which the hash of the keys and the value
// has chosen, say how many there are of all, at most.
func (n *regrouping) guess(most uint32) (uint32, error) {
	sure := uint64(regroupSure)
	if n.what.Sure > 0 {
		sure = n.what.Sure
	}
	first := min(uint64(n.rows.Size/n.layout.RowBytes()), regroupFirst)
	if uint64(most) <= sure || slotsFor(first) > uint64(most) {
		return most, nil
	}
	if err := n.start(uint32(slotsFor(first))); err != nil {
		return 0, err
	}
	words, err := n.piece(0, first)
	if err != nil || words[madeWord] == 0 {
		return most, err
	}
	made := words[madeWord]
	if err := n.add(made, n.ega.PlanShared(made)); err != nil {
		return 0, err
	}
	groups, err := n.table.Groups(n.stream)
	if err != nil {
		return 0, err
	}
	// more rows show ever fewer new groups
	all := regroupMargin * float64(groups) * float64(n.Len()) / float64(made)
	return uint32(min(uint64(most), slotsFor(uint64(min(all, float64(n.atMost())))))), nil
}

// start makes an empty table in place of the last one.
func (n *regrouping) start(slots uint32) error {
	if err := n.closeTable(); err != nil {
		return err
	}
	probes := uint32(regroupProbes)
	if uint64(slots) < n.wanted() {
		probes = regroupFewProbes
	}
	var err error
	if n.table, err = ega.NewTable(n.ega, ega.TableConfig{Slots: slots, Probes: probes}); err != nil {
		return err
	}
	n.apart = false
	return errors.Join(n.table.Clear(n.stream), n.stream.Fill(n.words, 0))
}

// argument is memory that kernels read.
type argument struct {
	to    *cuda.Ptr
	bytes []byte
}

// arguments is what the plan of the kernels points to.
func (n *regrouping) arguments() []argument {
	return []argument{
		{&n.plan.Keys, asBytes(n.what.Keys)},
		{&n.plan.States, asBytes(n.what.States)},
		{&n.plan.Hashes, asBytes(n.texts.Hashes)},
	}
}

// combine makes rows of all groups and combines them in a table of so many slots, until one could
// not be made or found no slot. It returns the words that say so.
func (n *regrouping) combine(slots uint32) (words []uint64, err error) {
	if err := n.start(slots); err != nil {
		return nil, err
	}
	most, end := uint64(n.rows.Size/n.layout.RowBytes()), uint64(n.config.Table.View().Slots)+1
	estimate, all, rows, some := n.atMost(), uint64(0), uint64(0), min(most, regroupFirst)
	for first := uint64(0); first < end; first, some = first+some, most {
		words, err := n.piece(first, min(first+some, end))
		if err != nil || !whole(words) {
			return words, err
		}
		if sent := words[sentWord]; sent > 0 {
			n.apart = feedback.DefaultPreaggregateConfig.DecidePreaggregate(rows, sent) == feedback.SendRows
		}
		rows = words[madeWord]
		all += rows
		if rows > 0 {
			err = n.add(rows, n.ega.PlanShared(estimate))
		}
		if err == nil && first == 0 && some < end {
			estimate, err = n.seen(estimate)
		}
		if err != nil {
			return nil, err
		}
	}
	if invariant.Enabled {
		invariant.Check(all == n.Len(), "a row is made of each group")
	}
	return n.counts()
}

// whole reports whether all rows so far were made and found a slot.
func whole(words []uint64) bool { return words[stopWord] == 0 && words[restWord] == 0 }

// piece makes rows of the slots from first on, before end, once those before are combined.
func (n *regrouping) piece(first, end uint64) (words []uint64, err error) {
	err = errors.Join(
		n.stream.Fill(n.words.Slice(8*madeWord, 8*(madeWord+1)), 0),
		n.kernel.Rows(n.stream, kernels.EgaRegroupGrid(end-first, n.layout.Stride()), n.view, n.config.Table.View(), n.plan, first, end, n.rows.Ptr, n.words.Ptr),
	)
	if err != nil {
		return nil, err
	}
	return n.counts()
}

// counts is the words that kernels have left.
func (n *regrouping) counts() ([]uint64, error) {
	if err := n.stream.Synchronize(); err != nil {
		return nil, err
	}
	return n.thread.ReadWords(n.words, regroupWords)
}

// add combines the rows that were made, through the tables of blocks unless that gains nothing
// (feedback.PreaggregateConfig).
func (n *regrouping) add(rows uint64, plan ega.SharedPlan) error {
	at := func(word cuda.Ptr) cuda.Ptr { return n.words.Ptr + 8*word }
	rest := kernels.EgaRest{Rows: n.rows.Ptr, Count: at(restWord), Status: at(statusWord)}
	if err := n.stream.Fill(n.words.Slice(8*sentWord, 8*(sentWord+1)), 0); err != nil {
		return err
	}
	if !plan.Crowded {
		return n.table.AddPlanned(n.stream, n.rows, rows, plan, rest)
	}
	if n.apart {
		return n.table.AddRest(n.stream, n.rows, rows, rest)
	}
	rest.Sent = at(sentWord)
	return n.table.AddPlanned(n.stream, n.rows, rows, plan, rest)
}

// seen is an estimate of the other groups by those of the first rows, as firstpass makes it.
func (n *regrouping) seen(estimate uint64) (uint64, error) {
	if !n.ega.PlanShared(estimate).Crowded {
		return estimate, nil
	}
	groups, err := n.table.Groups(n.stream)
	return min(estimate, 2*groups), err
}

// taken is the groups of the table; nil: there is too little room for their readers.
func (n *regrouping) taken(count uint64, bits uint) (*Groups, error) {
	c, layout := n.config, n.layout
	room := n.spare - ega.TableBytes(&layout, n.table.View().Slots)
	c.Layout, c.Table, c.Values, c.Bits, c.Room = &layout, n.table, Values{}, bits, room
	n.table = nil // of Groups
	g := counted(c, count)
	if !g.Readable() {
		return nil, g.Close()
	}
	return g, nil
}

// close frees what is not that of the other Groups. Its work has ended, or has failed.
func (n *regrouping) close() error { return errors.Join(n.memory.Close(), n.closeTable()) }

func (n *regrouping) closeTable() error {
	if n.table == nil {
		return nil
	}
	table := n.table
	n.table = nil
	return table.Close()
}
