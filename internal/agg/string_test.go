package agg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// mappedRuns keeps runs off the Go heap.
type mappedRuns struct {
	memory []byte
	blocks [][]byte
}

func (r *mappedRuns) Write(b []byte) (uint64, error) {
	n := copy(r.memory, b)
	r.blocks, r.memory = append(r.blocks, r.memory[:n:n]), r.memory[n:]
	return uint64(len(r.blocks)), nil
}

func (r *mappedRuns) Read(ref uint64, buf []byte) ([]byte, error) {
	return append(buf[:0], r.blocks[ref-1]...), nil
}

// longText is a text of which the end tells its number.
func longText(size, number int) []byte {
	b := bytes.Repeat([]byte("abcdefg "), (size+7)/8)[:size]
	copy(b[size-4:], fmt.Sprintf("%04d", number))
	return b
}

// addText updates the only group of w with a text.
func addText(w *worker, text []byte, pos int) {
	id, isNew := w.group(0)
	if isNew {
		w.l.Init(w.row(id))
	}
	v := column.Vector{Type: column.Type{Kind: column.String}, Len: 1, Span: []column.Span{{Len: uint32(len(text))}}, Data: text}
	w.l.UpdateOne(&w.t, id, isNew, &Input{Rows: 1, Args: []column.Vector{v}, Pos: []int64{int64(pos)}})
}

// F12: what sorts, dedupes, writes and merges the values of a group takes no memory in proportion
// to its texts, which differ in their last bytes alone.
func TestLongStrings(t *testing.T) {
	const size, rows, spills = 2<<20 + 3, 12, 4
	list := []holistic{{"mode", nil}, {"entropy", nil}, {"histogram", nil}, {"min", 2}, {"max", 2}, {"list", nil}, {"string_agg", "-"}, {"median", nil}}
	text := column.Type{Kind: column.String}
	d := &testData{args: [][]column.Value{{{Type: text}}}}
	calls := make([]Call, len(list))
	for i, h := range list {
		calls[i] = h.call(t, d)
	}
	memory := hostmem.Make[byte](10 * rows * size)
	defer hostmem.Free(memory)
	l := Compile(calls, testBase, Options{MaxRows: -1, Runs: &mappedRuns{memory: memory, blocks: make([][]byte, 0, 1<<14)}})
	l.limits.block = 8 << 10
	w := newWorker(l, new(arena.Arenas))
	defer w.t.Arena.Reset()
	if hostmem.Live() < int64(len(memory)) {
		t.Skip("buffers are Go memory")
	}
	texts := make([][]byte, 5)
	for i := range texts {
		texts[i] = longText(size, i)
	}
	number := func(row int) int { return 4 - row*row%5 } // 4 3 0 0 3 4 3 0 0 3 4 3

	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	before := allocated()
	for row := range rows {
		addText(w, texts[number(row)], row)
		if row%(rows/spills) != 0 {
			continue
		}
		var moved arena.Section
		if err := l.Move(w.row(0), w.t.Arena.Registry(), &moved); err != nil {
			t.Fatal(err)
		}
		w.t.Arena.Reset()
		l.Rebase(w.row(0), w.t.Arena.Registry().Adopt(moved.Bytes()))
	}
	out := make([]column.Vector, len(calls))
	for i := range calls {
		large := column.NewLargeRow(budget.Or(nil))
		defer large.Done()
		if err := l.FinishLarge(i, w.row(0), w.t.Arena.Registry(), large, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	if n := allocated() - before; n > 2*size {
		t.Errorf("%d texts of %d bytes took %d bytes beside them", rows, size, n)
	}

	elements := func(v *column.Vector) (numbers []int) {
		for i := range v.Elem.Len {
			for n, text := range texts {
				if bytes.Equal(v.Elem.Bytes(i), text) {
					numbers = append(numbers, n)
				}
			}
		}
		return numbers
	}
	want := [][]int{2: {0, 3, 4}, 3: {0, 0}, 4: {4, 4}, 5: {4, 3, 0, 0, 3, 4, 3, 0, 0, 3, 4, 3}}
	for i, numbers := range want {
		if numbers != nil && !slices.Equal(elements(&out[i]), numbers) {
			t.Errorf("%s: %v, want %v", list[i].name, elements(&out[i]), numbers)
		}
	}
	if counts := out[2].Counts; !slices.Equal(counts, []int64{4, 5, 3}) {
		t.Errorf("histogram: %v", counts)
	}
	if !bytes.Equal(out[0].Bytes(0), texts[3]) || !bytes.Equal(out[7].Bytes(0), texts[3]) {
		t.Error("mode or median is another text")
	}
	if n := len(out[6].Bytes(0)); n != rows*size+rows-1 {
		t.Errorf("string_agg: %d bytes", n)
	}
}

// F12: compacting a chain takes no memory for texts, also for such as are too long for what tells
// the room in a blob.
func TestCompactLongStrings(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of megabytes")
	}
	d := &testData{args: [][]column.Value{{{Type: column.Type{Kind: column.String}}}}}
	list := []holistic{{"histogram", nil}, {"min", 2}}
	long := longText(8*roomMask+8, 1)
	short := [][]byte{long[:3], long[:1<<10], long[:2<<10]}
	for i, h := range list {
		t.Run(h.name, func(t *testing.T) {
			l := Compile([]Call{h.call(t, d)}, testBase, Options{MaxRows: -1})
			w := newWorker(l, new(arena.Arenas))
			defer w.t.Arena.Reset()
			for row, text := range [][]byte{short[2], long, short[1], short[0], long, short[1], short[0], short[2]} {
				addText(w, text, row)
			}
			k, held := linkOf(&l.slots[0], w.row(0)), w.t.Arena.Bytes()
			l.compact(k, w.t.Arena)
			if now := w.t.Arena.Bytes(); now != held {
				t.Errorf("the arena has %d bytes, it had %d", now, held)
			}
			addText(w, short[1], 8)
			l.compact(k, w.t.Arena)

			large := column.NewLargeRow(budget.Or(nil))
			defer large.Done()
			var out column.Vector
			if err := l.FinishLarge(0, w.row(0), w.t.Arena.Registry(), large, &out); err != nil {
				t.Fatal(err)
			}
			wants := [][][]byte{{short[0], short[1], short[2], long}, {short[0], short[0]}}[i]
			if out.Elem.Len != len(wants) {
				t.Fatalf("%d values, want %d", out.Elem.Len, len(wants))
			}
			for i, want := range wants {
				if !bytes.Equal(out.Elem.Bytes(i), want) {
					t.Errorf("value %d has %d bytes, want %d", i, len(out.Elem.Bytes(i)), len(want))
				}
			}
			if i == 0 && !slices.Equal(out.Counts, []int64{2, 3, 2, 2}) {
				t.Errorf("counts %v", out.Counts)
			}
		})
	}
}

// Texts with many bytes in common, zeros at their ends, and of all lengths come out in order:
// ascending in a histogram, descending as the greatest.
func TestTextsOfCommonPrefixes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 22))
	var texts []string
	for range 3000 {
		s := strings.Repeat("http://a.example/", r.IntN(6))
		s += strings.Repeat("p", r.IntN(90))
		for range r.IntN(12) {
			s += string("\x00ab\xff"[r.IntN(4)])
		}
		texts = append(texts, s)
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	w := &workspace{stop: stop{left: 1 << 40}}
	for _, keep := range []keep{keepCounts, keepGreatest} {
		c := &chain{keep: keep, rep: column.RepBytes, count: none, pos: none}
		blob := []uint64{0} // a ref is not 0
		w.items = w.items[:0]
		for _, n := range r.Perm(len(texts)) {
			words := append([]uint64{uint64(len(texts[n]))}, make([]uint64, (len(texts[n])+7)/8)...)
			copy(bytesOf(words[1:]), texts[n])
			w.items = append(w.items, item{c.key(words), uint64(len(blob))})
			blob = append(blob, words...)
		}
		w.chunks = [][]byte{bytesOf(blob)}
		if c.dedupes() {
			w.tallies = w.tallies[:0]
			for i, it := range w.items {
				w.tallies = append(w.tallies, tally{ref: it.at})
				w.items[i].at = uint64(i)
			}
		}
		w.sortStrings(c)
		var got []string
		for _, it := range w.items {
			got = append(got, string(w.textOf(c, it)))
		}
		if keep == keepGreatest {
			slices.Reverse(got)
		}
		if !slices.Equal(got, texts) {
			t.Errorf("keep %d: not in order", keep)
		}
	}
}

// An index has room for the entries there are, not for all values that have come: min(x, n) is
// compacted each time some more have.
func TestMostEntries(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	d := &testData{args: [][]column.Value{{{Type: column.Type{Kind: column.String}}}}}
	for _, c := range []struct {
		holistic
		most int
	}{
		{holistic{"min", 2}, 130}, {holistic{"max", 2}, 130}, {holistic{"histogram", nil}, 2 * (usualLimits.compact + 1)}, {holistic{"list", nil}, rows},
	} {
		l := Compile([]Call{c.call(t, d)}, testBase, Options{MaxRows: -1})
		w := newWorker(l, new(arena.Arenas))
		space := &workspace{stop: stop{left: 1 << 40}}
		for row := range rows {
			addText(w, fmt.Appendf(nil, "%d of few", row%7), row)
			if row%97 != 0 {
				continue
			}
			k := linkOf(&l.slots[0], w.row(0))
			if err := space.index(k, w.t.Arena.Registry(), 0, nil); err != nil {
				t.Fatal(err)
			}
			if n := k.mostEntries(); n < len(space.items) || n > c.most {
				t.Fatalf("%s: %d entries at most, there are %d", c.name, n, len(space.items))
			}
		}
		w.t.Arena.Reset()
	}
}
