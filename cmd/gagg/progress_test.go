package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"

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

// The bar goes from bytes read to groups written, never back, and takes no
// line of its own in the end.
func TestBar(t *testing.T) {
	var screen lockedBuffer
	b := startBar(&screen)
	b.Progress(gagg.Progress{BytesDone: 50 << 20, BytesTotal: 100 << 20})
	b.Progress(gagg.Progress{BytesDone: 20 << 20, BytesTotal: 100 << 20}) // late
	waitFor(t, "the bar", screen.shows("reading  50%"))
	b.wrote(7)
	b.wrote(5)
	waitFor(t, "the count of groups", screen.shows("writing (12/-"))
	b.finish()
	b.finish()
	if screen.shows("reading  20%")() || screen.shows("\n")() || !strings.HasSuffix(screen.text.String(), "\r") {
		t.Errorf("%q", screen.text.String())
	}
}

// A run without a bar has nothing to finish.
func TestNoBar(*testing.T) { (*bar)(nil).finish() }
