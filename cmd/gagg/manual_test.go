package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/bounded"
)

func manualPage(t *testing.T) string {
	t.Helper()
	var page bytes.Buffer
	if err := writeManual(&page, flagSet(&settings{}), "2026-01-02"); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// The manual page has every flag, aggregate, function and exit status, and no request but those
// that it means.
func TestManual(t *testing.T) {
	page := manualPage(t)
	var names []string
	for _, flag := range flagNames(flagSet(&settings{})) {
		names = append(names, `\fB`+roff("--"+flag)+`\fR`)
	}
	for _, a := range gagg.Aggregates() {
		names = append(names, `\fB`+roff(a.Signature)+`\fR`)
	}
	for _, fn := range gagg.Functions() {
		names = append(names, `\fB`+roff(fn.Signature)+`\fR`)
	}
	for _, name := range append(names, `\fB141\fR`, `gagg \-k`, "GAGG_MEMORY_LIMIT") {
		if !strings.Contains(page, name) {
			t.Errorf("no %s", name)
		}
	}
	for line := range strings.Lines(page) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if (line[0] == '.' || line[0] == '\'') && !slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi"}, request) {
			t.Errorf("a request that is none: %s", line)
		}
	}
	if want, got := `\&.x`, (&manual{}).made(".x"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func (m *manual) made(line string) string {
	m.line(line)
	return strings.TrimSpace(m.text.String())
}

// The tools that format manual pages report no mistake.
func TestManualLint(t *testing.T) {
	for _, args := range [][]string{{"mandoc", "-Tlint"}, {"groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-z"}} {
		t.Run(args[0], func(t *testing.T) {
			path, err := exec.LookPath(args[0])
			if err != nil {
				t.Skip("no " + args[0])
			}
			c := bounded.Command(t, path, args[1:]...)
			c.Stdin = strings.NewReader(manualPage(t))
			if told, err := c.CombinedOutput(); err != nil || len(told) > 0 {
				t.Errorf("%v: %s", err, told)
			}
		})
	}
}
