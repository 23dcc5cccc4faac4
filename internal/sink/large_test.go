package sink

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/pierrec/lz4/v4"

	"github.com/gagg-dev/gagg/internal/column"
)

// longTexts are texts of some pieces. Characters that must be escaped or quoted lie on the edges
// of pieces too, characters of several bytes across them, and there are bytes that are no UTF-8.
func longTexts() (texts []string) {
	const n = 3*pieceBytes + 100
	fill := func(s string) string { return strings.Repeat(s, n/len(s)+1) }
	for shift := range 4 {
		texts = append(texts, strings.Repeat("x", shift)+fill("ü€😀"))
	}
	return append(texts, fill("plain"), fill("_a_"), "_"+fill("b"), fill("c")+"_", fill(`q"'\|<`), fill("a, b\n"), " "+fill("d"), fill("e")+" ", fill("\x80"), fill("a\xe2\x82"), fill("\x1b[31m\u202e"))
}

// largeColumns are rows of which some are large, each for another reason, with small ones and
// NULLs between them.
func largeColumns() []testColumn {
	texts := longTexts()
	list, counts, bins := column.ListOf(stringType), column.MapOf(stringType), column.MapOf(column.Type{Kind: column.Binary})
	ints, uuids := column.ListOf(int64Type), column.ListOf(column.Type{Kind: column.UUID})
	numbers := column.MapOf(column.Type{Kind: column.Float64})
	cols := []testColumn{
		{name: "n", typ: int64Type},
		{name: "text", typ: stringType},
		{name: "binary", typ: column.Type{Kind: column.Binary}},
		{name: "list", typ: list},
		{name: "map", typ: counts},
		{name: "binaries", typ: bins},
		{name: "ints", typ: ints},
		{name: "uuids", typ: uuids},
		{name: "numbers", typ: numbers},
	}
	add := func(row ...column.Value) {
		for c := range cols {
			cols[c].values = append(cols[c].values, row[c])
		}
	}
	var short, is, us, fs []column.Value
	for i := range 3*windowElems + 7 {
		short = append(short, str(fmt.Sprintf("%s%d", []string{"", "a,b ", " ", "null", `"'\`}[i%5], i)))
		is, us, fs = append(is, integer(int64(i))), append(us, str(fmt.Sprintf("%016d", i))), append(fs, double(float64(i)/3))
	}
	empty := func(t column.Type) column.Value { return nestedValue(t) }
	for i, s := range texts {
		if i%3 == 0 {
			add(integer(int64(i)), str("small"), null(), nestedValue(list, str("a"), str("")), null(), empty(bins), empty(ints), null(), empty(numbers))
		}
		elems := []column.Value{str("x"), str(s), str(""), str(texts[(i+1)%len(texts)])}
		switch i % 4 {
		case 0:
			add(null(), str(s), str(s), empty(list), null(), null(), empty(ints), null(), null())
		case 1:
			add(integer(1), null(), str(""), nestedValue(list, elems...), empty(counts), nestedValue(bins, elems...), null(), empty(uuids), empty(numbers))
		case 2:
			add(integer(2), str("x"), str(s), nestedValue(list, short...), nestedValue(counts, elems...), null(), nestedValue(ints, is...), nestedValue(uuids, us...), null())
		case 3:
			add(integer(3), str(s), null(), null(), nestedValue(counts, short...), empty(bins), empty(ints), null(), nestedValue(numbers, fs...))
		}
	}
	return cols
}

// A row written in pieces has the text that it has when it is written as a whole.
func TestLargeText(t *testing.T) {
	t.Parallel()
	cols := largeColumns()
	rec := recordOf(t, memory.DefaultAllocator, cols)
	defer rec.Release()
	o := Options{Null: strings.Repeat("plain", 3*pieceBytes/5), Memory: 4 << 20}
	for _, format := range []Format{CSV, TSV, JSON, NDJSON, Markdown, Table} {
		var parts, whole bytes.Buffer
		w, err := NewWriter(format, &parts, rec.Schema(), o)
		if err == nil {
			err = w.Write(rec)
		}
		if err == nil {
			err = w.Close()
		}
		v, wholeErr := newWriter(format, &whole, rec.Schema(), o)
		if wholeErr == nil {
			wholeErr = v.Write(rec)
		}
		if err != nil || wholeErr != nil || v.Close() != nil {
			t.Fatal(format, err, wholeErr)
		}
		if a, b := parts.Bytes(), whole.Bytes(); !bytes.Equal(a, b) {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			t.Errorf("%s: %d bytes, want %d; at %d %.40q, want %.40q", format, len(a), len(b), at, a[at:], b[at:])
		}
	}
}

// Parquet's large rows are row groups of their own, and read back; small ones share one.
func TestLargeParquet(t *testing.T) {
	t.Parallel()
	cols := largeColumns()
	for _, codec := range []string{"snappy", "zstd", "gzip", "brotli", "none"} {
		o := Options{Compression: codec, Memory: 1 << 20}
		flat := render(t, Parquet, cols[:3], 10, o)
		f := expectColumns(t, flat, cols[:3])
		if n := len(f.RowGroups()); n < 10 || n >= len(cols[0].values) {
			t.Errorf("%s: %d row groups", codec, n)
		}
		expectNested(t, render(t, Parquet, cols[3:], 10, o), cols[3:])
	}
}

// What is packed in pieces is what the codec unpacks.
func TestPack(t *testing.T) {
	t.Parallel()
	for name, codec := range codecs {
		for _, size := range []int{0, 1, 9, 10, 11, 265, 266, 300, snappyBlock - 5, snappyBlock - 4, snappyBlock, 1 << 20, 255*pieceBytes + 3} {
			head, value := []byte("head"), bytes.Repeat([]byte("some text "), size/10+1)[:size]
			var out, again bytes.Buffer
			n, err := pack(codec, &out, head, value)
			if _, e := pack(codec, &again, head, value); err != nil || e != nil || n != int64(out.Len()) || !bytes.Equal(out.Bytes(), again.Bytes()) {
				t.Fatalf("%s, %d bytes: %v, %v, %d bytes for %d and %d", name, size, err, e, n, out.Len(), again.Len())
			}
			got := make([]byte, 4+size)
			if name == "lz4" { // parquet-go has no bound for what it unpacks
				_, err = lz4.UncompressBlock(out.Bytes(), got)
			} else {
				got, err = codec.Decode(got[:0], out.Bytes())
			}
			if want := slices.Concat(head, value); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %d bytes: %v, %d bytes back", name, size, err, len(got))
			}
		}
	}
}

// Writing a large row takes a few buffers, whatever its size.
func TestLargeMemory(t *testing.T) {
	const size, most = 16 << 20, 10 << 20
	text := []column.Value{str(strings.Repeat("some words, ", size/12))}
	elem := str(strings.Repeat("value ", 16))
	list, counts := column.ListOf(stringType), column.MapOf(stringType)
	for name, col := range map[string]testColumn{
		"text": {name: "x", typ: stringType, values: text},
		"list": {name: "x", typ: list, values: []column.Value{nestedValue(list, slices.Repeat([]column.Value{elem}, size/len(elem.Bytes))...)}},
		"map":  {name: "x", typ: counts, values: []column.Value{nestedValue(counts, slices.Repeat([]column.Value{elem}, size/len(elem.Bytes))...)}},
		"one":  {name: "x", typ: list, values: []column.Value{nestedValue(list, text...)}},
	} {
		rec := recordOf(t, memory.DefaultAllocator, []testColumn{col})
		for _, format := range Formats {
			for codec := range codecs {
				if codec != "" && (format != Parquet || codec != "none" && (name == "list" || name == "map")) {
					continue // the others' libraries leave garbage with each page
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				w, err := NewWriter(format, io.Discard, rec.Schema(), Options{Memory: 8 << 20, Compression: codec, Stream: true})
				if err == nil {
					err = w.Write(rec)
				}
				if err != nil || w.Close() != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				if made := after.TotalAlloc - before.TotalAlloc; made > most {
					t.Errorf("%s %s %s: %d MiB were allocated", name, format, codec, made>>20)
				}
			}
		}
		rec.Release()
	}
}
