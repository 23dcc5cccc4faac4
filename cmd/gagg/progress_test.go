package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gagg-dev/gagg"
)

// lockedBuffer is a terminal that a test can look at while it is drawn on.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) shows(want string) func() bool {
	return func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return strings.Contains(b.text.String(), want)
	}
}

// onScreen is the view of a terminal of so many columns.
func onScreen(columns int) view {
	return view{width: func() int { return columns }, front: func() bool { return true }}
}

// The bar goes from reading to merging to writing, never back, and leaves nothing in the end.
func TestBar(t *testing.T) {
	var screen lockedBuffer
	b := startBar(&screen, onScreen(80), estimator{threads: 1})
	waitFor(t, "the bar", screen.shows("opening, 0:00"))
	b.Progress(gagg.Progress{BytesDone: 50e6, BytesTotal: 100e6})
	b.Progress(gagg.Progress{BytesDone: 20e6, BytesTotal: 100e6}) // late
	waitFor(t, "the bar", screen.shows("reading 50 MB of 100 MB, 0:0"))
	b.Progress(gagg.Progress{Phase: gagg.PhaseOutput, BytesDone: 100e6, BytesTotal: 100e6, Partitions: 8, PartitionsMerged: 3})
	waitFor(t, "merging", screen.shows("merging 3 of 8"))
	b.Progress(gagg.Progress{Phase: gagg.PhaseOutput, Partitions: 8, PartitionsMerged: 8, GroupsTotal: 20, Groups: 12})
	waitFor(t, "writing", screen.shows("writing 12 of 20 groups"))
	b.finish()
	b.finish()
	if screen.shows("20 MB")() || screen.shows("\n")() || !strings.HasSuffix(screen.text.String(), "\r"+eraseBelow) {
		t.Errorf("%q", screen.text.String())
	}
}

// A run that is over soon has no bar, and does not wait for one.
func TestBarDelay(t *testing.T) {
	var screen lockedBuffer
	v := onScreen(80)
	v.delay = time.Hour
	b := startBar(&screen, v, estimator{threads: 1})
	b.Progress(gagg.Progress{BytesDone: 50e6, BytesTotal: 100e6})
	b.finish()
	if screen.text.Len() > 0 {
		t.Errorf("%q", screen.text.String())
	}
	v.delay = time.Millisecond
	b = startBar(&screen, v, estimator{threads: 1})
	waitFor(t, "the bar", screen.shows("opening, 0:00"))
	b.finish()
}

// A run without a bar has nothing to finish, and logs as it is.
func TestNoBar(t *testing.T) {
	wrote := false
	(*bar)(nil).finish()
	(*bar)(nil).wide(nil)
	(*bar)(nil).beside(func() { wrote = true })
	if !wrote {
		t.Error("nothing was written")
	}
}

// still is a bar that only the test draws.
func still(w *bytes.Buffer, v view) *bar {
	return &bar{w: w, view: v, after: estimator{threads: 2}, since: time.Unix(0, 0)}
}

// A line of the log is not glued to the bar.
func TestLogBesideBar(t *testing.T) {
	var screen bytes.Buffer
	b := still(&screen, onScreen(80))
	b.beat(time.Unix(5, 0))
	c := &command{}
	c.bar = b
	screen.Reset()
	_, _ = beside{&screen, c}.Write([]byte("a warning\n"))
	_, _ = beside{&screen, c}.Write([]byte("another\n"))
	if got, want := screen.String(), "\r"+eraseBelow+"a warning\nanother\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The clock goes on though the run tells nothing, and there is a rate only when there was time for
// one.
func TestClock(t *testing.T) {
	var screen bytes.Buffer
	b := still(&screen, onScreen(120))
	b.Progress(gagg.Progress{BytesDone: 280e6, BytesTotal: 2800e6})
	for _, c := range []struct {
		seconds int64
		want    string
	}{
		{1, "reading 280 MB of 2.8 GB, 0:01"},
		{10, "reading 280 MB of 2.8 GB, 0:10 of about 1:40, 28 MB/s"},
		{20, "reading 280 MB of 2.8 GB, 0:20 of about 3:20, 14 MB/s"},
	} {
		screen.Reset()
		b.beat(time.Unix(c.seconds, 0))
		text := screen.String()[strings.LastIndex(screen.String(), "|  ")+3:]
		if text != c.want+eraseBelow+"\r" {
			t.Errorf("after %d s: %q, want %q", c.seconds, screen.String(), c.want)
		}
	}
}

// In the background the terminal is the shell's, and a narrow terminal gets what there is room for:
// no frame is as wide as it, where the cursor would go to the next line.
func TestBarFits(t *testing.T) {
	s := status{
		reported: true, elapsed: 3700 * time.Second, total: 7400 * time.Second,
		now: gagg.Progress{Phase: gagg.PhaseOutput, Partitions: 4096, PartitionsMerged: 1234, BytesSpilled: 123e9},
	}
	for width, want := range map[int]string{
		120: "merging 1234 of 4096, 1:01:40 of about 2:03:20, 123 GB spilled",
		80:  "merging 1234 of 4096, 1:01:40 of about 2:03:20, 123 GB spilled",
		72:  "merging 1234 of 4096, 1:01:40 of about 2:03:20",
		44:  "merging 1:01:40/2:03:20",
		40:  "1:01:40/2:03:20",
		20:  "1:01:40",
	} {
		got := frame(s, 0.5, width-1, false)
		if n := utf8.RuneCountInString(got); n >= width || !strings.HasSuffix(got, want) {
			t.Errorf("%d columns: %q, of %d", width, got, n)
		}
	}
	if got := frame(s, 0.5, 79, true); strings.ContainsFunc(got, func(r rune) bool { return r > 126 }) || !strings.Contains(got, "50% [==") {
		t.Errorf("without UTF-8: %q", got)
	}
	var screen bytes.Buffer
	b := still(&screen, view{width: onScreen(80).width, front: func() bool { return false }})
	b.beat(time.Unix(5, 0))
	if screen.Len() > 0 {
		t.Errorf("in the background: %q", screen.String())
	}
}

// Elsewhere than on a terminal there are lines, of text alone.
func TestLines(t *testing.T) {
	var log bytes.Buffer
	b := still(&log, view{})
	b.beat(time.Unix(0, 0))
	b.Progress(gagg.Progress{BytesDone: 1e6, BytesTotal: 4e6})
	for s := range int64(12) {
		b.beat(time.Unix(s+1, 0))
	}
	b.clear()
	want := "gagg: opening, 0:00\n" +
		"gagg: reading 1.0 MB of 4.0 MB, 0:01\n" +
		"gagg: reading 1.0 MB of 4.0 MB, 0:11 of about 0:44, 91 kB/s\n"
	if got := log.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSpeaksUTF8(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want bool
	}{
		{nil, true},
		{[]string{"LANG=C"}, false},
		{[]string{"LANG=C", "LC_ALL=de_DE.UTF-8"}, true},
		{[]string{"LANG=C.utf8", "LC_ALL="}, true},
		{[]string{"LANG=en_US.UTF-8", "LC_CTYPE=POSIX"}, false},
	} {
		if got := speaksUTF8(c.env); got != c.want {
			t.Errorf("%q: %v", c.env, got)
		}
	}
}
