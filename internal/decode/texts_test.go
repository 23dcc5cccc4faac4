package decode

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// storeBase is the base of refs in these tests.
const storeBase = 5 << 32

// withStore gives the device a store.
func (d *device) withStore(tb testing.TB, size StoreSize) {
	tb.Helper()
	store := gputest.Keep(tb, func() (*Store, error) { return NewStore(d.thread, size, storeBase) })
	d.kernels = NewKernels(d.thread.Context(), store)
}

// chunk is what the store holds.
func (d *device) chunk(tb testing.TB) []byte {
	tb.Helper()
	_, n, err := d.kernels.store.Len(d.thread)
	must(tb, err)
	memory := make([]byte, n)
	must(tb, d.kernels.store.Read(d.thread, memory, 0))
	return memory
}

// textOf is the string of a ref to a chunk.
func textOf(tb testing.TB, chunk []byte, ref uint64) []byte {
	tb.Helper()
	at := 8 * int(uint32(ref))
	if ref>>32 != storeBase>>32 || at < arena.Header || at > len(chunk) {
		tb.Fatalf("ref %#x of a chunk of %d bytes", ref, len(chunk))
	}
	n := int(binary.LittleEndian.Uint32(chunk[at-8:]))
	if room := int(binary.LittleEndian.Uint32(chunk[at-4:])); room != 0 { // SHARED-KEPT
		tb.Fatalf("a string of %d bytes has room for %d", n, room)
	}
	return chunk[at:][:n]
}

// sizes is lengths of strings about which something changes: in the words of a key, in the hash.
var sizes = []int{
	0, 1, 3, 4, 7, 8, 9, 14, 15, 16, 17, 18, 23, 24, 31, 32, 33, 39, 40, 47, 48, 63, 64, 65, 95, 96, 97, 127, 128, 129, 130,
	143, 144, 160, 239, 240, 241, 256, 257, 300, 512, 1023, 1024, 1025, 1088, 1089, 2047, 2048, 2049, 4091, 4092, 4096, 5000, 20000,
}

// longTexts is strings of such lengths, of so many different ones.
func longTexts(r *rand.Rand, n, different int) []string {
	all := draw(different, func() string {
		b := make([]byte, sizes[r.IntN(1+r.IntN(len(sizes)))]+r.IntN(2))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	})
	return draw(n, func() string { return all[r.IntN(len(all))] })
}

// Strings of any length, in fields of any width, in pages of values and of codes, in several
// batches: the words that workers make, and one ref for each string.
func TestMakeTexts(t *testing.T) {
	for _, rows := range []int{0, 1, 33, 500, 6000} {
		for seed := range uint64(max(2, 6-rows/1000)) {
			t.Run(fmt.Sprintf("rows=%d/seed=%d", rows, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, uint64(rows)))
				d := newDevice(t)
				d.withStore(t, StoreSize{Bytes: 64 << 20, Texts: int64(rows)})
				different := 1 + r.IntN(1<<r.IntN(10))
				keys := []source{texts(longTexts(r, rows, different)), texts(longTexts(r, rows, different))}
				keys[1].inline = []int{0, 20, 31, 55}[r.IntN(4)]
				share := r.Float64() * 1.2
				keys[0] = nullable(keys[0], draw(rows, func() bool { return r.Float64() < share }))
				refs := map[string]uint64{}
				for range 2 {
					makeTexts(t, d, newTextRig(t, seed, keys), rows, refs)
				}
				known := map[uint64]bool{}
				for _, ref := range refs {
					known[ref] = true
				}
				if len(known) != len(refs) {
					t.Errorf("%d strings have %d refs", len(refs), len(known))
				}
			})
		}
	}
}

// newTextRig is a rig whose keys keep strings on the device.
func newTextRig(tb testing.TB, seed uint64, keys []source) *rig {
	g := newRig(tb, seed, keys, nil)
	for i := range g.plan.Outputs {
		g.plan.Outputs[i].Form, g.plan.Outputs[i].Texts = kernels.ParquetInline, 1
	}
	return g
}

// makeTexts makes the rows of a rig whose keys are strings, and compares them with those of the
// encoder, and their strings with those of refs, to which it adds new ones.
func makeTexts(t *testing.T, d *device, g *rig, rows int, refs map[string]uint64) {
	t.Helper()
	g.units(g.draws, rows)
	p, memory := g.finish()
	got, stop := d.make(t, p, memory)
	if stop != 0 {
		t.Fatalf("stopped: %s", Reason(stop))
	}
	want, chunk, stride := g.rows(0, rows), d.chunk(t), g.plan.RowWords()
	for r := range rows {
		row := want[r*stride:][:stride]
		for i, l := range g.layout.Refs(row, 1) {
			ref := got[r*stride:][:stride][wordIndex(row, l.Ref)]
			text := string(textOf(t, chunk, ref))
			if old, known := refs[text]; known && old != ref {
				t.Fatalf("row %d: ref %d of it is %#x, and was %#x for the same string", r, i, ref, old)
			}
			if !slices.ContainsFunc(g.keys, func(s source) bool { return !s.vector.IsNull(r) && string(s.vector.Bytes(r)) == text }) {
				t.Fatalf("row %d has another string: %q", r, text)
			}
			refs[text], *l.Ref = ref, ref
		}
	}
	compare(t, g.plan, got, want)
	if n, _, err := d.kernels.store.Len(d.thread); err != nil || n < int64(len(refs)) {
		t.Errorf("%d strings, rows have %d; %v", n, len(refs), err)
	}
}

// wordIndex is where a word of a row is.
func wordIndex(row []uint64, word *uint64) int {
	for i := range row {
		if &row[i] == word {
			return i
		}
	}
	return -1
}

// A store that is full stops the job, and no row of it is taken; what it has stays valid.
func TestTextsFull(t *testing.T) {
	for name, size := range map[string]StoreSize{
		"arena": {Bytes: 1 << 12, Texts: 1 << 20},
		"table": {Bytes: 64 << 20, Texts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDevice(t)
			d.withStore(t, size)
			r, rows := rand.New(rand.NewPCG(1, 1)), 6000
			some := []source{texts(someTexts(r, rows, 30, 40, 20))}
			refs := map[string]uint64{}
			makeTexts(t, d, newTextRig(t, 1, some), rows, refs)
			g := newTextRig(t, 2, []source{texts(someTexts(r, rows, 30, 40, rows))})
			g.unit(0, rows)
			p, memory := g.finish()
			if _, stop := d.make(t, p, memory); stop != kernels.ParquetStopTexts {
				t.Fatalf("stopped: %q", Reason(stop))
			}
			chunk := d.chunk(t)
			for text, ref := range refs {
				if got := textOf(t, chunk, ref); string(got) != text {
					t.Fatalf("%q became %q", text, got)
				}
			}
		})
	}
}

// Whatever the bytes of a page of texts, rows are made as the twin makes them, or none.
func TestDamagedTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const rows = 200
	for round := range 100 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			d := newDevice(t)
			d.withStore(t, StoreSize{Bytes: 8 << 20, Texts: rows})
			damagedTexts(t, d, r, rows, round%4 == 0)
		})
	}
}

// damagedTexts has a device make the rows of a page that is cut or has other bytes than it had.
func damagedTexts(t *testing.T, d *device, r *rand.Rand, rows int, cut bool) {
	values := longTexts(r, rows, 50)
	var plain []byte
	for _, v := range values {
		plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(v))), v...)
	}
	if cut {
		plain = plain[:1+r.IntN(len(plain)-1)]
	} else {
		for range 1 + r.IntN(8) {
			plain[r.IntN(len(plain))] = byte(r.Uint32())
		}
	}
	g := newTextRig(t, 1, []source{texts(values)})
	g.page(kernels.ParquetPage{Rows: uint32(rows), Texts: 1}, nil, plain, kernels.ParquetTask{})
	g.batch.rows = rows
	p, memory := g.finish()
	got, stop := d.make(t, p, memory)
	want, whole := splitTexts(plain, rows)
	if !whole {
		if stop != kernels.ParquetStopDamaged {
			t.Fatalf("stopped: %q", Reason(stop))
		}
		return
	}
	if stop != 0 {
		t.Fatalf("stopped: %q", Reason(stop))
	}
	chunk, stride := d.chunk(t), g.plan.RowWords()
	for i, w := range want {
		for _, l := range g.layout.Refs(got[i*stride:][:stride], 1) {
			if text := textOf(t, chunk, *l.Ref); string(text) != w {
				t.Fatalf("row %d is %q, want %q", i, text, w)
			}
		}
	}
}

// splitTexts is the first n strings of a page of values.
func splitTexts(b []byte, n int) (out []string, whole bool) {
	for range n {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, false
		}
		size := binary.LittleEndian.Uint32(b)
		out = append(out, string(b[4:4+size]))
		b = b[4+size:]
	}
	return out, true
}

// someOrLong is strings that may be long or, of odd seeds, are short.
func someOrLong(r *rand.Rand, seed uint64, rows int) source {
	if seed%2 == 1 {
		return texts(someTexts(r, rows, 0, 15, 50))
	}
	return texts(longTexts(r, rows, 1+r.IntN(100)))
}

// toldOf is what a device tells of each string, once the plan has output 1 tell it.
func toldOf(t *testing.T, r *rand.Rand, seed uint64, s source, tells func(*Plan)) (told []uint64) {
	t.Helper()
	d, rows := newDevice(t), s.vector.Len
	g := newRig(t, seed, []source{ints(column.Int32, kernels.ParquetInt32, draw(rows, func() int64 { return int64(r.IntN(9)) }))}, []source{s})
	tells(g.plan)
	g.plan.States = g.plan.States[:2] // the value alone, as it is
	g.plan.Nulls = nil
	g.unit(0, rows)
	p, memory := g.finish()
	got, stop := d.make(t, p, memory)
	if stop != 0 {
		t.Fatalf("stopped: %s", Reason(stop))
	}
	stride := g.plan.RowWords()
	for i := range rows {
		told = append(told, got[i*stride+stride-1])
	}
	return told
}

// The lengths of strings, of pages of all kinds and of dictionaries.
func TestTextLengths(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 9))
		rows := 1 + r.IntN(3000)
		s := someOrLong(r, seed, rows)
		told := toldOf(t, r, seed, s, func(p *Plan) { p.Outputs[1].Form = kernels.ParquetLength })
		for i, n := range told {
			if n != uint64(s.vector.Span[i].Len) {
				t.Fatalf("seed %d: row %d has %d bytes, want %d", seed, i, n, s.vector.Span[i].Len)
			}
		}
	}
}

// The refs and prefixes of strings, short and long, of pages of all kinds and of dictionaries: one
// ref for each string.
func TestTextRefs(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 11))
		rows := 1 + r.IntN(2000)
		s := someOrLong(r, seed, rows)
		share := r.Float64() * 1.2
		s = nullable(s, draw(rows, func() bool { return r.Float64() < share }))
		d := newDevice(t)
		d.withStore(t, StoreSize{Bytes: 64 << 20, Texts: int64(rows), Short: true})
		g := newRig(t, seed, []source{ints(column.Int32, kernels.ParquetInt32, draw(rows, func() int64 { return int64(r.IntN(9)) }))}, []source{s})
		o := &g.plan.Outputs[1]
		o.Form, o.Texts = kernels.ParquetRef, 1
		state := kernels.ParquetState{Place: 1, Array: o.Array, Word: kernels.ParquetCopy}
		prefix := state
		prefix.Word, prefix.Null = kernels.ParquetPrefix, 77
		g.plan.States, g.plan.Nulls = []kernels.ParquetState{state, prefix}, nil
		g.unit(0, rows)
		p, memory := g.finish()
		got, stop := d.make(t, p, memory)
		if stop != 0 {
			t.Fatalf("stopped: %s", Reason(stop))
		}
		refs, chunk, stride := map[string]uint64{}, d.chunk(t), g.plan.RowWords()
		for i := range rows {
			ref, prefix := got[i*stride+stride-2], got[i*stride+stride-1]
			if s.vector.IsNull(i) {
				if ref != 0 || prefix != 77 {
					t.Fatalf("seed %d: row %d, which is NULL, has %#x and %#x", seed, i, ref, prefix)
				}
				continue
			}
			want := string(s.vector.Bytes(i))
			begin := binary.BigEndian.Uint64(append([]byte(want), make([]byte, 8)...))
			if text := textOf(t, chunk, ref); string(text) != want || prefix != begin {
				t.Fatalf("seed %d: row %d is %q, %#x, want %q", seed, i, text, prefix, want)
			}
			if old, known := refs[want]; known && old != ref {
				t.Fatalf("seed %d: %q has refs %#x and %#x", seed, want, old, ref)
			}
			refs[want] = ref
		}
		if n, _, err := d.kernels.store.Len(d.thread); err != nil || n < int64(len(refs)) {
			t.Errorf("%d strings, rows have %d; %v", n, len(refs), err)
		}
	}
}

// Whether strings are of patterns, of pages of all kinds and of dictionaries: patterns of parts of
// the strings, of their beginnings and ends, and of all that there is of one.
func TestTextMatches(t *testing.T) {
	found := 0
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 10))
		rows := 1 + r.IntN(2000)
		s := someOrLong(r, seed, rows)
		m := &expr.Match{Pieces: somePieces(r, s.vector.Bytes(r.IntN(rows)))}
		told := toldOf(t, r, seed, s, func(p *Plan) {
			p.SetMatch(1, &expr.Match{Pieces: [][]byte{[]byte("of another output")}})
			p.SetMatch(1, m)
		})
		for i, w := range told {
			text := s.vector.Bytes(i)
			if w != m.Word(text) {
				t.Fatalf("seed %d: %q of %q: %d", seed, text, m.Pieces, w)
			}
			found += int(m.Word(text))
		}
	}
	if found < 100 {
		t.Errorf("%d strings are of the patterns", found)
	}
}

// somePieces is the pieces of a pattern that text is of.
func somePieces(r *rand.Rand, text []byte) (pieces [][]byte) {
	if r.IntN(6) == 0 {
		return [][]byte{text}
	}
	cut := func(most int) []byte {
		n := min(r.IntN(most+1), len(text))
		piece := text[:n]
		text = text[n:]
		return piece
	}
	pieces = append(pieces, cut(r.IntN(12)))
	for range r.IntN(3) {
		cut(9)
		if p := cut(11); len(p) > 0 {
			pieces = append(pieces, p)
		}
	}
	return append(pieces, text[len(text)-min(r.IntN(10), len(text)):])
}

// The size of a store is within what it was allowed, but for little.
func TestStoreSize(t *testing.T) {
	t.Parallel()
	for _, s := range []StoreSize{{}, {1, 1, false}, {1 << 20, 1 << 40, true}, {1 << 40, 1 << 40, false}, {100 << 20, 1000, true}} {
		if slots := s.slots(); slots&(slots-1) != 0 || slots < leastStoreSlots {
			t.Errorf("%+v: %d slots", s, slots)
		}
		if words := s.words(); words < 8 || words > mostStoreWords {
			t.Errorf("%+v: %d words", s, words)
		}
		if s.Memory() < cuda.Size(8*(s.words()+s.slots())) {
			t.Errorf("%+v takes %v", s, s.Memory())
		}
	}
	if why := Reason(kernels.ParquetStopTexts); !strings.Contains(why, "long strings") {
		t.Errorf("the reason is %q", why)
	}
}

// Parts of strings, of pages of all kinds and of dictionaries: how long they are, and whether they
// are of a pattern in any case.
func TestTextCuts(t *testing.T) {
	pieces := []string{"a", "B", "/", "//", "long enough for words", "é", "日本", "😀", " ", "\u2003", "\u3000", "\xff", "\xe2\x80", "\xf0\x9f\x98", "İ"}
	cuts := []string{
		"split_part(s, '/', 2)", "split_part(s, '//', -2)", "substring(s, 3, 5)", "right(left(s, -2), 7)", "trim(s)", "ltrim(split_part(s, 'B', 1))",
		"substring(rtrim(s), -9)", "left(s, 40)",
	}
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 12))
		var strs []string
		for range 1 + r.IntN(2000) {
			text := ""
			for range r.IntN(9) {
				text += pieces[r.IntN(len(pieces))]
			}
			strs = append(strs, text)
		}
		s := texts(strs)
		node, err := expr.Parse(cuts[r.IntN(len(cuts))])
		if err != nil {
			t.Fatal(err)
		}
		e, err := expr.Bind(node, "", func(string) (int, column.Type, error) { return 1, column.Type{Kind: column.String}, nil })
		if err != nil {
			t.Fatal(err)
		}
		in, ok := e.Cut()
		if !ok {
			t.Fatalf("%v is not a part", node)
		}
		parts, err := e.NewEval().EvalColumn(1, &s.vector)
		if err != nil {
			t.Fatal(err)
		}
		match := &expr.Match{Pieces: [][]byte{nil, []byte("b"), nil}, Folded: true}
		forms := []uint8{kernels.ParquetLength, kernels.ParquetCharacters, kernels.ParquetMatch}
		form := forms[seed%3]
		told := toldOf(t, r, seed, s, func(p *Plan) {
			p.Outputs[1].Form = form
			p.SetCut(1, in)
			if form == kernels.ParquetMatch {
				p.SetMatch(1, match)
			}
		})
		for i, got := range told {
			part := parts.Bytes(i)
			want := map[uint8]uint64{
				kernels.ParquetLength: uint64(len(part)), kernels.ParquetCharacters: uint64(utf8.RuneCount(part)), kernels.ParquetMatch: match.Word(part),
			}[form]
			if got != want {
				t.Fatalf("seed %d: %v of %q: %d, want %d", seed, node, strs[i], got, want)
			}
		}
	}
}
