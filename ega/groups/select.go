package groups

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// This file copies only the groups that are wanted to the host. Kernels run a program on each
// group (internal/kernels/ega_select.cuh): some find the rank of the last group that is wanted
// (rank.go), one copies the groups up to it. A selection has memory of its own, which is free
// again when Select returns.

// Selection says which groups are wanted: all of them, or those that a program keeps. If Best is
// above 0, only the Best groups among these are wanted, by their ranks or hashes. More groups are
// handed out if ranks are equal and ByHash is not set, or if the program cannot decide.
type Selection struct {
	All bool // the other fields but Count do not matter

	Values    []kernels.EgaValue    // that the program loads
	Steps     []kernels.ParquetStep // with Best, one of them stores the word that ranks follow from
	Registers int
	Best      uint64

	// Hashes: the Best groups are the first in order of hash. No step stores a word, and the
	// fields up to ByHash do not matter.
	Hashes bool

	Rank       kernels.EgaRankKind
	Descending bool
	NullsFirst bool
	ByHash     bool // of groups with equal ranks those with lesser hashes come first

	// Count is the place of a count in the rows, of which the sum over groups is wanted.
	Count Count

	// Sure is the slots of a table up to which all of them say which rank is the last one wanted,
	// and not a sample; 0: some millions.
	Sure uint64
}

// Count is a number in a row: (row[Word] >> Shift) & Mask.
type Count struct {
	Word  int
	Shift uint8
	Mask  uint64
}

// Selected is the outcome of a Selection.
type Selected struct {
	Groups uint64 // that were handed out
	Left   uint64 // input rows of the other groups
}

// SelectSources lists the kernels that Select needs. They may be loaded (cuda.Context.Load)
// beforehand.
func SelectSources(c *cuda.Context) []*cuda.Source { return kernels.NewEgaSelect(c).Parts() }

// selecting is a Selection under way.
type selecting struct {
	*Groups
	thread *cuda.Thread
	stream *cuda.Stream
	kernel *kernels.EgaSelect
	what   *Selection

	left   cuda.Size // for groups
	every  uint64    // kernels look at one of so many slots
	wanted kernels.EgaWanted
	memory cuda.Pieces // of what follows
	words  cuda.Span   // the sums and extremes that kernels find
	ranges cuda.Span
}

// These are the words that kernels add up.
const (
	rankedWord = iota // groups that have a rank
	unsureWord
	leastWord    // the complement of the least rank
	greatestWord // the greatest
	selectWords

	// of ega_select_keep
	keptWord  = 0 // groups that it has written
	leftWord  = 1 // input rows of the other groups
	doubtWord = 2 // the groups of keptWord that are unsure
)

// Select hands out the groups that are wanted, in any order and all at once; the rows are emit's.
// done is false if so many groups are wanted that all should be read, or if there is too little
// memory. Select is called before Open. An error of emit ends it, and is returned.
func (g *Groups) Select(what *Selection, emit func(rows []uint64) error) (got Selected, done bool, err error) {
	err = g.config.Context.OnStream(func(t *cuda.Thread, s *cuda.Stream) (err error) {
		n := selecting{Groups: g, thread: t, stream: s, kernel: kernels.NewEgaSelect(g.config.Context), what: what, memory: cuda.Pieces{Thread: t}}
		got, done, err = n.run(emit)
		return errors.Join(err, n.memory.Close())
	})
	if err != nil {
		return got, false, fmt.Errorf("select groups: %w", err)
	}
	return got, done, nil
}

// run is Select once there is a stream.
func (n *selecting) run(emit func(rows []uint64) error) (got Selected, done bool, err error) {
	if fits, err := n.open(); err != nil || !fits {
		return got, false, err
	}
	for _, every := range n.tries() {
		last, err := n.last(every)
		if err != nil {
			return got, false, err
		}
		switch {
		case last.groups <= n.most():
		case last.groups/2 > n.most() || every == 1:
			return got, false, nil
		default: // a sample cannot tell
			continue
		}
		got, enough, err := n.keep(last, emit)
		if enough || err != nil {
			return got, err == nil, err
		}
	}
	return got, false, nil
}

// most is the most groups that should leave alone.
func (n *selecting) most() uint64 {
	if n.what.All {
		return n.Len()
	}
	return n.Len() / selectShare
}

// open makes the memory of the kernels, and copies their arguments to it. false: there is too
// little.
func (n *selecting) open() (bool, error) {
	values, steps := asBytes(n.what.Values), asBytes(n.what.Steps)
	at := cuda.Size(0)
	next := func(bytes cuda.Size) (piece cuda.Size) {
		piece = at
		at += (bytes + selectAlign - 1) / selectAlign * selectAlign
		return piece
	}
	valuesAt, stepsAt := next(cuda.Size(len(values))), next(cuda.Size(len(steps)))
	wordsAt, rangesAt := next(8*selectWords), next(4*kernels.EgaSelectRanges)
	if at = cuda.Allocated(at); at > n.room {
		return false, nil
	}
	// no more leaves at once than readers may have in their buffers, which the caller allows for
	n.left = min(n.room-at, 2*cuda.Size(n.config.Readers)*n.config.ReadBytes)
	all, err := n.memory.Alloc(at)
	if errors.Is(err, cuda.ErrOutOfMemory) { // others have it
		return false, nil
	}
	if err != nil {
		return false, err
	}
	part := func(from, bytes cuda.Size) cuda.Span { return all.Slice(from, from+bytes) }
	n.words, n.ranges = part(wordsAt, 8*selectWords), part(rangesAt, 4*kernels.EgaSelectRanges)
	n.wanted = kernels.EgaWanted{
		Values: part(valuesAt, 1).Ptr, Steps: part(stepsAt, 1).Ptr, StepCount: uint32(len(n.what.Steps)), Registers: uint32(n.what.Registers),
		RowsWord: uint32(n.what.Count.Word), RowsShift: n.what.Count.Shift, RowsMask: n.what.Count.Mask,
		Rank: uint8(n.what.Rank), Descending: flag(n.what.Descending), NullsFirst: flag(n.what.NullsFirst),
	}
	return true, errors.Join(
		n.thread.Write(part(valuesAt, cuda.Size(len(values))), values),
		n.thread.Write(part(stepsAt, cuda.Size(len(steps))), steps))
}

// selectAlign is how pieces of the memory are aligned.
const selectAlign = 256

func flag(is bool) uint8 {
	if is {
		return 1
	}
	return 0
}

// asBytes returns the memory of arguments of kernels.
func asBytes[T any](all []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(all))), len(all)*int(unsafe.Sizeof(one)))
}

// keep hands out the groups up to the last one wanted. enough is false, and none was handed out, if
// a sample has misled: these are fewer than are wanted, or more than there is room for.
func (n *selecting) keep(to last, emit func(rows []uint64) error) (got Selected, enough bool, err error) {
	size := cuda.Size(max(to.groups, 1)) * n.row
	if cuda.Allocated(size) > n.left {
		return got, false, nil
	}
	memory := cuda.Pieces{Thread: n.thread}
	defer func() { err = errors.Join(err, memory.Close()) }()
	rows, err := memory.Alloc(size)
	if errors.Is(err, cuda.ErrOutOfMemory) { // others have it
		return got, false, nil
	}
	if err != nil {
		return got, false, err
	}
	n.look(1)
	words, err := n.counted(func(grid cuda.Grid, out cuda.Ptr) error {
		return n.kernel.Keep(n.stream, grid, n.view, n.config.Table.View(), n.wanted, to.bound, rows.Ptr, uint64(rows.Size/n.row), out)
	})
	if err != nil {
		return got, false, err
	}
	got = Selected{Groups: words[keptWord], Left: words[leftWord]}
	if got.Groups > uint64(rows.Size/n.row) || !to.all && got.Groups-words[doubtWord] < n.what.Best {
		return Selected{}, false, nil
	}
	return got, true, n.hand(rows, got.Groups, emit)
}

// counted launches a kernel and returns the numbers that it has added up.
func (n *selecting) counted(launch func(grid cuda.Grid, out cuda.Ptr) error) ([]uint64, error) {
	if err := errors.Join(n.stream.Fill(n.words, 0), launch(kernels.EgaSelectGrid(n.slots(), n.what.Registers), n.words.Ptr), n.stream.Synchronize()); err != nil {
		return nil, err
	}
	return n.thread.ReadWords(n.words, selectWords)
}

// look has kernels look at one of so many slots.
func (n *selecting) look(every uint64) { n.every, n.wanted.Every = every, uint32(every) }

// slots is how many slots kernels look at.
func (n *selecting) slots() uint64 { return uint64(n.config.Table.View().Slots)/n.every + 1 }

// hand hands out that many groups.
func (n *selecting) hand(from cuda.Span, groups uint64, emit func(rows []uint64) error) error {
	if groups == 0 {
		return nil
	}
	rows := make([]uint64, groups*uint64(n.row/8))
	if err := n.thread.Read(asBytes(rows), from.Slice(0, cuda.Size(groups)*n.row)); err != nil {
		return err
	}
	return emit(rows)
}
