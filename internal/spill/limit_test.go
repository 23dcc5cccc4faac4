package spill

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/budget"
)

// The limit holds over all files, whoever appends; what is refused takes
// nothing, and a file goes on after it.
func TestLimit(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	s := openSpace(t, Config{Limit: limit})
	var all sync.WaitGroup
	for range 4 {
		f := openFile(t, s)
		all.Go(func() {
			block := behind("hex", 1000)
			for range 40 {
				f.encoder.backoff = 1 // as it is
				if _, err := f.Append(block, 0, 0); err != nil {
					if over := budget.Refusal(err, budget.Disk); over == nil || !errors.Is(err, ErrExhausted) {
						t.Error(err)
					} else if over.Limit != limit || over.Used > limit || over.Want <= limit {
						t.Errorf("%+v", over)
					}
				}
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	const each = 1000 + headerSize
	if want := int64(limit / each * each); s.Used() != want || s.Peak() != want || s.Written() != want {
		t.Errorf("used %d, peak %d, written %d, want %d", s.Used(), s.Peak(), s.Written(), want)
	}
	if want := int64(limit / each * 1000); s.RawBytes() != want {
		t.Errorf("raw %d, want %d", s.RawBytes(), want)
	}
}

// Freed blocks make room within the limit when it is reached, and are gone
// then; closing a file makes room for all that it held.
func TestFreeMakesRoom(t *testing.T) {
	t.Parallel()
	s := openSpace(t, Config{Limit: 1 << 20})
	f := openFile(t, s)
	var extents []Extent
	for i := range 3 {
		block := behind("hex", 300_000)
		block[0] = byte(i)
		e, err := f.Append(block, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		extents = append(extents, e)
	}
	full := s.Used()
	f.Free(extents[1])
	// and a file system that can punch holes, as those of Linux for temporary files do
	if runtime.GOOS == "linux" {
		if _, err := f.Append(behind("hex", 300_000), 0, 0); err != nil {
			t.Fatal(err)
		}
		if s.Used() > 1<<20 || s.Used() < full {
			t.Errorf("%d bytes in use, %d before", s.Used(), full)
		}
		wantDamaged(t, f, extents[1], "freed")
	}
	e, err := f.Append([]byte("after"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read(e, nil); err != nil || string(got) != "after" {
		t.Errorf("%q, %v", got, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f.Free(e) // too late, and nothing
	if s.Used() != 0 || s.Peak() < full {
		t.Errorf("after Close: used %d, peak %d, want 0 and at least %d", s.Used(), s.Peak(), full)
	}
}

// Many goroutines read, prefetch and free while one appends, and the space is
// closed under all of them.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := openSpace(t, Config{})
	f := openFile(t, s)
	block, stride := rowsOf("mixed", 2000)
	extents := make(chan Extent, 1000)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			var dst []byte
			for e := range extents {
				f.Prefetch(e)
				got, err := f.Read(e, dst)
				if errors.Is(err, ErrClosed) {
					continue
				}
				if err != nil || !bytes.Equal(got, block) {
					t.Errorf("%v", err)
				}
				dst = got
				f.Free(e)
			}
		})
	}
	for i := range 300 {
		e, err := f.Append(block, 2000, stride)
		if i < 200 && err != nil || err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err == nil {
			extents <- e
		}
		if i == 200 {
			all.Go(func() { s.Close() })
		}
	}
	close(extents)
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	if s.Used() != 0 {
		t.Errorf("%d bytes in use", s.Used())
	}
}
