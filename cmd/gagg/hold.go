package main

import "io"

// holdBytes is how much of an answer is held back before the first byte is written: enough for
// about a hundred thousand groups, and little beside the tables in which they were made.
const holdBytes = 4 << 20

// heldBack keeps an answer back until it is complete or longer than holdBytes. So a sum that
// overflows in the last group leaves no half answer in a pipe, where it cannot be taken back. An
// error can follow output only if the answer is long.
type heldBack struct {
	out     io.Writer
	held    []byte
	flowing bool   // what was held has gone out, and so does all that follows
	before  func() // called before the first byte leaves; nil: nothing
}

func (h *heldBack) Write(p []byte) (int, error) {
	if !h.flowing && len(h.held)+len(p) <= holdBytes {
		h.held = append(h.held, p...)
		return len(p), nil
	}
	if err := h.release(); err != nil {
		return 0, err
	}
	return h.out.Write(p)
}

// release writes the answer.
func (h *heldBack) release() error {
	if h.flowing {
		return nil
	}
	h.flowing = true
	held := h.held
	h.held = nil
	if h.before != nil {
		h.before()
	}
	if len(held) == 0 {
		return nil
	}
	_, err := h.out.Write(held)
	return err
}
