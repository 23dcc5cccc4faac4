package parquetio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
)

// Every type in the encodings that are read encoded, in both page versions,
// with and without levels, compressed and not; and no other type or encoding.
func TestEncodedValues(t *testing.T) {
	types := []string{
		"int8", "int16", "int32", "uint8", "uint16", "uint32", "date", "time32", "decimal9", "int64", "uint64",
		"timestamp_ms", "timestamp_us", "timestamp_ns", "decimal18", "float", "double", "string", "binary", "bool", "int96",
		"decimal_fixed5", "decimal_fixed8", "decimal_fixed9", "decimal_fixed16", "decimal38_fixed16", "decimal_bytes", "uuid", "fixed",
	}
	known := []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.ByteStreamSplit, &parquet.DeltaBinaryPacked, &parquet.RLE, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray}
	codecs := map[string]compress.Codec{"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "zstd": &parquet.Zstd}
	for _, c := range wireCases() {
		for _, enc := range c.encodings {
			for codec, compression := range codecs {
				for version := 1; version <= 2; version++ {
					for _, opt := range []bool{false, true} {
						node := parquet.Compressed(parquet.Encoded(c.node, enc), compression)
						if opt {
							node = parquet.Optional(node)
						}
						t.Run(fmt.Sprintf("%s/%v/%s/v%d/optional=%v", c.name, enc, codec, version, opt), func(t *testing.T) {
							in, _ := makeColumn(c, rand.New(rand.NewPCG(3, 4)), 2000, -1)
							d, err := openBytes(t, Options{}, writeColumn(t, node, version, in))
							if err != nil {
								t.Fatal(err)
							}
							s := scanOf(t, d, 0)
							_, typed := s.Encoded(0)
							if want := slices.Contains(types, c.name); typed != want {
								t.Fatalf("its type: %v", typed)
							}
							if !typed {
								return
							}
							r := s.NewReader()
							defer r.Close()
							for u := range s.Units() {
								if got, want := checkEncoded(t, r, u), slices.Contains(known, enc); got != want {
									t.Errorf("unit %d: %v", u, got)
								}
							}
						})
					}
				}
			}
		}
	}
}

// The pages of a chunk, as they are told.
func TestEncodedPages(t *testing.T) {
	all := sized(6, 1) // three values
	plain := cat(le32(5), le32(7), le32(9))
	index := page{header: format.PageHeader{Type: format.IndexPage}, body: []byte("index")}
	coded := pageV2(format.RLEDictionary, 3, 2, 6, 1, 2, 6, 1)
	data := fileBuilder{rows: 9, pages: []page{
		dictPage(3, plain...), pageV1(format.Plain, 3, cat(all, plain)...), index, pageV1(format.Plain, 0, sized()...),
		coded, pageV1(format.PlainDictionary, 3, cat(all, []byte{2, 6, 2})...),
	}}.build(t)
	d, err := openBytes(t, Options{}, data)
	if err != nil {
		t.Fatal(err)
	}
	r := scanOf(t, d, 0).NewReader()
	defer r.Close()
	chunks, memory, ok := readEncoded(t, r, 0)
	if !ok || len(chunks) != 1 || !slices.Equal(chunks[0].Dict.Values.Int, []int64{5, 7, 9}) {
		t.Fatalf("%v, %+v", ok, chunks)
	}
	for i, want := range []struct {
		page EncodedPage
		body []byte
	}{
		{EncodedPage{Size: 18, Levels: SizedLevels, Rows: 3}, cat(all, plain)},
		{EncodedPage{Size: 5, Levels: 2, Rows: 3, Coded: true}, coded.body},
		{EncodedPage{Size: 9, Levels: SizedLevels, Rows: 3, Coded: true}, cat(all, []byte{2, 6, 2})},
	} {
		p := chunks[0].Pages[i]
		if body := memory[p.At:][:p.Bytes]; !bytes.Equal(body, want.body) {
			t.Errorf("page %d: %x, want %x", i, body, want.body)
		}
		if p.At, p.Bytes = 0, 0; p != want.page {
			t.Errorf("page %d: %+v, want %+v", i, p, want.page)
		}
	}
	if len(chunks[0].Pages) != 3 {
		t.Errorf("%d pages", len(chunks[0].Pages))
	}
	if !checkEncoded(t, r, 0) {
		t.Error("the second time not")
	}
}

// Several columns lie one behind the other; a reader may go from one way of
// reading to the other and back; memory that is too small is not enough.
func TestEncodedColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := make([]idName, 1000)
	for i := range rows {
		rows[i] = idName{int64(i), str(fmt.Sprint("name", i%10))}
	}
	writeRows(t, "a.parquet", 300, rows, parquet.Compression(&parquet.Snappy))
	s := scanOf(t, mustOpen(t, Options{}, "a.parquet"), 1, 0)
	r := s.NewReader()
	defer r.Close()
	for u, unit := range s.Units() {
		if !checkEncoded(t, r, u) {
			t.Errorf("unit %d was not handed on", u)
		}
		checkPlaces(t, r, u, unit.Bytes)
		e, _ := s.EncodedUnit(u)
		if e.Rows != unit.Rows || e.Expanded < e.Rows*8 {
			t.Errorf("unit %d: %+v", u, e)
		}
		if _, ok, err := r.ReadEncoded(u, make([]byte, e.Bytes-1)); ok || err != nil {
			t.Errorf("in less memory: %v, %v", ok, err)
		}
	}
	if _, ok := scanOf(t, mustOpen(t, Options{}, "a.parquet")).EncodedUnit(0); ok {
		t.Error("a unit without columns was handed on")
	}
}

// checkPlaces checks that the chunks of a unit of so many bytes lie where
// they should, with zeros behind them.
func checkPlaces(t *testing.T, r *Reader, unit int, bytes int64) {
	t.Helper()
	_, memory, _ := readEncoded(t, r, unit)
	at, sum := 0, int64(0)
	for _, c := range r.cols {
		start, size, err := c.f.chunkRange(c.metadata())
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, encodedRoom(size))
		if err := readAt(c.f.r, want[:size], start); err != nil {
			t.Fatal(err)
		}
		if at%EncodedAlign != 0 || !slices.Equal(memory[at:][:len(want)], want) {
			t.Errorf("unit %d: not the chunk and zeros at %d", unit, at)
		}
		at, sum = at+len(want), sum+size
	}
	if at != len(memory) || sum != bytes {
		t.Errorf("unit %d: %d bytes of chunks in %d, want %d in %d", unit, sum, at, bytes, len(memory))
	}
}

// failing is a file whose reads fail from some time on.
type failing struct {
	io.ReaderAt
	now bool
}

var errBroken = errors.New("broken")

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.now {
		return 0, errBroken
	}
	return f.ReaderAt.ReadAt(p, off)
}

// Only a file that cannot be read is an error.
func TestEncodedReadError(t *testing.T) {
	data := fileBuilder{rows: 3, pages: []page{pageV1(format.Plain, 3, cat(sized(6, 1), le32(5), le32(7), le32(9))...)}}.build(t)
	f := &failing{ReaderAt: bytes.NewReader(data)}
	d, err := Open(context.Background(), []Input{{Name: "f", Reader: f, Size: int64(len(data))}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	r := scanOf(t, d, 0).NewReader()
	defer r.Close()
	f.now = true
	_, ok, err := r.ReadEncoded(0, make([]byte, 1<<10))
	var placed *Error
	if ok || !errors.Is(err, errBroken) || !errors.As(err, &placed) || placed.Column != "x" || placed.RowGroup != 0 {
		t.Errorf("%v, %v", ok, err)
	}
	f.now = false
	if !checkEncoded(t, r, 0) {
		t.Error("not handed on afterwards")
	}
}

// Whichever call the budget refuses, the unit is handed on or not, without an
// error, and everything is given back.
func TestEncodedRefused(t *testing.T) {
	in := make([]parquet.Value, 3000)
	for i := range in {
		in[i] = parquet.ByteArrayValue(fmt.Appendf(nil, "%0200d", i))
	}
	for name, codec := range map[string]compress.Codec{"snappy": &parquet.Snappy, "zstd": &parquet.Zstd, "gzip": &parquet.Gzip} {
		t.Run(name, func(t *testing.T) {
			node := parquet.Compressed(parquet.Encoded(parquet.String(), &parquet.RLEDictionary), codec)
			refuseEncoded(t, writeColumn(t, node, 1, in))
		})
	}
}

// The list of a chunk's pages is drawn as it grows, and kept for the next chunk.
func TestEncodedPagesDrawn(t *testing.T) {
	var pages []page
	for range 100 {
		pages = append(pages, pageV1(format.Plain, 1, cat(sized(2, 1), le32(1))...))
	}
	data := fileBuilder{rows: 100, pages: pages}.build(t)
	refuseEncoded(t, data)
	l := &ledger{}
	d, err := openBytes(t, Options{Limits: Limits{Budget: budgettest.Lender(l.grow)}}, data)
	if err != nil {
		t.Fatal(err)
	}
	r := scanOf(t, d, 0).NewReader()
	for range 2 {
		if _, _, ok := readEncoded(t, r, 0); !ok {
			t.Error("not handed on")
		}
		account := &r.work.account
		if drawn, want := account.used-r.cols[0].vectors, int64(cap(r.cols[0].pages))*encodedPageBytes; drawn != want || want < 100*encodedPageBytes || want > 1<<14 {
			t.Errorf("%d bytes are drawn beside vectors, of %d", drawn, want)
		}
	}
	if err := r.Open(0); err != nil || cap(r.cols[0].pages) > 0 {
		t.Errorf("%v; a unit is read, and the list has room for %d pages", err, cap(r.cols[0].pages))
	}
	r.Close()
	d.Close()
	l.settled(t)
}

func refuseEncoded(t *testing.T, data []byte) {
	for n := 1; ; n++ {
		l := &ledger{fail: n, forEver: true}
		d, err := openBytes(t, Options{Limits: Limits{Budget: budgettest.Lender(l.grow)}}, data)
		if err == nil {
			s := scanOf(t, d, 0)
			r := s.NewReader()
			ok := true
			for u := range s.Units() {
				_, _, one := readEncoded(t, r, u)
				ok = ok && one
			}
			r.Close()
			d.Close()
			if l.calls < n {
				if !ok || n < 3 {
					t.Errorf("%v after %d calls", ok, l.calls)
				}
				break
			}
			if ok && l.calls >= n && n > 100 {
				t.Fatal("no end")
			}
		}
		l.settled(t)
	}
}
