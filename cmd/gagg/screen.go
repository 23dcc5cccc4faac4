package main

import (
	"io"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/gagg-dev/gagg/internal/sink"
)

// screen writes text to a terminal. Names and values come from strangers, and
// an escape sequence in them could colour the screen, change what stands on it
// already, or have the terminal answer as if somebody typed. So whatever is
// more than text, line ends and tabs is shown as an escape, in all formats; into
// files and pipes it goes as it is.
//
// All that is written is UTF-8 in the end; a character may be cut in two.
type screen struct {
	out  io.Writer
	rest []byte // the beginning of a character
}

func (s *screen) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= i
			}
			break
		}
	}
	_, err := s.out.Write(sink.AppendVisible(nil, text[:whole], "\n\t"))
	s.rest = append([]byte(nil), text[whole:]...)
	return len(p), err
}

// described is what has a descriptor: an *os.File.
type described interface{ Fd() uintptr }

// visible is w, by way of a screen if it is a terminal.
func visible(w io.Writer) io.Writer {
	if f, ok := w.(described); ok && term.IsTerminal(int(f.Fd())) {
		return &screen{out: w}
	}
	return w
}

func isScreen(w io.Writer) bool {
	_, is := w.(*screen)
	return is
}

// visibleFile is the same of an output that was named, such as /dev/tty.
func visibleFile(f *sink.File) (w io.Writer, terminal bool) {
	if fd, ok := f.Fd(); ok && term.IsTerminal(int(fd)) {
		return &screen{out: f}, true
	}
	return f, false
}
