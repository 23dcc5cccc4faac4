package parquetio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
)

// F35: small files that hold very much are read, in memory for a page at
// most.
func TestBombs(t *testing.T) {
	const rows, pages, pageRows = 30_000_000, 6, 2 << 20
	runs := dictPage(1, le32(7)...)
	run := append([]byte{1}, binary.AppendUvarint(nil, rows<<1)...)
	zeros, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := pageV1(format.Plain, pageRows, zeros.EncodeAll(make([]byte, 4*pageRows), nil)...)
	packed.header.UncompressedPageSize = 4 * pageRows
	schema := []format.SchemaElement{required(format.Int32)}
	for name, b := range map[string]fileBuilder{
		"one run":     {schema: schema, rows: rows, pages: []page{runs, pageV1(format.RLEDictionary, rows, append(run, 0)...)}},
		"zeros":       {schema: schema, rows: pages * pageRows, codec: format.Zstd, pages: slicesRepeat(packed, pages)},
		"NULLs alone": {rows: rows, pages: []page{pageV1(format.Plain, rows, sized(append(binary.AppendUvarint(nil, rows<<1), 0)...)...)}},
	} {
		t.Run(name, func(t *testing.T) {
			data := b.build(t)
			if len(data) > 8<<10 {
				t.Fatalf("%d bytes are no bomb", len(data))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := int64(0)
			_, err := readAll("f.parquet", data, 4096, func(_ int, v *column.Vector) { got += int64(v.Len) })
			runtime.ReadMemStats(&after)
			if err != nil || got != b.rows {
				t.Errorf("%d rows, want %d; %v", got, b.rows, err)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
				t.Errorf("allocated %d MiB", grown>>20)
			}
		})
	}
}

// A count or size that the bytes behind it cannot hold is damage, whatever the
// budget, and no plan asks for memory because of it.
func TestClaims(t *testing.T) {
	claim := func(p page, size int32) page {
		p.header.UncompressedPageSize = size
		return p
	}
	const most = math.MaxInt32
	body := le32(7)
	coded := pageV1(format.RLEDictionary, 1, 0, 2)
	for name, test := range map[string]struct {
		physical format.Type
		codec    format.CompressionCodec
		pages    []page
		want     string
	}{
		"entries":            {format.Int32, format.Uncompressed, []page{dictPage(most, body...), coded}, "a dictionary of 2147483647 values in 4 bytes"},
		"entries and size":   {format.Int32, format.Uncompressed, []page{claim(dictPage(most, body...), most), coded}, "a dictionary of 2147483647 values in 2147483647 bytes"},
		"texts":              {format.ByteArray, format.Uncompressed, []page{claim(dictPage(most/4, body...), most), coded}, "4 bytes of uncompressed data"},
		"a few, of any size": {format.ByteArray, format.Lz4Raw, []page{claim(dictPage(1, body...), most), coded}, "4 bytes of LZ4_RAW cannot give 2147483647"},
		"zstd":               {format.Boolean, format.Zstd, []page{claim(dictPage(most, body...), 1<<28), coded}, "4 bytes of ZSTD cannot give 268435456"},
		"brotli":             {format.Boolean, format.Brotli, []page{claim(dictPage(most, body...), 1<<28), coded}, "4 bytes of BROTLI cannot give 268435456"},
		"data page":          {format.Int32, format.Zstd, []page{claim(pageV1(format.Plain, 1, body...), most)}, "4 bytes of ZSTD cannot give 2147483647"},
		"data page v2":       {format.Int32, format.Zstd, []page{claim(compressed(pageV2(format.Plain, 1, 0, body...)), most)}, "4 bytes of ZSTD cannot give 2147483647"},
	} {
		t.Run(name, func(t *testing.T) {
			data := fileBuilder{schema: []format.SchemaElement{required(test.physical)}, codec: test.codec, rows: 1, pages: test.pages}.build(t)
			l := &ledger{limit: 1 << 20}
			d, err := Open(context.Background(), []Input{{Name: "f", Reader: bytes.NewReader(data), Size: int64(len(data))}}, Options{Limits: Limits{Budget: budgettest.Lender(l.grow)}})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			s, err := d.Scan(ScanOptions{Columns: []int{0}})
			if err != nil {
				t.Fatal(err)
			}
			if n := s.WorkerBytes(); n > 64<<20 {
				t.Errorf("a plan of %d bytes", n)
			}
			_, err = countRows(t, d, ScanOptions{Columns: []int{0}})
			var typed *Error
			if !errors.As(err, &typed) || errors.Is(err, errRefused) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func slicesRepeat(p page, n int) (out []page) {
	for range n {
		out = append(out, p)
	}
	return out
}

// spent is the processor time of this process, which does not depend on what else the cores do.
// On systems where it cannot be asked for it is the time since the process began.
var (
	spent = func() time.Duration { return time.Since(begun) }
	begun = time.Now()
)

// F42: opening and scanning a file of very many row groups takes time and
// memory linear in their number.
func TestManyRowGroups(t *testing.T) {
	const groups = 100_000
	b := onePage()
	b.change = func(m *format.FileMetaData) {
		one := m.RowGroups[0]
		m.RowGroups = make([]format.RowGroup, groups)
		for i := range m.RowGroups {
			m.RowGroups[i] = one
		}
		m.NumRows = groups
	}
	data := b.build(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := spent()
	d, err := Open(context.Background(), []Input{{Name: "f", Reader: bytes.NewReader(data), Size: int64(len(data))}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, err := countRows(t, d, ScanOptions{Columns: []int{0}})
	if took := spent() - start; err != nil || rows != groups || took > 5*time.Second {
		t.Errorf("%d rows in %v, error %v", rows, took, err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 100*uint64(len(data)) {
		t.Errorf("%d MiB for a footer of %d", grown>>20, len(data)>>20)
	}
}

// F37: a codec or encoding that is not known is named, and so is its column.
func TestUnsupportedIsNamed(t *testing.T) {
	lzo := onePage()
	lzo.codec = format.LZO
	readError(t, lzo.build(t), `column "x": compression codec LZO is not supported`)
	unknown := onePage()
	unknown.codec = 5000
	readError(t, unknown.build(t), `column "x": unknown compression codec 5000`)
	coded := onePage()
	coded.pages = []page{pageV1(format.BitPacked, 1, cat(sized(2, 1), le32(7))...)}
	readError(t, coded.build(t), `column "x": `)
}

// F45: a file that goes between the listing and the opening is an error that
// names it.
func TestRemovedAfterListing(t *testing.T) {
	t.Chdir(t.TempDir())
	d := &Dataset{}
	err := d.openFiles(context.Background(), []Input{{Path: "gone.parquet", Name: "gone.parquet"}})
	var fault *Error
	if !errors.As(err, &fault) || !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "gone.parquet: ") {
		t.Error(err)
	}
}
