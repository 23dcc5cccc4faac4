package plan

import (
	"encoding/binary"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// What a device makes of the encoded columns of a query are the rows that workers make of it, from
// the file to the rows: several row groups in a batch, both kinds of pages, with and without
// compression and NULLs.
func TestEncodedRowsOnDevice(t *testing.T) {
	thread := gputest.Open(t)
	maker := rowMaker{thread: thread, stream: gputest.Keep(t, thread.NewStream)}
	maker.kernels = decode.NewKernels(thread.Context())
	for f, x := range []struct {
		name, nulls string
		options     []parquet.WriterOption
	}{
		{"plain v1", "some", []parquet.WriterOption{parquet.DataPageVersion(1)}},
		{"snappy v2", "none", []parquet.WriterOption{parquet.DataPageVersion(2), parquet.Compression(&parquet.Snappy)}},
		{"snappy v1", "most", []parquet.WriterOption{parquet.DataPageVersion(1), parquet.Compression(&parquet.Snappy)}},
		{"plain v2", "all", []parquet.WriterOption{parquet.DataPageVersion(2)}},
	} {
		file := kindsOfColumns(t, 350, x.nulls, append(x.options, parquet.MaxRowsPerRowGroup(150), parquet.PageBufferSize(1024))...)
		for i, by := range encodedKeys {
			if (i+f)%2 != 0 {
				continue // each key is tried in two of the files
			}
			list := encodedAggs[i%len(encodedAggs)]
			p, plan, why := encodedQuery(t, file, grouped(by, list))
			if plan == nil {
				t.Fatalf("%s by %s: %s", list, by, why)
			}
			if taken := maker.compare(t, p, plan, x.name+": "+list+" by "+by); taken != p.scan.Units() && x.nulls != "all" {
				t.Errorf("%s: %s by %s: %d row groups were taken", x.name, list, by, taken)
			}
		}
	}
}

// rowMaker has a device make rows.
type rowMaker struct {
	thread  *cuda.Thread
	stream  *cuda.Stream
	kernels *decode.Kernels
}

// compare packs the units of a query into batches, two of them in each, and compares their rows.
// taken is how many units there were; those that are for no batch are left out.
func (m *rowMaker) compare(t *testing.T, p *planner, plan *decode.Plan, name string) (taken int) {
	t.Helper()
	reader := p.scan.Reader().(*parquetio.Reader)
	defer reader.Close()
	e := key.NewEncoder(p.Layout, key.NewInterner(nil))
	builder := decode.NewBuilder(plan, decode.Limits{Bytes: 1 << 20, Rows: 300, Work: 1 << 20}, reader, e)
	for unit := 0; unit < p.scan.Units(); {
		memory := make([]byte, 1<<20)
		builder.Begin(memory)
		for ; unit < p.scan.Units(); unit++ {
			_, added, err := builder.Add(unit)
			if err != nil {
				t.Fatalf("%s: unit %d: %v", name, unit, err)
			}
			if added == encoded.AddedFull {
				break
			}
		}
		batch := builder.End()
		if len(batch.Units()) == 0 {
			continue
		}
		taken += len(batch.Units())
		var want []uint64
		for _, u := range batch.Units() {
			batches(t, p, u, func(b *column.Batch) { want = append(want, workerRows(p, plan, e, b)...) })
		}
		sameRows(t, plan, m.rows(t, plan, batch, memory), want, name)
	}
	return taken
}

// rows is what the device makes of a batch.
func (m *rowMaker) rows(t *testing.T, plan *decode.Plan, batch *decode.Batch, memory []byte) []uint64 {
	t.Helper()
	var spans [4]cuda.Span // batch, rows, work, stop
	for i, size := range []int{batch.Size(), plan.RowBytes(batch.Rows()), batch.WorkBytes(), 8} {
		a, err := m.thread.Alloc(cuda.Size(size))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		spans[i] = a.Span()
	}
	in, rows, work, stop := spans[0], spans[1], spans[2], spans[3]
	word, raw := make([]byte, 8), make([]byte, plan.RowBytes(batch.Rows()))
	for _, step := range []func() error{
		func() error { return m.thread.Write(in, memory[:batch.Size()]) },
		func() error { return m.thread.Write(stop, word) },
		func() error { return m.kernels.Make(m.stream, batch, in, rows, work, stop) },
		m.stream.Synchronize,
		func() error { return m.thread.Read(word, stop) },
		func() error { return m.thread.Read(raw, rows) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if why := decode.Reason(binary.LittleEndian.Uint64(word)); why != "" {
		t.Fatalf("stopped by %s", why)
	}
	words := make([]uint64, len(raw)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return words
}
