package exec

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// A fallback is logged once and counted always.
func TestFallbacks(t *testing.T) {
	var f fallbacks
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { f.add(log, "bucket", "no memory") })
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	f.add(log, "run", "context lost")
	told := f.all()
	if len(told) != 2 || told[0] != (Fallback{"bucket", "no memory", 10}) {
		t.Errorf("%+v", told)
	}
	if n := strings.Count(text.String(), "level=WARN"); n != 2 {
		t.Errorf("%d lines in the log:\n%s", n, text.String())
	}
}
