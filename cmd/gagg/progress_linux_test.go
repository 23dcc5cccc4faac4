package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// shownOn is what a terminal shows in the end on which text was written: text, line ends, and what
// the bar moves the cursor with. Anything else is an error.
func shownOn(text string) (screen string, err error) {
	lines, column := [][]rune{nil}, 0
	for text != "" {
		line := &lines[len(lines)-1]
		if rest, ok := strings.CutPrefix(text, eraseBelow); ok {
			*line, text = (*line)[:min(column, len(*line))], rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\r':
			column = 0
		case r == '\n':
			lines, column = append(lines, nil), 0
		case r < ' ' || r == 0x7f:
			return "", fmt.Errorf("a control character %q", r)
		case column < len(*line):
			(*line)[column] = r
			column++
		default:
			*line = append(*line, r)
			column++
		}
	}
	var all strings.Builder
	for _, line := range lines {
		all.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return all.String(), nil
}

// The screen after a run holds the result, and nothing of the bar; so it does where a pipe's reader
// writes to the same terminal, however long the result is, and behind an error.
func TestBarLeavesNothing(t *testing.T) {
	file := h2oFile(t, 100_000) // its CSV is longer than answerBytes
	for _, args := range [][]string{
		{"-k", "id1", "-a", "sum(v3)", "--order-by", "id1"},
		{"-k", "id1", "-a", "sum(v3)", "--order-by", "id1", "-f", "csv"},
		{"-k", "id1,id2,id3,id6", "-a", "sum(v3)", "--order-by", "id1,id2,id3,id6", "-f", "csv"},
		{"-k", "id1", "-a", "sum(cast(id6 + 2000000000 as int32))"}, // fails while it reads
	} {
		for _, piped := range []bool{false, true} {
			plain := onTerminal(t, 80, piped, append(args, "--progress=never", file)...)
			barred := onTerminal(t, 80, piped, append(args, "--progress=always", file)...)
			if plain == "" || !strings.Contains(barred, "% |") || strings.Contains(plain, eraseBelow) {
				t.Fatalf("%q, piped %v: no trial: %.200q, %.200q", args, piped, plain, barred)
			}
			want, err := shownOn(plain)
			got, err2 := shownOn(barred)
			if err != nil || err2 != nil || got != want {
				t.Errorf("%q, piped %v: %v, %v, %.300q, want %.300q", args, piped, err, err2, got, want)
			}
		}
	}
}

// The bar has no colours, with NO_COLOR or without, fits a narrow terminal, and stays away from one
// that knows nothing of moving the cursor.
func TestBarOfTerminal(t *testing.T) {
	file := h2oFile(t, 150_000)
	args := []string{"-k", "id3", "-a", "sum(v3)", "-f", "none", file}
	for _, width := range []int{40, 80} {
		drawn := onTerminal(t, width, false, append(args, "--progress=always")...) // also of a run that is over soon
		if !strings.Contains(drawn, "% |") {
			t.Fatalf("no bar: %q", drawn)
		}
		for _, frame := range strings.Split(strings.ReplaceAll(drawn, eraseBelow, ""), "\r") {
			if n := utf8.RuneCountInString(frame); n >= width {
				t.Errorf("%d columns: %q has %d", width, frame, n)
			}
		}
		if screen, err := shownOn(drawn); err != nil || screen != "\n" {
			t.Errorf("%d columns: %v, %q", width, err, screen)
		}
	}
	t.Setenv("TERM", "dumb")
	if drawn := onTerminal(t, 80, false, args...); drawn != "" {
		t.Errorf("TERM=dumb: %q", drawn)
	}
	if drawn := onTerminal(t, 80, false, append(args, "--progress=always")...); strings.ContainsAny(drawn, "\x1b█") || !strings.HasPrefix(drawn, "gagg: ") {
		t.Errorf("TERM=dumb, asked for: %q", drawn)
	}
}

// onTerminal is what is written to a terminal of so many columns by gagg as a process of its own;
// piped: what goes to stdout goes there by way of cat.
func onTerminal(t *testing.T, columns int, piped bool, args ...string) string {
	t.Helper()
	terminal, shown := newTerminal(t)
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	c := gaggCommand(t, args...)
	c.Env = append(c.Env, "TERM="+os.Getenv("TERM"), "NO_COLOR=1", "TMPDIR="+t.TempDir())
	c.Stdout, c.Stderr = terminal, terminal
	var cat *exec.Cmd
	if piped {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cat = bounded.Command(t, "cat")
		cat.Stdin, cat.Stdout = r, terminal
		c.Stdout = w
		if err := cat.Start(); err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
	}
	_ = c.Run()
	if piped {
		_ = c.Stdout.(io.Closer).Close()
		_ = cat.Wait()
	}
	return string(bytes.ReplaceAll([]byte(shown()), []byte("\r\r\n"), []byte("\r\n")))
}
