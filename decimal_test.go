package gagg_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
)

// Sums, extremes and filters of products of decimals of 15 digits are what big integers give: for
// batches that fit 64 bits, or do not, or in part; for all rows, few groups and many; with NULLs,
// and where rows are scattered.
func TestDecimalProducts(t *testing.T) {
	for _, magnitude := range []int64{1e4, 1e9, 1e15 - 1} {
		r := rand.New(rand.NewPCG(uint64(magnitude), 1))
		typ := &arrow.Decimal128Type{Precision: 15, Scale: 2}
		schema := arrow.NewSchema([]arrow.Field{
			{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "a", Type: typ, Nullable: true}, {Name: "b", Type: typ},
		}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		type sums struct{ sum, least, above *big.Int }
		for _, groups := range []int64{1, 5, 3000} {
			want := map[int64]*sums{}
			for i := range 20_000 {
				k, x, y := r.Int64N(groups), r.Int64N(2*magnitude)-magnitude, r.Int64N(200)-100
				if i > 15_000 && i%2 == 0 { // batches of which only some rows are large
					y = r.Int64N(1e15) - 5e14
				}
				b.Field(0).(*array.Int64Builder).Append(k)
				b.Field(2).(*array.Decimal128Builder).Append(decimal128.FromI64(y))
				if r.IntN(7) == 0 {
					b.Field(1).(*array.Decimal128Builder).AppendNull()
					continue
				}
				b.Field(1).(*array.Decimal128Builder).Append(decimal128.FromI64(x))
				g := want[k]
				if g == nil {
					g = &sums{new(big.Int), nil, new(big.Int)}
					want[k] = g
				}
				// a * (1 - b), in units of 1e-4
				p := new(big.Int).Mul(big.NewInt(x), big.NewInt(100-y))
				g.sum.Add(g.sum, p)
				if g.least == nil || p.Cmp(g.least) < 0 {
					g.least = p
				}
				if p.Cmp(big.NewInt(5e6)) > 0 {
					g.above.Add(g.above, p)
				}
			}
			var lines []string
			for k, g := range want {
				lines = append(lines, fmt.Sprintf("%d|%v|%v|%v", k, g.sum, g.least, g.above))
			}
			slices.Sort(lines)
			rec := b.NewRecord()
			for _, o := range []gagg.Options{{Threads: 1}, {Threads: 2, Partitions: 32, BatchRows: 777}} {
				reader, err := array.NewRecordReader(schema, []arrow.Record{rec})
				if err != nil {
					t.Fatal(err)
				}
				got := mustAnswer(t, gagg.Query{From: gagg.Records(reader), By: []string{"k"}, Where: "a is not null", Aggs: exprs(
					"(sum(a * (1 - b)) * 10000)::decimal(38,0)", "(min(a * (1 - b)) * 10000)::decimal(38,0)",
					"(sum(case when a * (1 - b) > 500 then a * (1 - b) else 0 end) * 10000)::decimal(38,0)")}, o)
				if slices.Sort(got); !slices.Equal(got, lines) {
					t.Errorf("values to %d, %d groups, %+v: %d lines, the first %s, want %s", magnitude, groups, o, len(got), got[0], lines[0])
				}
				reader.Release()
			}
			rec.Release()
		}
		b.Release()
	}
}
