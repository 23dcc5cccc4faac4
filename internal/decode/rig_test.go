package decode

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/key"
)

// rig is a plan over columns, a batch of them that is being made, and the
// rows that it has to come to.
type rig struct {
	plan    *Plan
	keys    []source // sources 0 ...
	values  []source // the sources behind them
	layout  *key.Layout
	encoder *key.Encoder
	draws   *rand.Rand
	memory  []byte
	batch   Batch
}

// newRig makes the plan of a query: the states are a count, and each value, floats
// as sums too, integers times the first value. The count is greater by
// 2^(32+i) where value i is NULL, and what the value would be is nullState.
func newRig(tb testing.TB, seed uint64, keys, values []source) *rig {
	tb.Helper()
	g := &rig{plan: &Plan{HashWords: 1}, keys: keys, values: values, draws: rand.New(rand.NewPCG(seed, 7))}
	var columns []key.Column
	for i := range keys {
		columns = append(columns, key.Column{Type: keys[i].vector.Type, Inline: keys[i].inline})
	}
	g.layout = key.NewLayout(columns)
	g.encoder = key.NewEncoder(g.layout, key.NewInterner(nil))
	g.plan.KeyWords = g.layout.Words
	var words []int
	for i, f := range g.layout.Fields() {
		o := Output{ParquetOutput: keys[i].output, Source: i, Field: i}
		o.Words, o.Shift, o.Bits, o.Form = uint8(f.Words), uint8(f.Shift), uint8(f.Bits), kernels.ParquetBits
		setForm(&o, f)
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
		state.Constant, state.Word = 0, orderWords[g.plan.Outputs[place].Physical]
		g.plan.States = append(g.plan.States, state)
		g.plan.Nulls = append(g.plan.Nulls, kernels.ParquetNull{Add: 1 << (32 + i), Place: place})
	}
	g.batch.plan = g.plan
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
			Span: []column.Span{{}}, Data: make([]byte, 0, column.SpanPadding), Wide: make([]decimal256.Num, 1),
		}
		if g.keys[k].vector.Type.Kind == column.UUID { // no other bytes are zeros in a key
			vectors[k].Span[0].Len, vectors[k].Data = 16, make([]byte, 16, 16+column.SpanPadding)
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

// orderWords is how the rig has the third word of a value made, by its physical type.
var orderWords = map[uint8]uint32{
	kernels.ParquetInt32: kernels.ParquetNot, kernels.ParquetInt64: kernels.ParquetNot,
	kernels.ParquetBool: kernels.ParquetNot, kernels.ParquetDecimal: kernels.ParquetNot, kernels.ParquetInt96: kernels.ParquetNot,
	kernels.ParquetFloat: kernels.ParquetOrder, kernels.ParquetDouble: kernels.ParquetOrderNot,
}

// orderOf is that word of value i.
func (g *rig) orderOf(i int, v float64) uint64 {
	order := orderOf(math.Float64bits(v))
	if g.plan.Outputs[len(g.keys)+i].Physical == kernels.ParquetDouble {
		return ^order
	}
	return order
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
				rows = append(rows, nullState, nullState, nullState)
				rows[count] += 1 << (32 + i)
			case v.Type.IsFloat():
				rows = append(rows, math.Float64bits(v.Float[at]), math.Float64bits(zero+v.Float[at]), g.orderOf(i, v.Float[at]))
			default:
				rows = append(rows, uint64(v.Int[at]), uint64(v.Int[at]*v.Int[at]), ^uint64(v.Int[at]))
			}
		}
	}
	return rows
}
