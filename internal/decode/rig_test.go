package decode

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/klauspost/compress/snappy"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/key"
)

// source is a column of a test: what is in the file, and what the CPU makes of
// it.
type source struct {
	output kernels.ParquetOutput // physical type and rule
	vector column.Vector         // flat
	plain  func(i int) []byte    // value i in a PLAIN page
}

// ints is a column of integers, which lie in the file as they are.
func ints(kind column.Kind, physical uint8, values []int64) source {
	s := source{vector: column.Vector{Type: column.Type{Kind: kind}, Len: len(values), Int: values}}
	s.output = kernels.ParquetOutput{Physical: physical, Lo: math.MinInt64, Hi: math.MaxInt64, Factor: 1}
	s.plain = func(i int) []byte {
		if physical == kernels.ParquetInt32 {
			return binary.LittleEndian.AppendUint32(nil, uint32(values[i]))
		}
		return binary.LittleEndian.AppendUint64(nil, uint64(values[i]))
	}
	return s
}

// floats is a column of floats of 32 or 64 bits.
func floats(kind column.Kind, physical uint8, values []float64) source {
	s := source{vector: column.Vector{Type: column.Type{Kind: kind}, Len: len(values), Float: values}}
	s.output = kernels.ParquetOutput{Physical: physical}
	s.plain = func(i int) []byte {
		if physical == kernels.ParquetFloat {
			return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(values[i])))
		}
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(values[i]))
	}
	return s
}

// texts is a column of strings.
func texts(values []string) source {
	s := source{vector: column.Vector{Type: column.Type{Kind: column.String}, Len: len(values)}}
	s.output = kernels.ParquetOutput{Physical: kernels.ParquetBytes}
	for _, v := range values {
		s.vector.Span = append(s.vector.Span, column.Span{Off: uint32(len(s.vector.Data)), Len: uint32(len(v))})
		s.vector.Data = append(s.vector.Data, v...)
	}
	s.vector.Data = append(s.vector.Data, make([]byte, column.SpanPadding)...)[:len(s.vector.Data)]
	s.plain = func(i int) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(values[i]))), values[i]...)
	}
	return s
}

// rig is a plan over columns, a parcel of them that is being made, and the
// rows that it has to come to.
type rig struct {
	plan    *Plan
	keys    []source // sources 0 ...
	values  []source // the sources behind them
	layout  *key.Layout
	encoder *key.Encoder
	draws   *rand.Rand
	memory  []byte
	parcel  Parcel
}

// newRig makes the plan of a query: the states are a count, and each value, floats
// as sums too, integers times the first value.
func newRig(tb testing.TB, seed uint64, keys, values []source) *rig {
	tb.Helper()
	g := &rig{plan: &Plan{HashWords: 1}, keys: keys, values: values, draws: rand.New(rand.NewPCG(seed, 7))}
	var columns []key.Column
	for i := range keys {
		columns = append(columns, key.Column{Type: keys[i].vector.Type})
	}
	g.layout = key.NewLayout(columns)
	g.encoder = key.NewEncoder(g.layout, key.NewInterner(nil))
	g.plan.KeyWords = g.layout.Words
	var words []int
	for i, f := range g.layout.Fields() {
		o := Output{ParquetOutput: keys[i].output, Source: i, Field: i}
		o.Words, o.Shift, o.Bits, o.Form = uint8(f.Words), uint8(f.Shift), uint8(f.Bits), kernels.ParquetBits
		if f.Form == key.FormInline {
			o.Form = kernels.ParquetInline
		}
		g.plan.Outputs = append(g.plan.Outputs, o)
		words = append(words, f.Word)
	}
	for i := range values {
		o := Output{ParquetOutput: values[i].output, Source: len(keys) + i, Field: -1}
		o.Form, o.Words = kernels.ParquetValue, 1
		g.plan.Outputs = append(g.plan.Outputs, o)
	}
	if err := g.plan.Place(words); err != nil {
		tb.Fatal(err)
	}
	g.plan.States = []kernels.ParquetState{{Constant: 1}}
	for i := range values {
		array := g.plan.Outputs[len(keys)+i].Array
		g.plan.States = append(g.plan.States, kernels.ParquetState{Array: array, Word: kernels.ParquetCopy})
		state := kernels.ParquetState{Array: array, Word: kernels.ParquetSum}
		if !values[i].vector.Type.IsFloat() {
			state.Word, state.Constant = kernels.ParquetProduct, uint64(g.plan.Outputs[len(keys)].Array)
		}
		g.plan.States = append(g.plan.States, state)
	}
	g.parcel.plan = g.plan
	return g
}

// sources is the columns, as the plan counts them.
func (g *rig) sources() []source { return slices.Concat(g.keys, g.values) }

// rows is what the CPU makes of the rows from ... to of the columns.
func (g *rig) rows(from, to int) (rows []uint64) {
	var vectors []column.Vector
	for i := range g.keys {
		vectors = append(vectors, slice(g.keys[i].vector, from, to))
	}
	g.encoder.Encode(vectors, to-from)
	first := func(r int) uint64 {
		if v := &g.values[0].vector; !v.Type.IsFloat() {
			return uint64(v.Int[r])
		}
		return math.Float64bits(g.values[0].vector.Float[r])
	}
	for r := range to - from {
		if g.plan.HashWords == 1 {
			rows = append(rows, g.encoder.Hash[r])
		}
		for _, w := range g.encoder.Words {
			rows = append(rows, w[r])
		}
		rows = append(rows, 1)
		for i := range g.values {
			v := &g.values[i].vector
			if !v.Type.IsFloat() {
				rows = append(rows, uint64(v.Int[from+r]), uint64(v.Int[from+r])*first(from+r))
				continue
			}
			zero := 0.0
			rows = append(rows, math.Float64bits(v.Float[from+r]), math.Float64bits(zero+v.Float[from+r]))
		}
	}
	return rows
}

// slice is rows of a flat vector.
func slice(v column.Vector, from, to int) column.Vector {
	v.Len = to - from
	switch {
	case v.Int != nil:
		v.Int = v.Int[from:to]
	case v.Float != nil:
		v.Float = v.Float[from:to]
	default:
		v.Span = v.Span[from:to]
	}
	return v
}

// room leaves bytes unused and aligns; what lies there means nothing.
func (g *rig) room(n, alignment int) {
	for range n {
		g.memory = append(g.memory, byte(g.draws.Uint32()))
	}
	for len(g.memory)%alignment != 0 {
		g.memory = append(g.memory, 0)
	}
}

// page adds a page, somewhere, of the next rows of a source, and its tasks. It
// is compressed if its Snappy is 1.
func (g *rig) page(page kernels.ParquetPage, levels, values []byte, tasks ...kernels.ParquetTask) {
	g.room(g.draws.IntN(20), 1)
	page.At, page.Size = uint64(len(g.memory)), uint32(len(levels)+len(values))
	switch {
	case page.Snappy == 0:
	case page.Levels == kernels.ParquetSizedLevels:
		levels, values = nil, snappy.Encode(nil, slices.Concat(levels, values))
	default:
		values = snappy.Encode(nil, values)
	}
	page.Bytes = uint32(len(levels) + len(values))
	if page.Snappy == 1 {
		page.Expanded = uint64(g.parcel.expanded)
		g.parcel.expanded += kernels.ParquetSnappyRoom(int(page.Size), int(page.Bytes))
	}
	g.memory = append(append(g.memory, levels...), values...)
	for _, t := range tasks {
		t.Page = uint32(len(g.parcel.pages))
		g.parcel.tasks = append(g.parcel.tasks, t)
	}
	g.parcel.pages = append(g.parcel.pages, page)
}

// unit adds the rows from ... to of the columns as a unit, in pages as drawn.
func (g *rig) unit(from, to int) {
	for i, s := range g.sources() {
		dict := dictionary(&s, from, to)
		task := g.entries(&s, i, dict)
		for at := from; at < to || at == from; {
			rows := min(1+g.draws.IntN(1<<g.draws.IntN(14)), to-at)
			page := kernels.ParquetPage{First: uint32(g.parcel.rows + at - from), Rows: uint32(rows), Snappy: uint8(g.draws.IntN(2))}
			var head, values []byte
			head, page.Levels = drawLevels(g.draws, g.draws.IntN(levelForms), rows)
			if g.draws.IntN(2) == 0 {
				page.Coded = 1
				values = drawCodes(g.draws, dict.codes[at-from:at-from+rows], len(dict.rows))
			} else {
				for r := at; r < at+rows; r++ {
					values = append(values, s.plain(r)...)
				}
			}
			g.page(page, head, values, task)
			at += max(rows, 1)
		}
		g.room(kernels.ParquetPadding, kernels.ParquetPadding)
	}
	g.parcel.rows += to - from
}

// dict is the dictionary of a unit: the row where each entry was first seen,
// and the code of each row.
type dict struct {
	rows  []int
	codes []uint32
}

func dictionary(s *source, from, to int) (d dict) {
	seen := map[string]uint32{}
	for r := from; r < to; r++ {
		v := string(s.plain(r))
		code, ok := seen[v]
		if !ok {
			code = uint32(len(d.rows))
			seen[v] = code
			d.rows = append(d.rows, r)
		}
		d.codes = append(d.codes, code)
	}
	if len(d.rows) == 0 {
		d.rows = []int{0} // of a unit without rows
	}
	return d
}

// entries writes a dictionary's words for the output of a source: those that the
// rows of its entries have.
func (g *rig) entries(s *source, output int, d dict) kernels.ParquetTask {
	g.room(0, 8)
	task := kernels.ParquetTask{Entries: uint64(len(g.memory)), Output: uint32(output), Count: uint32(len(d.rows))}
	var arrays [][]uint64
	if o := &g.plan.Outputs[output]; o.Field >= 0 {
		entries := gather(&s.vector, d.rows)
		words, hash, _ := g.encoder.TranslateDict(o.Field, &entries)
		arrays = append(slices.Clone(words), hash)
	} else {
		arrays = make([][]uint64, 1)
		for _, r := range d.rows {
			if s.vector.Type.IsFloat() {
				arrays[0] = append(arrays[0], math.Float64bits(s.vector.Float[r]))
			} else {
				arrays[0] = append(arrays[0], uint64(s.vector.Int[r]))
			}
		}
	}
	for _, words := range arrays {
		for _, w := range words {
			g.memory = binary.LittleEndian.AppendUint64(g.memory, w)
		}
	}
	return task
}

// gather is some rows of a flat vector.
func gather(v *column.Vector, rows []int) column.Vector {
	out := column.Vector{Type: v.Type, Len: len(rows), Data: v.Data}
	for _, r := range rows {
		switch {
		case v.Int != nil:
			out.Int = append(out.Int, v.Int[r])
		case v.Float != nil:
			out.Float = append(out.Float, v.Float[r])
		default:
			out.Span = append(out.Span, v.Span[r])
		}
	}
	return out
}

// device is where parcels are made into rows.
type device struct {
	thread  *cuda.Thread
	stream  *cuda.Stream
	kernels *Kernels
}

func newDevice(tb testing.TB) *device {
	d := &device{thread: gputest.Open(tb)}
	d.stream = gputest.Keep(tb, d.thread.NewStream)
	d.kernels = gputest.Keep(tb, func() (*Kernels, error) { return LoadKernels(d.thread) })
	return d
}

// with lends memory with these bytes to use.
func (d *device) with(tb testing.TB, bytes []byte, use func(cuda.Span)) {
	tb.Helper()
	memory, err := d.thread.Alloc(cuda.Size(max(len(bytes), 1)))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := memory.Close(); err != nil {
			tb.Error(err)
		}
	}()
	span := memory.Span().Slice(0, cuda.Size(len(bytes)))
	if err := d.thread.Write(span, bytes); err != nil {
		tb.Fatal(err)
	}
	use(span)
}

// guard is what lies around rows and work memory, to see that nothing is
// written there.
const guard = 64

// finish is the parcel and its memory. It may be called again, with other
// bytes in the pages.
func (g *rig) finish() (*Parcel, []byte) {
	memory := slices.Clone(g.memory)
	for len(memory)%kernels.ParquetPadding != 0 {
		memory = append(memory, 0)
	}
	p := g.parcel
	p.data = len(memory)
	memory = append(memory, make([]byte, p.Size()-p.data)...)
	p.describe(memory)
	return &p, memory
}

// make is the rows of a parcel, as the device makes them, and the stop word. What the
// kernels note in the parcel is in memory then.
func (d *device) make(tb testing.TB, p *Parcel, memory []byte) (rows []uint64, stop uint64) {
	tb.Helper()
	guarded := func(n int) []byte { return slices.Repeat([]byte{0xa5}, guard+n+guard) }
	outRows, outWork, outStop := guarded(p.plan.RowBytes(p.rows)), guarded(p.WorkBytes()), make([]byte, 8)
	d.with(tb, memory, func(in cuda.Span) {
		d.with(tb, outRows, func(rows cuda.Span) {
			d.with(tb, outWork, func(work cuda.Span) {
				d.with(tb, outStop, func(stop cuda.Span) {
					inner := func(s cuda.Span) cuda.Span { return s.Slice(guard, s.Size-guard) }
					must(tb, d.kernels.Make(d.stream, p, in, inner(rows), inner(work), stop))
					must(tb, d.stream.Synchronize())
					must(tb, d.thread.Read(outRows, rows))
					must(tb, d.thread.Read(outWork, work))
					must(tb, d.thread.Read(outStop, stop))
					must(tb, d.thread.Read(memory, in))
				})
			})
		})
	})
	for _, b := range [][]byte{outRows, outWork} {
		if around := slices.Concat(b[:guard], b[len(b)-guard:]); !slices.Equal(around, guarded(0)) {
			tb.Error("something was written beside rows or work memory")
		}
	}
	for b := outRows[guard : len(outRows)-guard]; len(b) > 0; b = b[8:] {
		rows = append(rows, binary.LittleEndian.Uint64(b))
	}
	return rows, binary.LittleEndian.Uint64(outStop)
}

// walked reports whether a task was left to a walk.
func walked(p *Parcel, memory []byte, task int) bool {
	tasks := memory[p.data+len(p.pages)*pageBytes:]
	return (*kernels.ParquetTask)(unsafe.Pointer(&tasks[task*taskBytes])).Walk != 0
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// compare compares rows. In states one NaN is as good as another: devices do not keep its bits.
func compare(tb testing.TB, plan *Plan, got, want []uint64) {
	tb.Helper()
	if slices.Equal(got, want) {
		return
	}
	stride := plan.RowWords()
	if len(got) != len(want) {
		tb.Fatalf("%d rows, want %d", len(got)/stride, len(want)/stride)
	}
	wrong := 0
	for i := range want {
		state := i%stride >= plan.HashWords+plan.KeyWords
		if got[i] == want[i] || state && isNaN(got[i]) && isNaN(want[i]) {
			continue
		}
		if wrong++; wrong <= 5 {
			tb.Errorf("word %d of row %d is %#x, want %#x", i%stride, i/stride, got[i], want[i])
		}
	}
	if wrong > 0 {
		tb.Errorf("%d words of %d are wrong", wrong, len(want))
	}
}

func isNaN(word uint64) bool {
	f := math.Float64frombits(word)
	return f != f
}
