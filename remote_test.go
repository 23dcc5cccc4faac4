package gagg_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
)

// faulty is a server of one file. fault is asked before each answer, by the number of the request;
// true: it has answered itself.
type faulty struct {
	*httptest.Server
	mu     sync.Mutex
	file   []byte
	tag    string
	ranges []string // as they were asked for
	fault  func(n int, w http.ResponseWriter, r *http.Request) bool
}

func newFaulty(t *testing.T, file []byte) *faulty {
	t.Helper()
	s := &faulty{file: file, tag: `"1"`}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s
}

func (s *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n := len(s.ranges)
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	file, fault := s.file, s.fault
	w.Header().Set("ETag", s.tag)
	s.mu.Unlock()
	if fault == nil || !fault(n, w, r) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
	}
}

// wide is a file of random columns, in row groups.
func wide(t *testing.T, columns, rows, group int) []byte {
	t.Helper()
	root := parquet.Group{}
	for c := range columns {
		root[fmt.Sprintf("c%02d", c)] = parquet.Leaf(parquet.Int64Type)
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("wide", root), parquet.MaxRowsPerRowGroup(int64(group)), parquet.Compression(&parquet.Uncompressed))
	rng := rand.New(rand.NewPCG(1, 2))
	batch := make([]parquet.Row, 1000)
	for at := 0; at < rows; at += len(batch) {
		for i := range batch {
			batch[i] = make(parquet.Row, columns)
			for c := range columns {
				batch[i][c] = parquet.Int64Value(int64(rng.Uint64N(1<<40))).Level(0, 0, c)
			}
		}
		if _, err := w.WriteRows(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// run is what a query gives, with its statistics.
func runRemote(t *testing.T, q gagg.Query, o gagg.Options) (lines []string, s gagg.Stats, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o.TempDir = t.TempDir()
	defer func() {
		if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}()
	rows, err := gagg.Run(ctx, q, o)
	if err != nil {
		return nil, s, err
	}
	defer rows.Release()
	for rows.Next() {
		lines = append(lines, fmt.Sprint(rows.Record()))
	}
	return lines, rows.Stats(), rows.Err()
}

// A file on a server is read in one request for its footer and one for each 8 MiB that is wanted,
// with and without a filter, whatever the threads; the answer is that of the file.
func TestHTTP(t *testing.T) {
	file := wide(t, 16, 400_000, 200_000) // 51 MB: 16 columns of 1.6 MB in each of 2 row groups
	s := newFaulty(t, file)
	small := newFaulty(t, wide(t, 8, 100_000, 2_000)) // 6.4 MB in 50 row groups
	for _, aggs := range []string{"sum(c00), sum(c01), sum(c02), sum(c03), sum(c04), sum(c05), sum(c06), sum(c07)", "sum(c03), sum(c04)"} {
		for _, threads := range []int{1, 4} {
			small.ranges = nil
			q := gagg.Query{From: gagg.Files(small.URL), Aggs: exprs(aggs)}
			if _, _, err := runRemote(t, q, gagg.Options{Threads: threads}); err != nil || len(small.ranges) > 2 {
				t.Errorf("%s of small row groups, %d threads: %d requests, %v", aggs, threads, len(small.ranges), err)
			}
		}
	}
	for _, test := range []struct {
		name  string
		aggs  string
		where string
		by    []string
		most  int // requests
		bytes int // about
	}{
		{"one column", "sum(c03)", "", nil, 1 + 2, 3_200_000},
		{"neighbours", "sum(c03), max(c04), min(c05), sum(c06)", "", nil, 1 + 2, 4 * 3_200_000},
		{"all", "sum(c00), sum(c01), sum(c02), sum(c03), sum(c04), sum(c05), sum(c06), sum(c07), sum(c08), sum(c09), sum(c10), sum(c11), sum(c12), sum(c13), sum(c14), sum(c15)", "", nil, 1 + 8, 51_200_000},
		{"far apart", "sum(c00), sum(c15)", "", nil, 1 + 4, 2 * 3_200_000},
		{"filter", "sum(c05)", "c04 < 500000000000", nil, 1 + 4, 2 * 3_200_000},
		{"filter of none", "sum(c05)", "c04 < 0", nil, 1, 0},
		{"rows", "count(*)", "", nil, 1, 0},
	} {
		for _, threads := range []int{1, 4} {
			q := gagg.Query{Aggs: exprs(test.aggs), Where: test.where, By: test.by}
			q.From = gagg.Parquet("x", bytes.NewReader(file), int64(len(file)))
			want, _, err := runRemote(t, q, gagg.Options{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			s.ranges = nil
			q.From = gagg.Files(s.URL + "/x.parquet?signature=secret")
			got, stats, err := runRemote(t, q, gagg.Options{Threads: threads})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %d threads: %q, want %q; %v", test.name, threads, got, want, err)
				continue
			}
			if len(s.ranges) > test.most {
				t.Errorf("%s, %d threads: %d requests, want %d at most: %q", test.name, threads, len(s.ranges), test.most, s.ranges)
			}
			r := stats.Remote
			if r == nil || r.Requests != int64(len(s.ranges)) || r.Retries != 0 || r.Bytes > int64(test.bytes+test.bytes/50+70_000) || r.Bytes < int64(test.bytes) {
				t.Errorf("%s, %d threads: %+v, want %d requests and about %d bytes", test.name, threads, r, len(s.ranges), test.bytes)
			}
		}
	}
}

// Answers that are cut, late, wrong or none are asked for again, from where they broke off; the
// answer is right, or an error that names the URL, without its query.
func TestHTTPFaults(t *testing.T) {
	file := wide(t, 4, 100_000, 50_000)
	q := gagg.Query{Aggs: exprs("sum(c00), sum(c01), max(c02), count(*)")}
	q.From = gagg.Parquet("x", bytes.NewReader(file), int64(len(file)))
	want, _, err := runRemote(t, q, gagg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	status := func(code int) func(int, http.ResponseWriter, *http.Request) bool {
		return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			return true
		}
	}
	every := func(nth int, do func(int, http.ResponseWriter, *http.Request) bool) func(int, http.ResponseWriter, *http.Request) bool {
		return func(n int, w http.ResponseWriter, r *http.Request) bool { return n%nth == 0 && do(n, w, r) }
	}
	abort := func(int, http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	cut := func(_ int, w http.ResponseWriter, r *http.Request) bool {
		half := &halfWriter{ResponseWriter: w}
		http.ServeContent(half, r, "", time.Time{}, bytes.NewReader(file))
		if half.cut {
			panic(http.ErrAbortHandler)
		}
		return true
	}
	for _, test := range []struct {
		name  string
		fault func(s *faulty, n int, w http.ResponseWriter, r *http.Request) bool
		says  string // of the error; "": none
	}{
		{"503", plain(every(2, status(503))), ""},
		{"429 and resets", plain(func(n int, w http.ResponseWriter, r *http.Request) bool {
			return n%3 == 0 && status(429)(n, w, r) || n%3 == 1 && abort(n, w, r)
		}), ""},
		{"cut in the middle", plain(every(2, cut)), ""},
		{"404", plain(status(404)), "HTTP 404 Not Found"},
		{"403 later", func(_ *faulty, n int, w http.ResponseWriter, r *http.Request) bool {
			return n > 0 && status(403)(n, w, r)
		}, "HTTP 403 Forbidden"},
		{"replaced", func(s *faulty, n int, _ http.ResponseWriter, _ *http.Request) bool {
			if n == 0 {
				s.mu.Lock()
				defer s.mu.Unlock()
				defer func() { s.tag = `"2"` }()
			}
			return false
		}, "changed while it was read"},
		{"longer", func(s *faulty, n int, w http.ResponseWriter, r *http.Request) bool {
			if n > 0 {
				r.Header.Del("If-Match")
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(append(slices.Clone(file), 1)))
			}
			return n > 0
		}, "changed while it was read"},
		{"another place", func(_ *faulty, n int, w http.ResponseWriter, r *http.Request) bool {
			if n > 0 {
				r.Header.Set("Range", "bytes=0-99")
			}
			return false
		}, "the server's answer makes no sense"},
		{"text", func(_ *faulty, _ int, w http.ResponseWriter, r *http.Request) bool {
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("<html>please log in to the service</html>"))
			return true
		}, "not a Parquet file"},
		{"no ranges", func(_ *faulty, _ int, w http.ResponseWriter, _ *http.Request) bool {
			_, _ = w.Write(file)
			return true
		}, ""},
		{"no ranges and cut", func(_ *faulty, _ int, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", fmt.Sprint(len(file)))
			_, _ = w.Write(file[:len(file)/2])
			panic(http.ErrAbortHandler)
		}, "unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newFaulty(t, file)
			s.fault = func(n int, w http.ResponseWriter, r *http.Request) bool { return test.fault(s, n, w, r) }
			q := q
			q.From = gagg.Files(s.URL + "/dir/x.parquet?signature=secret")
			got, stats, err := runRemote(t, q, gagg.Options{Threads: 2})
			if test.says == "" {
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%q, want %q; %v", got, want, err)
				}
				return
			}
			if !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), s.URL+"/dir/x.parquet: ") ||
				strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s; %+v", err, test.says, stats.Remote)
			}
		})
	}
}

func plain(do func(int, http.ResponseWriter, *http.Request) bool) func(*faulty, int, http.ResponseWriter, *http.Request) bool {
	return func(_ *faulty, n int, w http.ResponseWriter, r *http.Request) bool { return do(n, w, r) }
}

// halfWriter writes half of what it is given first, and no more.
type halfWriter struct {
	http.ResponseWriter
	cut bool
}

func (h *halfWriter) Write(p []byte) (int, error) {
	if !h.cut {
		h.cut = true
		_, _ = h.ResponseWriter.Write(p[:len(p)/2])
		h.ResponseWriter.(http.Flusher).Flush()
	}
	return 0, errors.New("cut")
}

// A run whose context ends lets go of a server that does not answer, and of one that stops in the
// middle.
func TestHTTPCancelled(t *testing.T) {
	file := wide(t, 2, 50_000, 50_000)
	for _, from := range []int{0, 1} {
		s := newFaulty(t, file)
		released := make(chan struct{})
		asked := make(chan struct{}, 100)
		s.fault = func(n int, _ http.ResponseWriter, r *http.Request) bool {
			if n < from {
				return false
			}
			asked <- struct{}{}
			select {
			case <-released:
			case <-r.Context().Done():
			}
			return true
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("enough")
		go func() {
			<-asked
			cancel(stop)
		}()
		began := time.Now()
		_, err := gagg.Run(ctx, gagg.Query{From: gagg.Files(s.URL), Aggs: exprs("sum(c00)")}, gagg.Options{TempDir: t.TempDir()})
		if !errors.Is(err, stop) || time.Since(began) > 10*time.Second {
			t.Errorf("request %d: %v after %v", from, err, time.Since(began))
		}
		close(released)
	}
}

// Within a small memory limit a file on a server is read too.
func TestHTTPMemory(t *testing.T) {
	file := wide(t, 8, 100_000, 100_000)
	s := newFaulty(t, file)
	q := gagg.Query{By: []string{"c00 % 1000"}, Aggs: exprs("sum(c01), sum(c06)"), OrderBy: []string{"1"}}
	q.From = gagg.Parquet("x", bytes.NewReader(file), int64(len(file)))
	want, _, err := runRemote(t, q, gagg.Options{MemoryLimit: 24 << 20})
	if err != nil {
		t.Fatal(err)
	}
	q.From = gagg.Files(s.URL)
	got, stats, err := runRemote(t, q, gagg.Options{MemoryLimit: 24 << 20})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d records, want %d; %v", len(got), len(want), err)
	}
	if stats.PeakMemory > 24<<20 {
		t.Errorf("%d bytes were held", stats.PeakMemory)
	}
}

// URLs of several objects are one table, with folders named key=value in their paths as columns,
// and a file:// URL is a file.
func TestURLs(t *testing.T) {
	whole, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	s := newFaulty(t, whole)
	q := gagg.Query{From: gagg.Files(s.URL+"/year=2023/a.parquet", s.URL+"/year=2024/b%20c.parquet?x=y=z/w"), By: []string{"year"}, Aggs: exprs("count(*)"), OrderBy: []string{"1"}}
	lines, err := answer(t, q, gagg.Options{})
	if err != nil || strings.Join(lines, ";") != "2023|12000;2024|12000" {
		t.Errorf("%q, %v", lines, err)
	}
	if len(s.ranges) != 2 {
		t.Errorf("%d requests: %q", len(s.ranges), s.ranges)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []string{"file://" + dir + "/testdata/orders.parquet", "file://localhost" + dir + "/testdata/%6frders.parquet", "FILE://" + dir + "/testdata/ord*.parquet"} {
		lines, err := answer(t, gagg.Query{From: gagg.Files(u), Aggs: exprs("count(*)")}, gagg.Options{})
		if err != nil || strings.Join(lines, ";") != "12000" {
			t.Errorf("%s: %q, %v", u, lines, err)
		}
	}
	for u, want := range map[string]error{
		"file://elsewhere/x.parquet": gagg.ErrUsage, s.URL + "/*.parquet": gagg.ErrUsage, "http:///x": gagg.ErrInput, "gopher://x/y": gagg.ErrUsage,
	} {
		if _, err := answer(t, gagg.Query{From: gagg.Files(u), Aggs: exprs("count(*)")}, gagg.Options{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", u, err, want)
		}
	}
}
