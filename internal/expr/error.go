package expr

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a mistake in the text of an expression.
type Error struct {
	Text string // the whole text
	Pos  int    // byte offset of the mistake in Text
	Msg  string
	err  error // what Msg was made of, if anything
}

// Error gives one line: the message and the place, counted in characters
// from 1.
func (e *Error) Error() string {
	pos := min(max(e.Pos, 0), len(e.Text))
	return fmt.Sprintf("%s, at character %d of \"%s\"", e.Msg, utf8.RuneCountInString(e.Text[:pos])+1, oneLine(e.Text))
}

// Unwrap gives the error of the lookup function, if that was the cause.
func (e *Error) Unwrap() error { return e.err }

// OverflowError says that a value does not fit the type of its expression.
type OverflowError struct {
	Text string // canonical text of the operation
	Type string // the type that the value does not fit
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("the value of %s does not fit %s; cast an operand to double or to a wider decimal", oneLine(e.Text), e.Type)
}

// ValueError says that a value met while running cannot be converted, or that what would be made
// of it is too large.
type ValueError struct {
	Text  string // canonical text of the operation
	Value string // the value, as text
	Type  string // the type that it was to become
	Large string // in place of Type: what is too large, and how large it may be
}

func (e *ValueError) Error() string {
	value, more := e.Value, ""
	if len(value) > maxErrorText {
		value, more = value[:maxErrorText], "…"
	}
	if e.Large != "" {
		return fmt.Sprintf("%s: %s, of %q%s", oneLine(e.Text), e.Large, value, more)
	}
	return fmt.Sprintf("%s: cannot convert %q%s to %s", oneLine(e.Text), value, more, e.Type)
}

// DomainError says that a function has no value for a number met while
// running.
type DomainError struct {
	Text  string // canonical text of the call
	Why   string // there is no logarithm of
	Value float64
}

func (e *DomainError) Error() string {
	return fmt.Sprintf("%s: %s %s", oneLine(e.Text), e.Why, textOf(doubleValue(e.Value)))
}

// maxErrorText bounds how much of an expression or value an error line repeats.
const maxErrorText = 200

// oneLine makes text fit for a line of an error message.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > maxErrorText {
		return string(r[:maxErrorText]) + "…"
	}
	return text
}
