package parquetio

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go"
)

// BenchmarkDecode reads a column of a million rows, not compressed, in steps
// of 4096 rows on one core.
func BenchmarkDecode(b *testing.B) {
	const rows = 1 << 20
	text := make([]byte, 16)
	for _, c := range []struct {
		name  string
		node  parquet.Node
		value func(r *rand.Rand) parquet.Value
	}{
		{"enc=dict/type=int32", parquet.Encoded(parquet.Leaf(parquet.Int32Type), &parquet.RLEDictionary), func(r *rand.Rand) parquet.Value { return parquet.Int32Value(int32(r.IntN(1000))) }},
		{"enc=plain/type=int32", parquet.Leaf(parquet.Int32Type), func(r *rand.Rand) parquet.Value { return parquet.Int32Value(int32(r.Uint32())) }},
		{"enc=plain/type=double", parquet.Leaf(parquet.DoubleType), func(r *rand.Rand) parquet.Value { return parquet.DoubleValue(r.Float64()) }},
		{"enc=plain/type=string", parquet.Encoded(parquet.String(), &parquet.Plain), func(r *rand.Rand) parquet.Value { return parquet.ByteArrayValue(text[:8+r.IntN(8)]) }},
		{"enc=delta/type=int64", parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked), func(r *rand.Rand) parquet.Value { return parquet.Int64Value(r.Int64N(1 << 20)) }},
	} {
		for _, nulls := range []float64{0, 0.1} {
			node := parquet.Optional(c.node)
			b.Run(fmt.Sprintf("%s/nulls=%v", c.name, nulls), func(b *testing.B) {
				var out bytes.Buffer
				w := parquet.NewWriter(&out, parquet.NewSchema("t", parquet.Group{"x": node}), parquet.PageBufferSize(1<<20))
				r := rand.New(rand.NewPCG(1, 1))
				batch := make([]parquet.Row, 4096)
				for done := 0; done < rows; done += len(batch) {
					for i := range batch {
						batch[i] = parquet.Row{c.value(r).Level(0, 1, 0)}
						if r.Float64() < nulls {
							batch[i] = parquet.Row{parquet.NullValue().Level(0, 0, 0)}
						}
					}
					if _, err := w.WriteRows(batch); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				f, err := openFile("b", bytes.NewReader(out.Bytes()), int64(out.Len()), Limits{})
				if err != nil {
					b.Fatal(err)
				}
				benchColumn(b, f, 0)
			})
		}
	}
}

// BenchmarkColumn reads each column of the file that GAGG_BENCH_FILE names,
// whole, in steps of 4096 rows, on one core.
func BenchmarkColumn(b *testing.B) {
	name := os.Getenv("GAGG_BENCH_FILE")
	if name == "" {
		b.Skip("GAGG_BENCH_FILE does not name a file")
	}
	r, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		b.Fatal(err)
	}
	f, err := openFile(name, r, info.Size(), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	for i, l := range f.leaves {
		b.Run(fmt.Sprintf("column=%s/type=%v", l.name, l.typ), func(b *testing.B) { benchColumn(b, f, i) })
	}
}

func benchColumn(b *testing.B, f *file, leaf int) {
	b.ReportAllocs()
	work := newWorkspace(nil, 4096)
	defer work.close()
	c, err := newColumnReader(f, leaf, f.leaves[leaf].typ, work)
	if err != nil {
		b.Fatal(err)
	}
	defer c.close()
	for b.Loop() {
		for g := range f.groups {
			benchChunk(b, c, g)
		}
	}
	b.ReportMetric(float64(f.rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func benchChunk(b *testing.B, c *columnReader, group int) {
	if err := c.open(group); err != nil {
		b.Fatal(err)
	}
	var v column.Vector
	for {
		n, err := c.available()
		if err != nil {
			b.Fatal(err)
		}
		if n == 0 {
			return
		}
		for n > 0 {
			k := min(n, 4096)
			if err := c.read(&v, k); err != nil {
				b.Fatal(err)
			}
			n -= k
		}
	}
}

// BenchmarkEncoded hands on the chunks of each column of the file that
// GAGG_BENCH_FILE names, on one core, unit after unit into the same memory.
func BenchmarkEncoded(b *testing.B) {
	name := os.Getenv("GAGG_BENCH_FILE")
	if name == "" {
		b.Skip("GAGG_BENCH_FILE does not name a file")
	}
	d := mustOpen(b, Options{}, name)
	for i, f := range d.Schema().Fields {
		b.Run(fmt.Sprintf("column=%s/type=%v", f.Name, f.Type), func(b *testing.B) { benchEncoded(b, scanOf(b, d, i)) })
	}
}

func benchEncoded(b *testing.B, s *Scan) {
	b.ReportAllocs()
	r := s.NewReader()
	defer r.Close()
	var into []byte
	size, pages, entries := int64(0), 0, 0
	for u := range s.Units() {
		e, ok := s.EncodedUnit(u)
		if !ok {
			b.Skip("not read encoded")
		}
		into = slices.Grow(into, int(e.Bytes))[:0]
		size += s.Units()[u].Bytes
	}
	for b.Loop() {
		pages, entries = 0, 0
		for u := range s.Units() {
			chunks, ok, err := r.ReadEncoded(u, into[:cap(into)])
			if !ok || err != nil {
				b.Fatal(ok, err)
			}
			pages += len(chunks[0].Pages)
			if chunks[0].Dict != nil {
				entries += chunks[0].Dict.Len()
			}
		}
	}
	b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
	b.ReportMetric(float64(pages)/float64(len(s.Units())), "pages/unit")
	b.ReportMetric(float64(entries)/float64(len(s.Units())), "entries/unit")
}
