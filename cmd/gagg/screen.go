package main

import (
	"io"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/gagg-dev/gagg/internal/sink"
)

// screen writes text to a terminal. Names and values are not trusted: an escape sequence in them
// could colour the screen, change what is on it, or make the terminal send input. So everything
// except text, line ends and tabs is shown as an escape, in all formats. Files and pipes get the
// text unchanged.
//
// The text is UTF-8. A write may end within a character.
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

// described is a writer with a file descriptor: an *os.File.
type described interface{ Fd() uintptr }

// visible is w, or a screen on w if it is a terminal.
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
