package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sys/unix"
)

// evil is text that a terminal would act on: it sets the title and colours,
// asks the terminal for an answer, moves the cursor (ESC, and CSI in one
// character), rings, and turns the reading direction.
const evil = "\x1b]0;title\x07\x1b[31mred\x1b[6n\x1b[2J\u009b5A\a\b\rover\u202egnp"

// What a command says on a terminal is text: whatever names and values hold,
// nothing that the terminal would act on reaches it, in any format.
func TestNothingRawOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := writeEvil("evil.parquet"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(evil+".parquet", []byte("no"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"TERM=dumb"} // a terminal, but without a bar
	query := []string{"-k", "#1", "-a", "count(*)"}
	for _, args := range [][]string{
		{"--schema"},
		{"--schema", "-f", "json"},
		append(query, "--explain"),
		append(query, "--explain=json"),
		append(query, "-v"),
		append(query, "--stats"),
		append(query, "-f", "csv", "-o", "/dev/tty"),
		{"-k", "nowhere"},
		{"-k", evil},
		{"-k", "cast(#1 as int64) as x"},
		{"-k", "#1", "-o", evil + "/x.csv"},
		{"--" + evil},
		append(query, evil+".parquet"),
		append(query, evil),
		{"--devices"},
	} {
		expectNothingRaw(t, append(args, "evil.parquet"), env)
	}
	for _, format := range []string{"csv", "tsv", "json", "ndjson", "markdown", "table"} {
		shown := expectNothingRaw(t, append(query, "-f", format, "evil.parquet"), env)
		if !strings.Contains(shown, "[31mred") || !strings.Contains(shown, "u202egnp") {
			t.Errorf("%s does not show the value: %q", format, shown)
		}
	}
	for _, format := range []string{"parquet", "arrow"} {
		if shown := expectNothingRaw(t, append(query, "-f", format, "evil.parquet"), env); !strings.Contains(shown, "stdout is a terminal") {
			t.Errorf("%s on a terminal: %q", format, shown)
		}
	}
}

// In a pipe the same values are what they are.
func TestRawInPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := writeEvil("evil.parquet"); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"-k", "#1", "evil.parquet"}, nil, nil, &stdout, &stderr); status != statusDone || strings.Count(stdout.String(), evil) != 2 {
		t.Errorf("status %d, %q, %s", status, stdout.String(), stderr.String())
	}
}

// A character that comes in two pieces is one.
func TestScreenCutCharacters(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out}
	for _, b := range []byte("aü\u009b€𝄞\xff\xe2x") {
		if _, err := s.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "aü\\u009b€𝄞\\xFF\\xE2x"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// writeEvil writes a file whose only column is called evil and holds it.
func writeEvil(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := parquet.NewWriter(f, parquet.NewSchema("t", parquet.Group{evil: parquet.String()}))
	if _, err := w.WriteRows([]parquet.Row{{parquet.ByteArrayValue([]byte(evil)).Level(0, 0, 0)}}); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

// expectNothingRaw runs gagg with a terminal for stdout and stderr, and returns
// what that shows.
func expectNothingRaw(t *testing.T, args, env []string) string {
	t.Helper()
	terminal, shown := newTerminal(t)
	for i, a := range args {
		if a == "/dev/tty" { // which is the terminal of the session, if there is one
			args[i] = terminal.Name()
		}
	}
	run(t.Context(), args, env, nil, terminal, terminal)
	text := shown()
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") { // the terminal's own
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("gagg %q shows %q", args, text)
			break
		}
	}
	if text == "" {
		t.Errorf("gagg %q shows nothing", args)
	}
	return text
}

// newTerminal is a terminal, and a function that ends it and returns the text that was written to
// it.
func newTerminal(t *testing.T) (terminal *os.File, shown func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	terminal, err = os.OpenFile(filepath.Join("/dev/pts", fmt.Sprint(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	var text bytes.Buffer
	var reading sync.WaitGroup
	// ends with an error when the terminal is closed
	reading.Go(func() { _, _ = text.ReadFrom(master) })
	return terminal, func() string {
		_ = terminal.Close()
		reading.Wait()
		return text.String()
	}
}
