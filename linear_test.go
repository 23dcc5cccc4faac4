package gagg_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
)

// Sums and means of arguments that are linear in a narrow integer equal those of the argument
// computed for each row, which a cast to int64 asks for: with NULLs, groups of nothing else, and
// values at the ends of the type.
func TestLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "u", Type: arrow.PrimitiveTypes.Uint32, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for range 5000 {
		k := r.Int64N(20)
		b.Field(0).(*array.Int64Builder).Append(k)
		if k == 7 || r.IntN(4) == 0 {
			b.Field(1).AppendNull()
			b.Field(2).AppendNull()
			continue
		}
		b.Field(1).(*array.Int32Builder).Append(int32(r.Uint32()))
		b.Field(2).(*array.Uint32Builder).Append(^uint32(0) >> r.IntN(32))
	}
	rec := b.NewRecord()
	defer rec.Release()
	ask := func(aggs string, by ...string) []string {
		reader, err := array.NewRecordReader(schema, []arrow.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Release()
		return mustAnswer(t, gagg.Query{From: gagg.Records(reader), By: by, Aggs: []gagg.Agg{gagg.Expr(aggs)}}, gagg.Options{Threads: 2})
	}
	for _, arg := range []string{
		"%s + 1", "7 - %s", "%s - 2147483647", "2147483647 * %s", "%s * -3", "(%s + 5) * 1000 - 3", "0 * %s", "-1 + %s * 2147483647", "(%s + 1) * 2147483647",
	} {
		for _, x := range []string{"x", "u"} {
			plain, cast := fmt.Sprintf(arg, x), fmt.Sprintf(arg, "cast("+x+" as int64)")
			for _, by := range [][]string{nil, {"k"}} {
				got := ask(fmt.Sprintf("sum(%s), avg(%s), sum(%s), sum(distinct %s), count(*)", plain, plain, x, plain), by...)
				want := ask(fmt.Sprintf("sum(%s), avg(%s), sum(%s), sum(distinct %s), count(*)", cast, cast, x, cast), by...)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %v, want %v", plain, got, want)
				}
			}
		}
	}
}
