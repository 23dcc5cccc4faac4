package gagg_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gagg-dev/gagg"
)

// writeArrow writes records as a file, or as a stream.
func writeArrow(t *testing.T, path string, stream bool, recs []arrow.Record, o ...ipc.Option) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	o = append(o, ipc.WithSchema(recs[0].Schema()))
	var w interface {
		Write(arrow.Record) error
		Close() error
	} = ipc.NewWriter(f, o...)
	if !stream {
		if w, err = ipc.NewFileWriter(f, o...); err != nil {
			t.Fatal(err)
		}
	}
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// records are the result of a query, in records of at most so many rows.
func records(t *testing.T, q gagg.Query, most int64) (recs []arrow.Record) {
	t.Helper()
	rows, err := gagg.Run(t.Context(), q, gagg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rows.Release)
	for rows.Next() {
		rec := rows.Record()
		for at := int64(0); at < rec.NumRows(); at += most {
			recs = append(recs, rec.NewSlice(at, min(at+most, rec.NumRows())))
		}
	}
	return recs
}

// A result that is written as Arrow IPC, in every form, and read by path is the same table as the
// records themselves, whatever the threads, and the file stays within the memory limit.
func TestArrowFiles(t *testing.T) {
	recs := records(t, gagg.Query{
		From: gagg.Files("testdata/orders.parquet"), By: []string{"customer", "product", "region", "ordered_at"},
		Aggs: exprs("sum(price) as price, max(quantity) as quantity, count(*) as n"),
	}, 1000)
	dir := t.TempDir()
	ask := func(from gagg.Source, o gagg.Options) []string {
		t.Helper()
		lines, err := answer(t, gagg.Query{
			From: from, By: []string{"region", "product"}, Where: "quantity > 2",
			Aggs: exprs("sum(price), min(ordered_at), count(distinct customer), first(n), last(customer)"), OrderBy: []string{"1", "2"},
		}, o)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	again, err := array.NewRecordReader(recs[0].Schema(), recs)
	if err != nil {
		t.Fatal(err)
	}
	want := ask(gagg.Records(again), gagg.Options{Threads: 1})
	for name, o := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		for _, stream := range []bool{false, true} {
			path := filepath.Join(dir, name)
			writeArrow(t, path, stream, recs, o...)
			for _, threads := range []int{1, 4} {
				got := ask(gagg.Files(path), gagg.Options{Threads: threads, MemoryLimit: 64 << 20})
				if !slices.Equal(got, want) {
					t.Errorf("%s, stream %t, %d threads: %q, want %q", name, stream, threads, got, want)
				}
			}
		}
	}
}

// An Arrow IPC file on a server is the same table. It takes one request for its end, one for its
// beginning, one for the index of records that lie near each other, and one for each record.
func TestHTTPArrow(t *testing.T) {
	recs := records(t, gagg.Query{From: gagg.Files("testdata/orders.parquet"), By: []string{"customer", "region", "ordered_at"}, Aggs: exprs("count(*) as n")}, 250)
	path := filepath.Join(t.TempDir(), "x.arrow")
	writeArrow(t, path, false, recs)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := newFaulty(t, file)
	q := gagg.Query{From: gagg.Files(path), By: []string{"region"}, Aggs: exprs("sum(n), min(customer)"), OrderBy: []string{"1"}}
	want, err := answer(t, q, gagg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q.From = gagg.Files(s.URL + "/x.arrow")
	got, err := answer(t, q, gagg.Options{MemoryLimit: 64 << 20})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q; %v", got, want, err)
	}
	if most := 3 + len(recs); len(recs) < 40 || len(file) > 8<<20 || len(s.ranges) > most {
		t.Errorf("%d requests for %d records, want %d at most: %q", len(s.ranges), len(recs), most, s.ranges)
	}
}

// F31: an Arrow IPC file that is replaced while it is read is an input error that names it.
func TestArrowChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "changing.arrow")
	recs := records(t, gagg.Query{From: gagg.Files("testdata/orders.parquet"), By: []string{"customer", "ordered_at"}}, 100)
	writeArrow(t, path, false, recs)
	c := &changer{change: func() { writeArrow(t, path, false, recs[1:]) }}
	c.after.Store(3)
	lines, err := answer(t, gagg.Query{From: gagg.Files(path), By: []string{"customer"}}, gagg.Options{Threads: 1, Observer: c})
	if !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), path+": changed") || len(lines) > 0 {
		t.Errorf("%d rows, %v", len(lines), err)
	}
}
