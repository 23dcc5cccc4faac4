package parquetio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
)

// ledger is a budget for tests: it refuses what passes limit, and the call
// number fail, or all from there on.
type ledger struct {
	limit   int64 // 0: none
	fail    int   // 0: none
	forEver bool

	mu                sync.Mutex
	calls             int // that asked for more
	used, peak, gross int64
	wrong             string
}

var errRefused = errors.New("refused by the test")

func (l *ledger) grow(bytes int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes > 0 {
		l.calls++
		failing := l.calls == l.fail || l.forEver && l.fail > 0 && l.calls > l.fail
		if failing || l.limit > 0 && l.used+bytes > l.limit {
			return errRefused
		}
		l.gross += bytes
	}
	l.used += bytes
	l.peak = max(l.peak, l.used)
	if l.used < 0 && l.wrong == "" {
		l.wrong = "more given back than was drawn"
	}
	return nil
}

// settled checks that all was given back.
func (l *ledger) settled(t *testing.T) {
	t.Helper()
	if l.used != 0 || l.wrong != "" {
		t.Errorf("%d bytes not given back; %s", l.used, l.wrong)
	}
}

// checkRefusal checks the error of a run in which the budget may have
// refused: it names its place, in one line.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	var placed *Error
	if err != nil && (!errors.Is(err, errRefused) || !errors.As(err, &placed) || placed.File == "" || strings.Contains(err.Error(), "\n")) {
		t.Errorf("not an error as promised: %v", err)
	}
}

// Whichever call the budget refuses, once or from then on, reading a column
// ends with its error or as if nothing had been, and everything is given back.
func TestRefusedAtEveryCall(t *testing.T) {
	for i, data := range budgetFiles(t) {
		for _, forEver := range []bool{false, true} {
			for n := 1; ; n++ {
				l := &ledger{fail: n, forEver: forEver}
				err := readUnder(data, l)
				checkRefusal(t, err)
				l.settled(t)
				if t.Failed() {
					t.Fatalf("file %d, refusing call %d, for ever: %v", i, n, forEver)
				}
				if l.calls < n {
					if err != nil || n < 4 {
						t.Fatalf("file %d: %v after %d calls", i, err, l.calls)
					}
					break
				}
				if err == nil && forEver {
					t.Fatalf("file %d: read although call %d was refused", i, n)
				}
			}
		}
	}
}

// budgetFiles are files in all codecs and encodings, with pages of 300 KB in
// two of them, beyond what buffers are small Go memory for.
func budgetFiles(t *testing.T) [][]byte {
	var files [][]byte
	for _, data := range smallFiles(t) {
		if readUnder(data, &ledger{}) == nil { // some say they are compressed and are not
			files = append(files, data)
		}
	}
	large := make([]column.Value, 1000)
	for i := range large {
		large[i].Bytes = strings.Repeat("x", 200+i%100) + string(rune('a'+i%26))
	}
	for _, node := range []parquet.Node{
		parquet.Encoded(parquet.String(), &parquet.DeltaByteArray),
		parquet.Compressed(parquet.Encoded(parquet.String(), &parquet.Plain), &parquet.Zstd),
		parquet.Compressed(parquet.Encoded(parquet.String(), &parquet.RLEDictionary), &parquet.Brotli),
	} {
		files = append(files, writeStrings(t, node, large))
	}
	return files
}

func writeStrings(t *testing.T, node parquet.Node, values []column.Value) []byte {
	var out bytes.Buffer
	w := parquet.NewWriter(&out, parquet.NewSchema("t", parquet.Group{"x": node}))
	for range 3 { // row groups
		for _, v := range values {
			if _, err := w.WriteRows([]parquet.Row{{parquet.ByteArrayValue([]byte(v.Bytes)).Level(0, 0, 0)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readUnder reads all columns of a file.
func readUnder(data []byte, l *ledger) error {
	f, err := openFile("f", bytes.NewReader(data), int64(len(data)), Limits{Budget: budgettest.Lender(l.grow)})
	if err != nil {
		return err
	}
	defer f.metadata.close()
	for i := range f.leaves {
		if _, err := readColumn(f, i, 100, nil); err != nil {
			return err
		}
	}
	return nil
}

// The same for datasets, whose readers reserve what they will take: with
// several readers of several files at once.
func TestRefusedDataset(t *testing.T) {
	var inputs []Input
	files := budgetFiles(t)
	for _, data := range files[len(files)-3:] {
		inputs = append(inputs, Input{Name: "f", Reader: bytes.NewReader(data), Size: int64(len(data))})
	}
	for n := 1; ; n++ {
		for _, forEver := range []bool{false, true} {
			l := &ledger{fail: n, forEver: forEver}
			rows, err := readDataset(t, inputs, l)
			checkRefusal(t, err)
			l.settled(t)
			if err == nil && rows != 9000 || t.Failed() {
				t.Fatalf("refusing call %d, for ever: %v: %d rows, %v", n, forEver, rows, err)
			}
			if l.calls < n {
				return
			}
		}
	}
}

func readDataset(t *testing.T, inputs []Input, l *ledger) (rows int64, err error) {
	d, err := Open(context.Background(), inputs, Options{Limits: Limits{Budget: budgettest.Lender(l.grow)}})
	if err != nil {
		return 0, err
	}
	defer d.Close()
	s, err := d.Scan(ScanOptions{Columns: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	var readers [2]*Reader
	for i := range readers {
		readers[i] = s.NewReader()
		defer readers[i].Close()
	}
	var b column.Batch
	for u := range s.Units() {
		r := readers[u%2]
		if err := r.Open(u); err != nil {
			return rows, err
		}
		for {
			ok, err := r.Next(&b)
			if err != nil {
				return rows, err
			}
			if !ok {
				break
			}
			rows += int64(b.Rows)
		}
	}
	return rows, nil
}

// The list of files is reserved in the budget, before their footers, and what they all take
// beside these. A refusal ends the listing.
func TestListIsDrawn(t *testing.T) {
	dir := t.TempDir()
	files := 3000
	if testing.Short() {
		files = 800
	}
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.parquet", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, input := range []string{dir, dir + "/*.parquet", dir + "/**"} {
		whole := &ledger{}
		_, err := Open(t.Context(), []Input{{Path: input}}, Options{Limits: Limits{Budget: budgettest.Lender(whole.grow)}})
		// 540 bytes each were missing with 50,000 files, and the names have 250
		if least := int64(files * 800); err == nil || whole.peak < least {
			t.Errorf("%s: %d bytes drawn, at least %d expected", input, whole.peak, least)
		}
		whole.settled(t)
		small := &ledger{limit: whole.peak / 2}
		if _, err := Open(t.Context(), []Input{{Path: input}}, Options{Limits: Limits{Budget: budgettest.Lender(small.grow)}}); !errors.Is(err, errRefused) || strings.Contains(err.Error(), "0.parquet") {
			t.Errorf("%s: %.200v", input, err)
		}
		small.settled(t)
	}
}

func TestWorkerBytes(t *testing.T) {
	for i, data := range budgetFiles(t) {
		l := &ledger{}
		d, err := Open(context.Background(), []Input{{Name: "f", Reader: bytes.NewReader(data), Size: int64(len(data))}}, Options{Limits: Limits{Budget: budgettest.Lender(l.grow)}})
		if err != nil {
			t.Fatal(err)
		}
		metadata := l.used
		s, err := d.Scan(ScanOptions{Columns: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		if err := eachBatch(s, func(*column.Batch) {}); err != nil {
			t.Fatal(err)
		}
		if took, said := l.peak-metadata, s.WorkerBytes(); took > said || said > 8<<20 {
			t.Errorf("file %d: %d bytes at the peak, %d said", i, took, said)
		}
		d.Close()
		l.settled(t)
	}
}

// A chunk that is much larger than the budget is read through a window.
func TestLargeChunk(t *testing.T) {
	const pages, pageRows = 200, 20_000
	body := make([]byte, 4*pageRows)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	data := fileBuilder{
		schema: []format.SchemaElement{required(format.Int32)}, rows: pages * pageRows,
		pages: slicesRepeat(pageV1(format.Plain, pageRows, body...), pages),
	}.build(t)
	l := &ledger{limit: 1 << 20}
	rows, err := readDataset(t, []Input{{Name: "f", Reader: bytes.NewReader(data), Size: int64(len(data))}}, l)
	if err != nil || rows != pages*pageRows {
		t.Errorf("%d rows of a chunk of %d MiB, %v", rows, len(data)>>20, err)
	}
	l.settled(t)
}

// F14: a page, a dictionary or a value larger than the budget is refused
// before memory is taken, and the error says where and how large it is.
func TestTooLarge(t *testing.T) {
	const size = 1200 << 20
	huge := func(p page) page {
		p.header.UncompressedPageSize = size
		return p
	}
	body := make([]byte, 40<<10) // enough to give that much, as far as the codec goes
	schema := []format.SchemaElement{required(format.ByteArray)}
	for _, test := range []struct {
		name string
		file fileBuilder
		want string
	}{
		{"value", fileBuilder{rows: 1, pages: []page{huge(pageV1(format.Plain, 1, body...))}}, "a value of 1.2 GiB: "},
		{"page", fileBuilder{rows: 2, pages: []page{huge(pageV1(format.Plain, 2, body...))}}, "a page of 1.2 GiB: "},
		{"page v2", fileBuilder{rows: 2, pages: []page{huge(compressed(pageV2(format.Plain, 2, 0, body...)))}}, "a page of 1.2 GiB: "},
		{"dictionary", fileBuilder{rows: 1, pages: []page{huge(dictPage(1, body...))}}, "a dictionary of 1.2 GiB: "},
	} {
		test.file.codec, test.file.schema = format.Zstd, schema
		l := &ledger{limit: 1 << 20}
		err := readUnder(test.file.build(t), l)
		checkRefusal(t, err)
		if err == nil || !strings.Contains(err.Error(), `row group 0, column "x": `+test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
		l.settled(t)
	}
}

func compressed(p page) page {
	p.header.DataPageHeaderV2.V.IsCompressed.V = true
	return p
}

// A file with one large page among small ones does not keep its memory.
func TestTrim(t *testing.T) {
	l := &ledger{}
	b := buffer{mem: &account{from: budgettest.Lender(l.grow)}}
	for _, n := range []int{8 << 20, 1000, 1000} {
		if _, err := b.room(n, "x"); err != nil {
			t.Fatal(err)
		}
		b.trim()
	}
	if l.used > 1<<20 {
		t.Errorf("%d bytes kept", l.used)
	}
	b.free()
	b.mem.close()
	l.settled(t)
}

// The window that brotli data asks for, by the table of the RFC.
func TestBrotliWindow(t *testing.T) {
	for _, test := range []struct {
		head byte
		bits int
	}{
		{0b0, 16},
		{0b0000001, 17},
		{0b0011, 18},
		{0b0101, 19},
		{0b1111, 24},
		{0b0100001, 10},
		{0b0110001, 11},
		{0b1110001, 15},
	} {
		if got := brotliWindow([]byte{test.head}); got != 1<<test.bits {
			t.Errorf("%b: %d, want %d bits", test.head, got, test.bits)
		}
	}
	if got := brotliWindow([]byte{0b0010001}); got != 0 {
		t.Errorf("a head that means nothing: %d", got)
	}
}

// F15: the footers of thousands of files with a row group each hold what is drawn for them.
func TestManyFooters(t *testing.T) {
	const files = 2000
	data := manyGroupsFooter(t, 1)
	l := &ledger{}
	footers := make([]*file, files)
	before := heapInUse()
	for i := range footers {
		f := &file{name: "f", limits: Limits{}.withDefaults(), end: 1 << 40, metadata: account{from: budgettest.Lender(l.grow)}}
		if usual, err := f.decodeQuickly(data); !usual || err != nil {
			t.Fatal(usual, err)
		}
		f.chunk(0, 0)
		footers[i] = f
	}
	if held := heapInUse() - before; held > l.used+l.used/5 {
		t.Errorf("%d bytes of heap, %d drawn: %d and %d for each footer", held, l.used, held/files, l.used/files)
	}
	runtime.KeepAlive(footers)
}

// heapInUse is the bytes of Go memory that are reachable.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what pools hold
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
