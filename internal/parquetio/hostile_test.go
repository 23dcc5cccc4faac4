package parquetio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

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

func slicesRepeat(p page, n int) (out []page) {
	for range n {
		out = append(out, p)
	}
	return out
}

// spent is the time that this process has had of the cores, which does not depend on what else they do; where the
// system is not asked for it, the time since it began.
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
	d := &Dataset{pool: &filePool{limit: maxOpenFiles}}
	err := d.openFiles(context.Background(), []Input{{Path: "gone.parquet", Name: "gone.parquet"}})
	var fault *Error
	if !errors.As(err, &fault) || !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "gone.parquet: ") {
		t.Error(err)
	}
}
