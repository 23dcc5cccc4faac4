package main

import "io"

// holdBytes is how much of an answer is held back before the first byte
// leaves: enough for about a hundred thousand groups, nothing beside the
// tables they were made in.
const holdBytes = 4 << 20

// heldBack keeps an answer back until it is complete or longer than
// holdBytes. A sum that overflows in the last group then leaves no half
// answer in a pipe, where it cannot be taken back; only after a long answer
// has begun can an error still follow it.
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

// release lets the answer go.
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
