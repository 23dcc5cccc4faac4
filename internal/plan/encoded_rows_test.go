package plan

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// What a device makes of the encoded columns of a query are the rows that workers make of it, from
// the file to the rows: several row groups in a batch, both kinds of pages, with and without
// compression and NULLs.
func TestEncodedRowsOnDevice(t *testing.T) {
	thread := gputest.Open(t)
	maker := rowMaker{thread: thread, stream: gputest.Keep(t, thread.NewStream)}
	maker.kernels = decode.NewKernels(thread.Context(), nil)
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
			if taken := maker.compare(t, p, plan, x.name+": "+list+" by "+by); taken != p.scan.Units() {
				t.Errorf("%s: %s by %s: %d row groups were taken", x.name, list, by, taken)
			}
		}
	}
}

// Filters and computed keys and arguments: what a device makes of them are the rows that workers
// make of the same expressions, bit by bit.
func TestComputedRowsOnDevice(t *testing.T) {
	thread := gputest.Open(t)
	maker := rowMaker{thread: thread, stream: gputest.Keep(t, thread.NewStream)}
	maker.kernels = decode.NewKernels(thread.Context(), nil)
	for nulls, options := range map[string][]parquet.WriterOption{
		"some": {parquet.DataPageVersion(1)}, "none": {parquet.DataPageVersion(2), parquet.Compression(&parquet.Snappy)}, "all": nil,
	} {
		file := kindsOfColumns(t, 350, nulls, append(options, parquet.MaxRowsPerRowGroup(150), parquet.PageBufferSize(1024))...)
		for _, x := range []struct{ by, aggs, where string }{
			{"i32", "sum(i64), count(*)", "i8 > 0"},
			{"i8", "count(*)", "i8 between -3 and 12 and f64 >= 0.5 or i32 is null"},
			{"i8", "count(*)", "not (f64 > 1.5) and u64 > 18446744073709551600"},
			{"i8", "count(*)", "f64 = f32 or f32 <> 1.5 and f64 <= f32"},
			{"i8", "count(*)", "f32 = 'NaN' or f32 > 1e30"},
			{"name", "sum(i16)", "name like 'n%1' or name in ('n4', 'n5') or name is null"},
			{"i8", "sum(i8)", "i16 in (1, 3, -2) and i32 not in (5, null, 7)"},
			{"i8", "sum(i8)", "i16 in (1, null)"},
			{"i8", "sum(i8)", "false"},
			{"i8", "sum(i8)", "dec > 3.55 and date < '2000-01-01' and u32 <> 4294967290"},
			{"i32 + 1, i8 * 2 - i16", "sum(i64 // 7), min(i64 % 1000)", ""},
			{"-i8, i64 // i16", "sum(-f64), max(f32 * 2)", "i16 is distinct from 1"},
			{"f32 * f32, f64 - 1", "sum(f64 / i16), mean(i8 / i16)", ""},
			{"substr(name, 2), i16", "sum(length(name))", "length(name) > 1"},
			// of others the product overflows
			{"i8", "sum(i64 * 64)", "i64 < 72057594037927936 and i64 > -1"},
			{"year(date), month(date), day(date)", "sum(quarter(date)), max(dayofweek(date))", ""},
			{"dayofyear(date), week(date), isoyear(date)", "sum(isodow(date)), max(date_part('decade', date))", ""},
			{"date_trunc('year', date), date_trunc('quarter', date + i8)", "max(date_trunc('month', date + i16 * 11)), min(date_trunc('week', date))", ""},
			{"date_trunc('day', cast(date as timestamp)), date_trunc('month', cast(date as timestamp))", "max(date_trunc('year', cast(date + i16 * 17 as timestamp)))", ""},
			{"week(date + i16 * 7), isodow(cast(date as timestamp))", "max(dayofyear(date + i16 * 31)), min(date_trunc('quarter', cast(date + i16 * 29 as timestamp)))", ""},
			{"date_diff('month', date, date + i16 * 40), date_diff('hour', cast(date as timestamp), cast(date + i8 as timestamp))", "max(date_diff('quarter', date + i8, date)), min(date_diff('week', date, date + i16))", ""},
			{"time_bucket('10 days', date + i8), time_bucket('3 hours', cast(date as timestamp), timestamp '2001-01-01 00:17:00')", "max(epoch_ms(cast(date as timestamp))), min(epoch(date)), max(epoch(cast(date as timestamp)))", ""},
			{"last_day(date + i16 * 31), cast(date as timestamp) + interval '3 hours'", "max(date - interval '40 days'), min(last_day(cast(date as timestamp)))", ""},
			{"case when i8 > 3 then i16 when i8 < -20 then i32 end", "sum(case when i16 = 0 then 0 else 100 // i16 end)", ""},
			{"coalesce(i32, i16, 0)", "sum(coalesce(f64, 1)), count(i32 + i16)", ""},
			{"i8", "sum(i64) filter (where i8 > 0), count(*) filter (where f64 < 1), count(i32) filter (where i32 = 1)", "i16 < 3"},
			{"i8 & 7, i16 | 8, xor(i32, u32)", "bit_xor(i8 * 4)", ""},
			{"cast(i8 as bigint), cast(i16 as tinyint)", "sum(cast(i8 as double)), sum(cast(i16 as float) * 0.1)", ""},
			{"cast(date as timestamp)", "sum(cast(dec as double)), max(dec + 1), min(-dec)", "dec * 2 > dec"},
			{"date + i8, date - i16", "max(date - date '1990-01-01')", ""},
			{"i8 > 0, name = 'n1'", "count(*), sum(1)", ""},
			{"upper(text)", "count(*)", "text like '%1' or i8 > 0"},
			{"i8", "sum(dec * (1 - dec) * dec), mean(dec * dec * dec), sum(-(dec * dec * dec))", "dec * dec * dec > 1.5"},
			{"i8", "sum(cast(dec * dec * dec as double)), sum(case when i8 > 0 then dec * dec * dec end)", "dec * dec * dec <> dec * dec * i8"},
			{"dayname(cast(date as timestamp)), monthname(date + i16)", "count(*)", ""},
			{"strftime(date + i8 * 31, '%Y-%m'), strftime(cast(date as timestamp), '%Y')", "count(*)", ""},
			{"strftime(cast(date + i16 as timestamp) + interval '5 hours', '%d.%m.%Y %H:00')", "count(*)", ""},
			{"round(i16 / 2.0e0), floor(i16 / 2.0e0), ceil(i16 / 2.0e0)", "sum(abs(f64)), max(trunc(i16 / 4.0e0)), min(round(f32 * 1.7))", ""},
			{"round(f64 / 7, 2), trunc(f64, 1), round(f64 * i16, -2)", "max(floor(f32)), sum(abs(f32)), min(round(f64 * 1e300, 9))", ""},
			{"cast(i16 / 2.0e0 as bigint), cast(i8 / 2.0e0 as smallint)", "sum(cast(i32 * 0.5e0 as bigint))", "abs(i16) < 100"},
			{"round(dec), floor(dec), ceil(dec)", "max(trunc(dec)), sum(round(dec, 1)), min(abs(dec))", ""},
			{"round(i32, -1), trunc(i16, -2), abs(i8)", "max(cast(dec as bigint)), min(cast(dec as int)), sum(round(dec, -2))", ""},
			{"date_trunc('hour', cast(date as timestamp)), minute(cast(date as timestamp))", "skewness(i8 + i16)", ""},
		} {
			q := grouped(x.by, x.aggs)
			q.Where = x.where
			name := nulls + ": " + x.aggs + " by " + x.by + " where " + x.where
			p, plan, why := encodedQuery(t, file, q)
			if plan == nil {
				t.Errorf("%s: %s", name, why)
				continue
			}
			if taken := maker.compare(t, p, plan, name); taken != p.scan.Units() && nulls != "all" {
				t.Errorf("%s: %d row groups were taken", name, taken)
			}
		}
	}
}

// What only entries of dictionaries can be computed for is the CPU's where pages of numbers are not
// coded, and so are long texts that have no refs.
func TestUncodedIsNoDevices(t *testing.T) {
	t.Parallel()
	file := kindsOfColumns(t, 350, "none", parquet.MaxRowsPerRowGroup(150))
	for _, x := range []struct{ by, aggs, where string }{
		{"i8", "sum(i8 << 2)", ""}, {"name || ' and more than 15 bytes'", "count(*)", ""},
	} {
		q := grouped(x.by, x.aggs)
		q.Where = x.where
		p, plan, why := encodedQuery(t, file, q)
		if plan == nil {
			t.Fatalf("%+v: %s", x, why)
		}
		builder := builderFor(t, p, plan, key.NewEncoder(p.Layout, key.NewInterner(nil)))
		builder.Begin(make([]byte, 1<<20))
		if _, added, err := builder.Add(0); added != encoded.AddedNone || err != nil {
			t.Errorf("%+v: %v, %v", x, added, err)
		}
	}
}

// A value that cannot be computed stops a batch if its row passes the filter: the CPU tells the
// error.
func TestFailedValueStopsDevice(t *testing.T) {
	thread := gputest.Open(t)
	m := rowMaker{thread: thread, stream: gputest.Keep(t, thread.NewStream), kernels: decode.NewKernels(thread.Context(), nil)}
	file := kindsOfColumns(t, 300, "none")
	for _, x := range []struct{ by, aggs, where string }{
		{"i8", "sum(i64 * 64)", ""},
		{"i64 + 9223372036854775807", "count(*)", ""},
		{"i8", "count(*)", "i64 * 64 > 3"},
		{"cast(u32 as integer)", "count(*)", ""},
		{"i8", "sum(-9223372036854775807 - i16)", ""},
		{"date + i32 * 2000000000", "count(*)", ""},
	} {
		q := grouped(x.by, x.aggs)
		q.Where = x.where
		p, plan, why := encodedQuery(t, file, q)
		if plan == nil {
			t.Fatalf("%+v: %s", x, why)
		}
		builder := builderFor(t, p, plan, key.NewEncoder(p.Layout, key.NewInterner(nil)))
		memory := make([]byte, 1<<20)
		builder.Begin(memory)
		if _, added, err := builder.Add(0); added != encoded.AddedUnit || err != nil {
			t.Fatalf("%+v: %v, %v", x, added, err)
		}
		if _, why := m.rows(t, plan, builder.End(), memory); why != decode.Reason(kernels.ParquetStopRange) {
			t.Errorf("%+v: %q", x, why)
		}
	}
}

// rowMaker has a device make rows.
type rowMaker struct {
	thread  *cuda.Thread
	stream  *cuda.Stream
	kernels *decode.Kernels
}

// builderFor packs units of a query into batches, of up to two units of kindsOfColumns.
func builderFor(t *testing.T, p *planner, plan *decode.Plan, keys *key.Encoder) *decode.Builder {
	t.Helper()
	reader := p.scan.Reader().(*parquetio.Reader)
	t.Cleanup(reader.Close)
	return decode.NewBuilder(plan, decode.Limits{Bytes: 1 << 20, Rows: 300, Work: 1 << 20}, reader, keys)
}

// compare packs the units of a query into batches, two of them in each, and compares their rows.
// taken is how many units there were; those that are for no batch are left out.
func (m *rowMaker) compare(t *testing.T, p *planner, plan *decode.Plan, name string) (taken int) {
	t.Helper()
	e := key.NewEncoder(p.Layout, key.NewInterner(nil))
	builder := builderFor(t, p, plan, e)
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
			batches(t, p, u, func(b *column.Batch) { want = append(want, workerRows(t, p, plan, e, b)...) })
		}
		made, why := m.rows(t, plan, batch, memory)
		if why != "" {
			t.Fatalf("%s: stopped by %s", name, why)
		}
		if plan.Filters { // rows that pass the filter come in any order
			made, want = sortedRows(plan, made), sortedRows(plan, want)
		}
		sameRows(t, plan, made, want, name)
	}
	return taken
}

// sortedRows is rows in order.
func sortedRows(plan *decode.Plan, rows []uint64) []uint64 {
	list := slices.SortedFunc(slices.Chunk(rows, plan.RowWords()), slices.Compare)
	return slices.Concat(list...)
}

// rows is what the device makes of a batch, or why it makes none.
func (m *rowMaker) rows(t *testing.T, plan *decode.Plan, batch *decode.Batch, memory []byte) (words []uint64, why string) {
	t.Helper()
	var spans [5]cuda.Span // batch, rows, work, stop, made
	for i, size := range []int{batch.Size(), plan.RowBytes(batch.Rows()), batch.WorkBytes(), 8, 8} {
		a, err := m.thread.Alloc(cuda.Size(size))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		spans[i] = a.Span()
	}
	in, rows, work, stop := spans[0], spans[1], spans[2], spans[3]
	word, count, raw := make([]byte, 8), make([]byte, 8), make([]byte, plan.RowBytes(batch.Rows()))
	for _, step := range []func() error{
		func() error { return m.thread.Write(in, memory[:batch.Size()]) },
		func() error { return m.thread.Write(stop, word) },
		func() error { return m.thread.Write(spans[4], count) },
		func() error {
			return m.kernels.Make(m.stream, batch, decode.NoBound, in, work, decode.Out{Rows: rows, Made: spans[4], Stop: stop})
		},
		m.stream.Synchronize,
		func() error { return m.thread.Read(word, stop) },
		func() error { return m.thread.Read(count, spans[4]) },
		func() error { return m.thread.Read(raw, rows) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if why := decode.Reason(binary.LittleEndian.Uint64(word)); why != "" {
		return nil, why
	}
	if made := int(binary.LittleEndian.Uint64(count)); plan.Filters {
		raw = raw[:plan.RowBytes(made)]
	}
	words = make([]uint64, len(raw)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return words, ""
}
