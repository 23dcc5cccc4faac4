package servers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
)

// s3 is an S3 server with a bucket b.
type s3 struct {
	*httptest.Server
	backend     *s3mem.Backend
	lists, gets atomic.Int64
	before      func(w http.ResponseWriter, r *http.Request) (answered bool) // nil: nothing is done
}

func newS3(t *testing.T) *s3 {
	t.Helper()
	s := &s3{backend: s3mem.New()}
	if err := s.backend.CreateBucket("b"); err != nil {
		t.Fatal(err)
	}
	server := gofakes3.New(s.backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("list-type") {
			s.lists.Add(1)
		} else {
			s.gets.Add(1)
		}
		if s.before == nil || !s.before(w, r) {
			server.ServeHTTP(w, r)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of answers that are cut
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *s3) put(t *testing.T, key string, data []byte) {
	t.Helper()
	if _, err := s.backend.PutObject("b", key, nil, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		t.Fatal(err)
	}
}

func (s *s3) options() gagg.Options {
	s.lists.Store(0)
	s.gets.Store(0)
	return gagg.Options{Stores: map[string]gagg.Store{"s3": {Endpoint: s.URL}}}
}

// single is a small file of one row.
func single(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, []struct {
		ID int64 `parquet:"id"`
	}{{7}}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// 100,000 keys are listed in a request for each 1000. A filter on the columns that folders are
// named after lists what it can match, and opens no other file.
func TestS3Listing(t *testing.T) {
	t.Parallel()
	s := newS3(t)
	file := single(t)
	for year := range 50 {
		for month := range 20 {
			for part := range 100 {
				s.put(t, fmt.Sprintf("t/year=%d/month=%d/%02d.parquet", 2000+year, month+1, part), file)
			}
		}
	}
	for _, test := range []struct {
		path, where string
		want        string
		lists, gets int64
	}{
		// Of a folder, two that tell what table it is; of each place, a page of keys and one of
		// folders. The server refuses the last 64 KiB of a smaller object: the size of the listing
		// has an exact range asked for, and only what was not listed is asked for again.
		{"s3://b/t/", "year = 2049 and month = 20", "100", 2 + 2 + 2 + 1, 100},
		{"s3://b/t/", "year = 2007 and month = 20 and id >= 0", "100", 2 + 2 + 2 + 1, 100},
		{"s3://b/t/year=*/month=20/07.parquet", "year in (2001, 2002)", "2", 2 + 2*(2+1), 2},
		{"s3://b/t/year=204*/month=2*/0[0-7].parquet", "month > 20", "0", 30, 1},
		{"s3://b/t/year=2013/", "month = 3", "100", 2 + 2 + 1, 100},
		{"s3://b/t/**/year=2049/**/[1]9.parquet", "month = 20", "1", 100 + 1, 1},
		{"s3://b/t/year=2049/month=20/99.parquet", "year = 2049", "1", 0, 2},
	} {
		got, stats, err := ask(t, test.path, nil, "count(*)", test.where, s.options())
		if err != nil || got != test.want || s.lists.Load() > test.lists || s.gets.Load() > test.gets {
			t.Errorf("%s where %s: %s by %d lists and %d gets, want %s by %d and %d; %v",
				test.path, test.where, got, s.lists.Load(), s.gets.Load(), test.want, test.lists, test.gets, err)
		}
		if err == nil && stats.Remote.Requests != s.lists.Load()+s.gets.Load() {
			t.Errorf("%s: %+v of %d requests", test.path, stats.Remote, s.lists.Load()+s.gets.Load())
		}
	}
}

// An object takes a request for its footer and one for each 8 MiB that is wanted; in spite of 503s
// and resets in the middle of bodies nothing is lost. One that is replaced is an error.
func TestS3Faults(t *testing.T) {
	t.Parallel()
	file := wide(t, 300_000, 1) // 19.2 MB
	want, _, err := ask(t, "", file, all, "", gagg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("requests", func(t *testing.T) {
		t.Parallel()
		s := newS3(t)
		s.put(t, "x.parquet", file)
		for aggs, most := range map[string]int64{all: 1 + 3, "sum(c3)": 1 + 1, "sum(c0), sum(c7)": 1 + 2, "count(*)": 1} {
			if _, _, err := ask(t, "s3://b/x.parquet", nil, aggs, "", s.options()); err != nil || s.gets.Load() > most || s.lists.Load() > 0 {
				t.Errorf("%s: %d requests, want %d; %v", aggs, s.gets.Load(), most, err)
			}
		}
	})
	t.Run("503", func(t *testing.T) {
		t.Parallel()
		s := newS3(t)
		s.put(t, "d/x.parquet", file)
		refused := time.Time{}
		var waited time.Duration
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			switch n := s.lists.Load() + s.gets.Load(); n {
			case 1: // the listing that asks for the log of a Delta table
				refused = time.Now()
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			case 2:
				waited = time.Since(refused)
			case 4, 6:
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			}
			return false
		}
		got, stats, err := ask(t, "s3://b/d/", nil, all, "", s.options())
		if err != nil || got != want || stats.Remote.Retries != 3 || waited < time.Second {
			t.Errorf("%s, want %s, after %v; %+v; %v", got, want, waited, stats.Remote, err)
		}
	})
	t.Run("resets", func(t *testing.T) {
		t.Parallel()
		s := newS3(t)
		s.put(t, "x.parquet", file)
		at := newResets(t, "tcp", strings.TrimPrefix(s.URL, "http://"), func(n int) int64 {
			return []int64{40_000, 0, 3_000_000, 1_000_000, 0, 20}[n%6]
		})
		o := s.options()
		o.Stores["s3"] = gagg.Store{Endpoint: "http://" + at}
		got, stats, err := ask(t, "s3://b/x.parquet", nil, all, "", o)
		if err != nil || got != want || stats.Remote.Retries == 0 {
			t.Errorf("%s, want %s; %+v; %v", got, want, stats.Remote, err)
		}
		if again := stats.Remote.Bytes - int64(len(file)); again > 100_000 {
			t.Errorf("%d bytes came twice", again)
		}
	})
	t.Run("replaced", func(t *testing.T) {
		t.Parallel()
		s := newS3(t)
		s.put(t, "x.parquet", file)
		s.before = func(http.ResponseWriter, *http.Request) bool {
			if s.gets.Load() == 2 {
				s.put(t, "x.parquet", changed(file))
			}
			return false
		}
		got, _, err := ask(t, "s3://b/x.parquet", nil, all, "", s.options())
		if !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), "s3://b/x.parquet: ") || !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("%q, %v", got, err)
		}
	})
}
