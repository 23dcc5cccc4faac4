package gagg_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/invariant"
)

var xSchema = arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil)

// made is a record of the numbers from first on.
func made(mem memory.Allocator, first, n int64) arrow.Record {
	b := array.NewRecordBuilder(mem, xSchema)
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(first + i)
	}
	return b.NewRecord()
}

// yielding is so many records of 100 numbers, and then an error, if there is one.
func yielding(mem memory.Allocator, n int64, end error) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		for i := range n {
			rec := made(mem, 100*i, 100)
			more := yield(rec, nil)
			rec.Release()
			if !more {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

// Iterators and channels give the rows of their records, in order, and every record is released:
// an iterator's by itself, one that was sent by the run, also when the run fails.
func TestRecordSources(t *testing.T) {
	broken := errors.New("the line is dead")
	for _, test := range []struct {
		n    int64
		end  error
		aggs string
		want string
		fail error
	}{
		{0, nil, "count(*), sum(x)", "0|(null)", nil},
		{50, nil, "count(*), sum(x), first(x), last(x)", "5000|12497500|0|4999", nil},
		{3, broken, "count(*)", "", broken},
		{0, broken, "count(*)", "", broken},
		{50, nil, "sum(cast(x as tinyint))", "", gagg.ErrOverflow},
	} {
		for _, threads := range []int{1, 4} {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			sources := map[string]gagg.Source{"iterator": gagg.RecordSeq(xSchema, yielding(mem, test.n, test.end))}
			wait := func() {}
			if test.end == nil {
				out := make(chan arrow.Record, 2)
				ctx, cancel := context.WithCancel(t.Context())
				var sender sync.WaitGroup
				sender.Go(func() {
					defer close(out)
					for i := range test.n {
						rec := made(mem, 100*i, 100)
						select {
						case out <- rec:
						case <-ctx.Done():
							rec.Release()
							return
						}
					}
				})
				wait = func() {
					cancel()
					for rec := range out {
						rec.Release()
					}
					sender.Wait()
				}
				sources["channel"] = gagg.RecordChan(xSchema, out)
			}
			for name, from := range sources {
				lines, err := answer(t, gagg.Query{From: from, Aggs: exprs(test.aggs)}, gagg.Options{Threads: threads})
				if !errors.Is(err, test.fail) || strings.Join(lines, ";") != test.want {
					t.Errorf("%s of %d, %d threads: %q, %v", name, test.n, threads, lines, err)
				}
				var of *gagg.SourceError
				if test.end != nil && (!errors.Is(err, gagg.ErrInput) || !errors.As(err, &of) || of.Source != "arrow records") {
					t.Errorf("%s: %v", name, err)
				}
			}
			wait()
			if eventually(func() bool { return mem.CurrentAlloc() == 0 }); mem.CurrentAlloc() != 0 {
				t.Errorf("%d of %d threads: %d bytes are not released", test.n, threads, mem.CurrentAlloc())
			}
		}
	}
}

// eventually waits until something is so, but not for ever.
func eventually(so func() bool) bool {
	for range 1000 {
		if so() {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// A record of other columns, an iterator that panics, and none at all are errors.
func TestRecordSourcesRefused(t *testing.T) {
	other, _, err := array.RecordFromJSON(memory.NewGoAllocator(), arrow.NewSchema([]arrow.Field{{Name: "y", Type: arrow.PrimitiveTypes.Int8}}, nil), strings.NewReader(`[{"y": 1}]`))
	if err != nil {
		t.Fatal(err)
	}
	for want, from := range map[string]gagg.Source{
		"has other columns than the first ones: y int8": gagg.RecordSeq(xSchema, func(yield func(arrow.Record, error) bool) { yield(other, nil) }),
		"it panicked: oh":               gagg.RecordSeq(xSchema, func(func(arrow.Record, error) bool) { panic("oh") }),
		"the records have no schema":    gagg.RecordChan(nil, nil),
		"no input: name a reader":       gagg.Readers(),
		"empty: there is no reader":     gagg.Readers(gagg.Reader{Name: "empty"}),
		"no input: name a file system":  gagg.FS(nil, "x"),
		"no file matches the pattern":   gagg.FS(fstest.MapFS{}, "*.parquet"),
		"gone.parquet: file does not e": gagg.FS(fstest.MapFS{}, "gone.parquet"),
	} {
		q := gagg.Query{From: from, Aggs: exprs("count(*)", "max(x)")}
		if _, err := answer(t, q, gagg.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Where a caller's source has panicked the error knows: it has a method Stack.
func TestPanicsOfSourcesHaveAStack(t *testing.T) {
	for name, from := range map[string]gagg.Source{
		"an iterator":   gagg.RecordSeq(xSchema, func(func(arrow.Record, error) bool) { panicsHere() }),
		"a file system": gagg.FS(panicsFS{}, "x.parquet"),
	} {
		_, err := answer(t, gagg.Query{From: from, Aggs: exprs("count(*)")}, gagg.Options{})
		var panicked interface{ Stack() []byte }
		if !errors.As(err, &panicked) || !strings.Contains(string(panicked.Stack()), "panicsHere") || !strings.Contains(err.Error(), "it panicked: oh") {
			t.Errorf("%s: %v, want it with its stack", name, err)
		}
		var bug *invariant.PanicError
		if errors.As(err, &bug) {
			t.Errorf("%s: it counts as a bug in gagg: %v", name, err)
		}
	}
}

func panicsHere() { panic("oh") }

type panicsFS struct{}

func (panicsFS) Open(string) (fs.File, error) {
	panicsHere()
	return nil, nil
}

// stuck is a reader whose ReadAt waits, after some calls, until it is let go.
type stuck struct {
	io.ReaderAt
	in   chan<- struct{}
	goOn <-chan struct{}
	skip int
}

func (s *stuck) ReadAt(p []byte, off int64) (int, error) {
	if s.skip--; s.skip < 0 {
		select {
		case s.in <- struct{}{}:
		default:
		}
		<-s.goOn
	}
	return s.ReaderAt.ReadAt(p, off)
}

// A run returns when its context ends though its source waits for ever, and what it leaves behind
// goes when the source returns.
func TestCancelBlockedSources(t *testing.T) {
	file, err := os.ReadFile(orders)
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for _, test := range []struct {
		name string
		from func(in chan<- struct{}, goOn <-chan struct{}) gagg.Source
	}{
		{"channel", func(in chan<- struct{}, goOn <-chan struct{}) gagg.Source {
			in <- struct{}{}
			return gagg.RecordChan(xSchema, make(chan arrow.Record))
		}},
		{"iterator", func(in chan<- struct{}, goOn <-chan struct{}) gagg.Source {
			return gagg.RecordSeq(xSchema, func(func(arrow.Record, error) bool) {
				in <- struct{}{}
				<-goOn
			})
		}},
		{"first read", func(in chan<- struct{}, goOn <-chan struct{}) gagg.Source {
			return gagg.Parquet("x", &stuck{bytes.NewReader(file), in, goOn, 0}, int64(len(file)))
		}},
		{"later read", func(in chan<- struct{}, goOn <-chan struct{}) gagg.Source {
			return gagg.Parquet("x", &stuck{bytes.NewReader(file), in, goOn, 3}, int64(len(file)))
		}},
		{"file system", func(in chan<- struct{}, goOn <-chan struct{}) gagg.Source {
			return gagg.FS(stuckFS{in, goOn}, "x")
		}},
	} {
		in, goOn := make(chan struct{}, 1), make(chan struct{})
		from := test.from(in, goOn)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-in
			cancel()
		}()
		_, _, err := answerIn(ctx, t, gagg.Query{From: from, By: []string{"#1"}, Aggs: exprs("count(*)")}, gagg.Options{Threads: 1})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", test.name, err)
		}
		close(goOn)
		cancel()
	}
	if !eventually(func() bool { return runtime.NumGoroutine() <= before }) {
		t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
	}
}

// stuckFS is a file system that never answers.
type stuckFS struct {
	in   chan<- struct{}
	goOn <-chan struct{}
}

func (s stuckFS) Open(string) (fs.File, error) {
	s.in <- struct{}{}
	<-s.goOn
	return nil, fs.ErrNotExist
}

// failing is a reader that fails.
type failing struct {
	io.ReaderAt
	err error
}

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// Several readers are one table, Parquet or Arrow; an error of one is the run's.
func TestReaders(t *testing.T) {
	data, err := os.ReadFile(orders)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string) gagg.Reader {
		return gagg.Reader{Name: name, Reader: struct{ io.ReaderAt }{bytes.NewReader(data)}, Size: int64(len(data))}
	}
	q := gagg.Query{From: gagg.Readers(file("year=2023/a"), file("year=2024/a")), By: []string{"year"}, Aggs: exprs("count(*)"), OrderBy: []string{"1"}}
	for _, o := range []gagg.Options{{}, {MemoryLimit: 32 << 20, Threads: 1}} {
		if lines := mustAnswer(t, q, o); strings.Join(lines, ";") != "2023|12000;2024|12000" {
			t.Errorf("%q", lines)
		}
	}
	broken := errors.New("the line is dead")
	bad := file("b")
	bad.Reader = failing{bad.Reader, broken}
	q.From = gagg.Readers(file("a"), bad)
	var of *gagg.SourceError
	if _, err := answer(t, q, gagg.Options{}); !errors.Is(err, broken) || !errors.Is(err, gagg.ErrInput) || !errors.As(err, &of) || of.Source != "b" {
		t.Error(err)
	}
}

// A file system is read as folders are, with globs and columns of names, also out of an archive,
// whose files are kept in the temp folder.
func TestFS(t *testing.T) {
	data, err := os.ReadFile(orders)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	files := fstest.MapFS{}
	for _, name := range []string{"in/year=2023/a.parquet", "in/year=2024/b.parquet", "in/year=2024/_c.parquet", "in/year=2024/.d/e.parquet", "in/README"} {
		files[name] = &fstest.MapFile{Data: data}
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	zipped, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for name, fsys := range map[string]fs.FS{"map": files, "zip": zipped, "folder": os.DirFS(mustCopy(t, files))} {
		for paths, want := range map[string]string{
			"in": "2023|12000;2024|12000", "in/year=*/*.parquet": "2023|12000;2024|12000", "**/b.*": "2024|12000", "in/year=2024": "2024|12000",
			"in/year=2024/b.parquet,in/**/*.parquet": "2023|12000;2024|12000", ".": "2023|12000;2024|12000",
		} {
			dir := t.TempDir()
			q := gagg.Query{From: gagg.FS(fsys, strings.Split(paths, ",")...), By: []string{"year"}, Aggs: exprs("count(*)"), OrderBy: []string{"1"}}
			lines, err := answer(t, q, gagg.Options{TempDir: dir})
			if strings.Join(lines, ";") != want || err != nil {
				t.Errorf("%s, %s: %q, want %q; %v", name, paths, lines, want, err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%s: left behind: %v", name, left)
			}
		}
	}
}

// mustCopy puts files into a folder.
func mustCopy(t *testing.T, files fs.FS) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// told keeps what an observer is told.
type told struct {
	mu  sync.Mutex
	all []gagg.Progress
}

func (o *told) Progress(p gagg.Progress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, p)
}

// An observer is told bytes and rows of every source, and totals where they are known; at the end
// what was read is the total.
func TestObserverSources(t *testing.T) {
	data, err := os.ReadFile(orders)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		from   gagg.Source
		column string
		rows   int64
		known  bool
	}{
		"files":    {gagg.Files(orders), "price", 12000, true},
		"readers":  {gagg.Parquet("x", bytes.NewReader(data), int64(len(data))), "price", 12000, true},
		"iterator": {gagg.RecordSeq(xSchema, yielding(memory.NewGoAllocator(), 20, nil)), "x", 2000, false},
	} {
		o := &told{}
		mustAnswer(t, gagg.Query{From: test.from, Aggs: exprs("sum(" + test.column + ")")}, gagg.Options{Observer: o, Threads: 1})
		last := o.all[len(o.all)-1]
		if last.Phase != gagg.PhaseOutput || last.RowsDone != test.rows || last.RowsTotal != test.rows || last.BytesDone == 0 || last.BytesDone != last.BytesTotal {
			t.Errorf("%s: %+v at the end", name, last)
		}
		scans := slices.DeleteFunc(o.all, func(p gagg.Progress) bool { return p.Phase != gagg.PhaseScan })
		for i, p := range scans {
			known := p.BytesTotal == last.BytesTotal && p.RowsTotal == last.RowsTotal
			if unknown := p.BytesTotal == -1 && p.RowsTotal == -1; known != test.known || unknown == test.known || i > 0 && p.RowsDone < scans[i-1].RowsDone {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if !test.known && len(scans) != 20 {
			t.Errorf("%s: told %d times of 20 records", name, len(scans))
		}
	}
}
