package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/budget"
)

// serve is a server of data; before is asked before each answer, and true has answered.
func serve(t *testing.T, data []byte, before func(n int64, w http.ResponseWriter, r *http.Request) bool) (at string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if n := asked.Add(1) - 1; before == nil || !before(n, w, r) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s.URL + "/x", asked
}

func noise(n int) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// Ranges that are near each other are one request, of no more than its most; all bytes are in one.
func TestCoalesce(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		ranges [][2]int64
		want   string
	}{
		{nil, ""},
		{[][2]int64{{10, 5}, {15, 5}}, "10+10 "},
		{[][2]int64{{nearBytes + 30, 5}, {10, 20}}, fmt.Sprintf("10+%d ", nearBytes+25)},
		{[][2]int64{{10, 20}, {nearBytes + 31, 5}}, fmt.Sprintf("10+20 %d+5 ", nearBytes+31)},
		{[][2]int64{{0, 20 * mib}}, "0+8388608 8388608+8388608 16777216+4194304 "},
		{[][2]int64{{0, 5 * mib}, {5 * mib, 5 * mib}}, "0+8388608 8388608+2097152 "},
		{[][2]int64{{0, 100}, {50, 10}, {60, 100}}, "0+160 "},
		{[][2]int64{{5, 0}}, ""},
	} {
		got := ""
		for _, e := range coalesce(test.ranges) {
			got += fmt.Sprintf("%d+%d ", e.off, e.size)
		}
		if got != test.want {
			t.Errorf("%v: %s, want %s", test.ranges, got, test.want)
		}
	}
}

// What is read is what the server has, in any order, by several readers, whether it was wanted or
// not and whether there is memory to fetch it ahead; all memory is given back.
func TestReadAt(t *testing.T) {
	data := noise(3 << 20)
	for _, limit := range []int64{0, 1 << 20, 1000} {
		at, _ := serve(t, data, nil)
		c := New(Config{Ahead: 2 << 20})
		memory := budget.New(budget.Memory, limit)
		o, whole, err := c.Open(t.Context(), at, memory)
		if err != nil || whole != nil || o.Size() != int64(len(data)) {
			t.Fatal(o, whole, err)
		}
		o.Want(1, [][2]int64{{1000, 500_000}, {2 << 20, 1 << 20}}, true, false)
		o.Want(2, [][2]int64{{700_000, 800_000}}, false, false)
		o.Want(3, [][2]int64{{1_500_000, 100_000}}, true, true)
		var all sync.WaitGroup
		for seed := range uint64(4) {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(seed, 0))
				for range 40 {
					off := rng.IntN(len(data))
					p := make([]byte, 1+rng.IntN(100_000))
					n, err := o.ReadAt(p, int64(off))
					want := data[off:min(off+len(p), len(data))]
					if !bytes.Equal(p[:n], want) || (err != nil) != (n < len(p)) {
						t.Errorf("%d bytes of %d at %d, %v", n, len(want), off, err)
					}
				}
			})
		}
		all.Wait()
		for part := 1; part <= 3; part++ {
			o.Done(part)
		}
		c.Close()
		if memory.Reserved() != 0 || c.ahead != 0 {
			t.Errorf("limit %d: %d bytes not given back, %d ahead", limit, memory.Reserved(), c.ahead)
		}
	}
}

// What is wanted and came with the end of the object is not asked for again: no memory is drawn for
// it, which is what a request begins with.
func TestWantInTail(t *testing.T) {
	data := noise(tailBytes + 1000)
	at, _ := serve(t, data, nil)
	c := New(Config{})
	defer c.Close()
	memory := budget.New(budget.Memory, 0)
	o, _, err := c.Open(t.Context(), at, memory)
	if err != nil {
		t.Fatal(err)
	}
	o.Want(1, [][2]int64{{1000, 500}, {5000, 2000}, {int64(len(data)) - 1, 1}}, true, false)
	if drawn := memory.Reserved(); drawn != tailBytes {
		t.Errorf("%d bytes are drawn, of which the end is %d", drawn, tailBytes)
	}
	o.Want(2, [][2]int64{{900, 500}}, true, false) // 100 bytes of it are not there
	if drawn := memory.Reserved(); drawn != tailBytes+100 {
		t.Errorf("%d bytes are drawn, of which the end is %d", drawn, tailBytes)
	}
	p := make([]byte, 600)
	if _, err := o.ReadAt(p, 850); err != nil || !bytes.Equal(p, data[850:1450]) {
		t.Error(err)
	}
}

// A server that refuses the last bytes of an object with fewer is asked for all of it.
func TestShortObject(t *testing.T) {
	data := noise(1000)
	at, asked := serve(t, data, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		short := strings.HasPrefix(r.Header.Get("Range"), "bytes=-")
		if short {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}
		return short
	})
	c := New(Config{})
	defer c.Close()
	o, _, err := c.Open(t.Context(), at, nil)
	if err != nil || o.Size() != 1000 || asked.Load() != 2 {
		t.Fatal(err, asked.Load())
	}
	p := make([]byte, 1000)
	if _, err := o.ReadAt(p, 0); err != nil || !bytes.Equal(p, data) {
		t.Error(err)
	}
}

// A server that stops in the middle is asked again from there; one that is down for good is an
// error after so many attempts; what a server says of the pause is kept to.
func TestRetries(t *testing.T) {
	data := noise(300_000)
	stalls := func(n int64, w http.ResponseWriter, r *http.Request) bool {
		if n != 1 {
			return false
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-199999/%d", len(data)))
		w.Header().Set("Content-Length", "200000")
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(data[:50_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	at, asked := serve(t, data, stalls)
	c := New(Config{Stall: 100 * time.Millisecond, Backoff: time.Millisecond})
	defer c.Close()
	o, _, err := c.Open(t.Context(), at, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 200_000)
	if _, err := o.ReadAt(p, 0); err != nil || !bytes.Equal(p, data[:len(p)]) || asked.Load() != 3 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
	if s := c.Stats(); s.Requests != 3 || s.Retries != 1 || s.Bytes != int64(tailBytes+len(p)) {
		t.Errorf("%+v", s) // no byte was asked for twice
	}

	down, asked := serve(t, data, func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	c = New(Config{Attempts: 4, Backoff: time.Millisecond})
	if _, _, err := c.Open(t.Context(), down, nil); err == nil || !strings.Contains(err.Error(), "HTTP 503 Service Unavailable (after 4 attempts)") || asked.Load() != 4 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
	busy, _ := serve(t, data, func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, _, err := c.Open(ctx, busy, nil); !errors.Is(err, context.DeadlineExceeded) || c.Stats().Requests != 5 {
		t.Errorf("%v, %+v", err, c.Stats())
	}
}

// An object whose size a listing has told takes one request, whatever it is now; one that is
// another by then, two. What is read is what there is.
func TestListedSize(t *testing.T) {
	for _, size := range []int{1, 1000, tailBytes, tailBytes + 1, 3 * tailBytes} {
		data := noise(size)
		for _, told := range []int{size, size / 2, size + 1, 2 * size, size + 2*tailBytes, 0} {
			at, asked := serve(t, data, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
				if size < tailBytes && r.Header.Get("Range") == fmt.Sprintf("bytes=-%d", tailBytes) {
					w.WriteHeader(http.StatusRequestedRangeNotSatisfiable) // as some servers do
					return true
				}
				return false
			})
			c := New(Config{})
			c.noteSize(at, int64(told))
			o, _, err := c.Open(t.Context(), at, nil)
			if err != nil {
				t.Fatalf("%d bytes, told %d: %v", size, told, err)
			}
			got := make([]byte, min(size, tailBytes))
			if _, err := o.ReadAt(got, int64(size-len(got))); err != nil || o.Size() != int64(size) || !bytes.Equal(got, data[size-len(got):]) {
				t.Errorf("%d bytes, told %d: %d, %v", size, told, o.Size(), err)
			}
			if n := asked.Load(); n > 3 || told == size && n > 1 {
				t.Errorf("%d bytes, told %d: %d requests", size, told, n)
			}
			c.Close()
		}
	}
}

// finder gives other keys each time.
type finder struct {
	n   atomic.Int64
	err error
}

func (f *finder) Keys(context.Context) (Keys, error) {
	return Keys{AccessKey: fmt.Sprintf("key%d", f.n.Add(1)), SecretKey: "s", SessionToken: "t"}, f.err
}

// Each request is signed with the keys that the finder has then, so that a long run outlives them;
// where it has none for it to ask with, the run ends, and the server is not asked.
func TestFinder(t *testing.T) {
	data := noise(3 * tailBytes)
	var signed []string
	at, asked := serve(t, data, func(_ int64, _ http.ResponseWriter, r *http.Request) bool {
		who, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
		signed = append(signed, who+" "+r.Header.Get("X-Amz-Security-Token"))
		return false
	})
	keys := &finder{}
	c := New(Config{Stores: map[string]Store{"s3": {Endpoint: strings.TrimSuffix(at, "/x"), Finder: keys}}})
	defer c.Close()
	o, _, err := c.Open(t.Context(), "s3://b/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.ReadAt(make([]byte, 10), 0); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(signed, ", "); got != "key1 t, key2 t" {
		t.Error(got)
	}
	keys.err = errors.New("no way")
	before := asked.Load()
	if _, err := o.ReadAt(make([]byte, 10), 100); err == nil || err.Error() != "credentials: no way" || keys.n.Load() != 3 || asked.Load() != before {
		t.Errorf("%v, asked for keys %d times", err, keys.n.Load())
	}
}
