package groups

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// This file copies only the groups that are wanted to the host. Kernels run a program on each
// group (internal/kernels/ega_select.cuh). They find the rank of the last group that is wanted by
// counting ranks in ranges, and then in parts of the range that has it. A selection uses the
// memory of the readers, so it must end before the first reader is made.

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
	grid   cuda.Grid
	what   *Selection

	wanted kernels.EgaWanted
	words  cuda.Span // the sums and extremes that kernels find
	ranges cuda.Span
	rows   cuda.Span // room for groups
}

// These are the words that kernels add up.
const (
	rankedWord = iota // groups that have a rank
	unsureWord
	leastWord    // the complement of the least rank
	greatestWord // the greatest
	selectWords

	keptWord = 0 // of ega_select_keep: how many groups it has written
	leftWord = 1 // input rows of the other groups
)

// Select hands out the groups that are wanted, in any order, some at a time. The rows are valid
// until emit returns. done is false if so many groups are wanted that all should be read. Select
// is called before the first Reader is made. An error of emit ends it, and is returned.
func (g *Groups) Select(what *Selection, emit func(rows []uint64) error) (got Selected, done bool, err error) {
	err = g.config.Context.OnStream(func(t *cuda.Thread, s *cuda.Stream) (err error) {
		n := selecting{Groups: g, thread: t, stream: s, kernel: kernels.NewEgaSelect(g.config.Context), what: what}
		if done, err = n.open(); err != nil || !done {
			return err
		}
		got, done, err = n.run(emit)
		return err
	})
	if err != nil {
		return got, false, fmt.Errorf("select groups: %w", err)
	}
	return got, done, nil
}

// open divides the memory of the readers, and copies the arguments of the kernels to it. false:
// there is too little memory.
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
	if at+n.row > n.lent.Size {
		return false, nil
	}
	part := func(from, bytes cuda.Size) cuda.Span { return n.lent.Slice(from, from+bytes) }
	n.words, n.ranges, n.rows = part(wordsAt, 8*selectWords), part(rangesAt, 4*kernels.EgaSelectRanges), n.lent.Slice(at, n.lent.Size)
	n.wanted = kernels.EgaWanted{
		Values: part(valuesAt, 1).Ptr, Steps: part(stepsAt, 1).Ptr, StepCount: uint32(len(n.what.Steps)), Registers: uint32(n.what.Registers),
		RowsWord: uint32(n.what.Count.Word), RowsShift: n.what.Count.Shift, RowsMask: n.what.Count.Mask,
		Rank: uint8(n.what.Rank), Descending: flag(n.what.Descending), NullsFirst: flag(n.what.NullsFirst),
		ByHash: flag(n.what.Hashes), // all have the rank Tied, which is 0
	}
	n.grid = kernels.EgaSelectGrid(n.config.Table.View().Slots, n.what.Registers)
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

// run is Select once there is memory.
func (n *selecting) run(emit func(rows []uint64) error) (got Selected, done bool, err error) {
	bound, fit, err := n.few()
	if err != nil || !fit {
		return got, false, err
	}
	words, err := n.counted(func(out cuda.Ptr) error {
		return n.kernel.Keep(n.stream, n.grid, n.view, n.config.Table.View(), n.wanted, bound, n.rows.Ptr, uint64(n.rows.Size/n.row), out)
	})
	if err != nil {
		return got, false, err
	}
	got = Selected{Groups: words[keptWord], Left: words[leftWord]}
	return got, true, n.hand(got.Groups, emit)
}

// few returns the rank of the last group that is wanted. fit is false if more groups are wanted
// than a selection is good for, or than there is room for.
func (n *selecting) few() (bound uint64, fit bool, err error) {
	if n.what.All {
		return ^uint64(0), n.Len() <= uint64(n.rows.Size/n.row), nil
	}
	if n.what.Hashes && len(n.what.Steps) == 0 {
		bound, kept := n.firstHash(n.what.Best)
		return bound, n.pays(kept), nil
	}
	words, err := n.counted(func(out cuda.Ptr) error {
		return n.kernel.Range(n.stream, n.grid, n.view, n.config.Table.View(), n.wanted, out)
	})
	if err != nil {
		return 0, false, err
	}
	found := window{least: ^words[leastWord], greatest: words[greatestWord], groups: words[rankedWord]}
	bound, kept := ^uint64(0), found.groups
	if n.what.Best > 0 && n.what.Best < found.groups {
		if bound, kept, err = n.bound(found); err != nil {
			return 0, false, err
		}
	}
	if n.parts(bound, kept) {
		n.wanted.Tied, n.wanted.ByHash = bound, 1
		return n.few()
	}
	return bound, n.pays(kept + words[unsureWord]), nil
}

// pays reports whether so many groups should leave alone.
func (n *selecting) pays(groups uint64) bool {
	return groups <= n.Len()/selectShare && groups <= uint64(n.rows.Size/n.row)
}

// parts reports whether the groups of the last rank, which too many have, are to be parted by their
// hashes. A NULL may have the rank of another value, the least or the greatest that there is.
func (n *selecting) parts(bound, kept uint64) bool {
	return n.what.ByHash && n.wanted.ByHash == 0 && n.what.Best > 0 && kept > n.enough() && bound != 0 && bound != ^uint64(0)
}

// enough is how many groups are hardly more than those wanted.
func (n *selecting) enough() uint64 { return n.what.Best + min(selectSlack, n.Len()/selectPart) }

// window is some ranks: those from least to greatest, so many groups, behind `before` others.
type window struct {
	least, greatest uint64
	groups, before  uint64
}

// bound returns the rank of the last group that is wanted, or a slightly greater one up to which
// there are hardly more groups. kept is the number of groups with that rank or a lesser one.
func (n *selecting) bound(w window) (bound, kept uint64, err error) {
	counts := make([]uint32, kernels.EgaSelectRanges)
	for {
		shift := uint32(max(bits.Len64(w.greatest-w.least)-bits.Len(kernels.EgaSelectRanges-1), 0))
		err := errors.Join(
			n.stream.Fill(n.ranges, 0),
			n.kernel.Histogram(n.stream, n.grid, n.view, n.config.Table.View(), n.wanted, w.least, shift, n.ranges.Ptr),
			n.stream.Synchronize(),
			n.thread.Read(asBytes(counts), n.ranges),
		)
		if err != nil {
			return 0, 0, err
		}
		i := 0
		for w.before+uint64(counts[i]) < n.what.Best {
			w.before += uint64(counts[i])
			i++
		}
		w.groups = uint64(counts[i])
		w.least += uint64(i) << shift
		w.greatest = w.least + min(w.greatest-w.least, 1<<shift-1) // the last range may end beyond all words
		if shift == 0 || w.before+w.groups <= n.enough() {
			return w.greatest, w.before + w.groups, nil
		}
	}
}

// counted launches a kernel and returns the numbers that it has added up.
func (n *selecting) counted(launch func(out cuda.Ptr) error) ([]uint64, error) {
	if err := errors.Join(n.stream.Fill(n.words, 0), launch(n.words.Ptr), n.stream.Synchronize()); err != nil {
		return nil, err
	}
	return n.thread.ReadWords(n.words, selectWords)
}

// hand hands out that many groups.
func (n *selecting) hand(groups uint64, emit func(rows []uint64) error) error {
	words := n.row / 8
	rows := make([]uint64, min(uint64(max(partBytes/n.row, 1)), groups)*uint64(words))
	for from := n.rows; groups > 0; {
		some := min(groups, uint64(len(rows))/uint64(words))
		size := cuda.Size(some) * n.row
		if err := n.thread.Read(asBytes(rows)[:size], from.Slice(0, size)); err != nil {
			return err
		}
		if err := emit(rows[:some*uint64(words)]); err != nil {
			return err
		}
		from, groups = from.Slice(size, from.Size), groups-some
	}
	return nil
}
