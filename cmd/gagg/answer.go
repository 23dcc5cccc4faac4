package main

import "io"

// answerBytes is how much of an answer is buffered before the first byte is written: enough for
// about a hundred thousand groups, and little beside the tables in which they were made.
const answerBytes = 4 << 20

// answerBuffer keeps an answer back until it is complete or longer than answerBytes. So a sum that
// overflows in the last group leaves no half answer in a pipe, where it cannot be taken back. An
// error can follow output only if the answer is long.
type answerBuffer struct {
	out     io.Writer
	bytes   []byte
	flowing bool   // the buffer was written, and so is all that follows
	before  func() // called before the first byte leaves; nil: nothing
}

func (a *answerBuffer) Write(p []byte) (int, error) {
	if !a.flowing && len(a.bytes)+len(p) <= answerBytes {
		a.bytes = append(a.bytes, p...)
		return len(p), nil
	}
	if err := a.flush(); err != nil {
		return 0, err
	}
	return a.out.Write(p)
}

// flush writes the buffer.
func (a *answerBuffer) flush() error {
	if a.flowing {
		return nil
	}
	a.flowing = true
	bytes := a.bytes
	a.bytes = nil
	if a.before != nil {
		a.before()
	}
	if len(bytes) == 0 {
		return nil
	}
	_, err := a.out.Write(bytes)
	return err
}
