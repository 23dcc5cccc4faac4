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
}

// RegroupTexts is what the hashes of keys with texts follow from.
type RegroupTexts struct {
	Hashes []uint64 // by number of a text
	Arena  cuda.Ptr // of long texts on the device; 0: there is none
	Base   uint64   // of their refs
}

// Regrouped is the outcome of a Regrouping.
type Regrouped struct {
	Groups *Groups // that the groups became, open for readers, and the caller's to close; nil: none
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
	left, err := n.open()
	if err != nil || left == 0 {
		return out, err
	}
	done, err := n.combine()
	if err != nil || !done {
		return out, err
	}
	words, err := n.thread.ReadWords(n.words, regroupWords)
	if err != nil {
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
	out.Groups, err = n.located(left, bits(groups))
	return out, err
}

// open makes the table and the memory beside it. It returns how much memory is left when that is
// free again; 0: there is too little.
func (n *regrouping) open() (left cuda.Size, err error) {
	spare, row := n.room-min(n.room, n.lent.Size), n.layout.RowBytes()
	rows := cuda.Size(min(uint64(n.config.Table.View().Slots)+1, regroupRows, uint64(spare/regroupShare/row)))
	arguments := n.arguments()
	beside := cuda.Allocated(rows*row, 8*regroupWords)
	for _, a := range arguments {
		beside += cuda.Allocated(max(cuda.Size(len(a.bytes)), 1))
	}
	if rows == 0 || beside >= spare {
		return 0, nil
	}
	wanted := uint64(float64(n.atMost())/ega.TableLoad) + regroupLeast
	slots := uint32(min(wanted, uint64(ega.TableSlots(&n.layout, spare-beside))))
	if slots < regroupLeast {
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
	if n.table, err = ega.NewTable(n.ega, ega.TableConfig{Slots: slots, Probes: regroupProbes}); err != nil {
		return 0, err
	}
	return spare - ega.TableBytes(&n.layout, slots), errors.Join(n.table.Clear(n.stream), n.stream.Fill(n.words, 0))
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

// atMost is how many other groups there can be.
func (n *regrouping) atMost() uint64 { return min(n.Len(), n.what.AtMost) }

// combine makes rows of all groups and combines them. false: some could not be made, or found no
// slot.
func (n *regrouping) combine() (bool, error) {
	most, end := uint64(n.rows.Size/n.layout.RowBytes()), uint64(n.config.Table.View().Slots)+1
	estimate, all, rows, some := n.atMost(), uint64(0), uint64(0), min(most, regroupFirst)
	for first := uint64(0); first < end; first, some = first+some, most {
		words, err := n.make(first, min(first+some, end))
		if err != nil || !whole(words) {
			return false, err
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
			return false, err
		}
	}
	if invariant.Enabled {
		invariant.Check(all == n.Len(), "a row is made of each group")
	}
	words, err := n.counts()
	return err == nil && whole(words), err
}

// whole reports whether all rows so far were made and found a slot.
func whole(words []uint64) bool { return words[stopWord] == 0 && words[restWord] == 0 }

// make makes rows of the slots from first on, before end, once those before are combined.
func (n *regrouping) make(first, end uint64) (words []uint64, err error) {
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

// located is the groups of the table, with room for their readers; nil: there is too little.
func (n *regrouping) located(room cuda.Size, bits uint) (*Groups, error) {
	c, layout := n.config, n.layout
	c.Layout, c.Table, c.Values, c.Bits, c.Room = &layout, n.table, Values{}, bits, room
	n.table = nil // of Groups
	g, err := Locate(n.thread, n.stream, c)
	if err != nil {
		return nil, err
	}
	if !g.Readable() {
		return nil, g.Close()
	}
	if err := g.Open(); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// close frees what is not that of the other Groups. Its work has ended, or has failed.
func (n *regrouping) close() error {
	err := n.memory.Close()
	if n.table != nil {
		err = errors.Join(err, n.table.Close())
	}
	return err
}
