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

// nullable makes rows of a column NULL, as drawn.
func nullable(s source, null []bool) source {
	s.vector.Null = null
	s.output.Nulls = 1
	return s
}

// isNull is which of the rows from ... to are NULL.
func (s *source) isNull(from, to int) []bool {
	if s.vector.Null == nil {
		return make([]bool, to-from)
	}
	return s.vector.Null[from:to]
}

// values is the PLAIN values of rows, and the codes of them.
func (s *source) values(from, to int, d dict) (plain []byte, codes []uint32) {
	for r := from; r < to; r++ {
		if s.vector.IsNull(r) {
			continue
		}
		plain = append(plain, s.plain(r)...)
		codes = append(codes, d.codes[string(s.plain(r))])
	}
	return plain, codes
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
// as sums too, integers times the first value. The count is greater by
// 2^(32+i) where value i is NULL, and what the value would be is nullState.
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
	for i := range g.plan.Fields {
		g.plan.Fields[i].NullWord, g.plan.Fields[i].NullBit = g.nullBit(i)
	}
	g.plan.States = []kernels.ParquetState{{Constant: 1}}
	for i := range values {
		place := uint32(len(keys) + i)
		state := kernels.ParquetState{Array: g.plan.Outputs[place].Array, Place: place, Word: kernels.ParquetCopy, Null: nullState}
		g.plan.States = append(g.plan.States, state)
		state.Word = kernels.ParquetSum
		if !values[i].vector.Type.IsFloat() {
			state.Word, state.Constant = kernels.ParquetProduct, uint64(state.Array)
		}
		g.plan.States = append(g.plan.States, state)
		g.plan.Nulls = append(g.plan.Nulls, kernels.ParquetNull{Add: 1 << (32 + i), Place: place})
	}
	g.parcel.plan = g.plan
	return g
}

// nullState is what a state word is of a row that is NULL.
const nullState = 0x123456789abcdef

// nullBit is where a key says that field i is NULL: what is not zero in the key
// of a row with nothing else in it.
func (g *rig) nullBit(i int) (word uint32, bit uint64) {
	vectors := make([]column.Vector, len(g.keys))
	for k := range vectors {
		vectors[k] = column.Vector{
			Type: g.keys[k].vector.Type, Len: 1, Int: []int64{0}, Float: []float64{0},
			Span: []column.Span{{}}, Data: make([]byte, 0, column.SpanPadding),
		}
	}
	vectors[i].Null = []bool{true}
	g.encoder.Encode(vectors, 1)
	for w, v := range g.encoder.Words {
		if v[0] != 0 {
			return uint32(w), v[0]
		}
	}
	return 0, 0
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
	for r := range to - from {
		if g.plan.HashWords == 1 {
			rows = append(rows, g.encoder.Hash[r])
		}
		for _, w := range g.encoder.Words {
			rows = append(rows, w[r])
		}
		count := len(rows)
		rows = append(rows, 1)
		for i := range g.values {
			v, at := &g.values[i].vector, from+r
			switch zero := 0.0; {
			case v.IsNull(at):
				rows = append(rows, nullState, nullState)
				rows[count] += 1 << (32 + i)
			case v.Type.IsFloat():
				rows = append(rows, math.Float64bits(v.Float[at]), math.Float64bits(zero+v.Float[at]))
			default:
				rows = append(rows, uint64(v.Int[at]), uint64(v.Int[at]*v.Int[at]))
			}
		}
	}
	return rows
}

// slice is rows of a flat vector.
func slice(v column.Vector, from, to int) column.Vector {
	v.Len = to - from
	if v.Null != nil {
		v.Null = v.Null[from:to]
	}
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
			form := g.draws.IntN(levelForms)
			if slices.Contains(s.isNull(at, at+rows), true) {
				form = 1 + g.draws.IntN(levelForms-1)
			}
			var head []byte
			head, page.Levels = drawLevels(g.draws, form, s.isNull(at, at+rows))
			values, codes := s.values(at, at+rows, dict)
			if g.draws.IntN(2) == 0 {
				page.Coded = 1
				values = drawCodes(g.draws, codes, len(dict.rows))
			}
			if form == v2Levels && len(values) == 0 {
				page.Snappy = 0
			}
			g.page(page, head, values, task)
			at += max(rows, 1)
		}
		g.room(kernels.ParquetPadding, kernels.ParquetPadding)
	}
	g.parcel.rows += to - from
}

// dict is the dictionary of a unit: the row where each entry was first seen,
// and the code of each PLAIN value.
type dict struct {
	rows  []int
	codes map[string]uint32
}

func dictionary(s *source, from, to int) dict {
	d := dict{codes: map[string]uint32{}}
	for r := from; r < to; r++ {
		v := string(s.plain(r))
		if _, ok := d.codes[v]; !ok && !s.vector.IsNull(r) {
			d.codes[v] = uint32(len(d.rows))
			d.rows = append(d.rows, r)
		}
	}
	if len(d.rows) == 0 {
		d.rows = []int{0} // of a unit without values
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
