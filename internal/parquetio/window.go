package parquetio

import "io"

// minWindow is how much of a chunk is read at once where its pages are smaller: enough for a read,
// of some 1 µs, to cost little beside what it copies: 128 KiB take 13 µs at 10 GB/s.
const minWindow = 128 << 10

// A window is the part of a column chunk that is in memory: a chunk may be
// larger than the budget, but no page is decoded before it is here as a
// whole.
//
//	chunk:  taken | data, in memory | left, in the file || over
//
// What was taken stays where it is until the next call of fill.
type window struct {
	r    io.ReaderAt
	mem  buffer
	data []byte // PAD
	next int64  // the place in the file where left begins
	left int64
	over int64 // bytes behind the chunk that may belong to it; see maxOver

	short bool // no more is read than is asked for: pages are passed over

	ask    func(off, n int64) // has the system read ahead (readahead.go); nil: nobody does
	lead   int64              // how far
	asked  int64              // up to this place
	passed int64              // bytes that were skipped and not read
}

// start stands at the beginning of a chunk. Nothing is read yet.
func (w *window) start(at, size, over int64) {
	w.data, w.next, w.left, w.over, w.short = nil, at, size, over, false
}

// hold stands at the beginning of a chunk that is in memory as a whole (PAD).
// The memory is not the window's: it is neither moved nor kept.
func (w *window) hold(chunk []byte) {
	w.start(0, 0, 0)
	w.data = chunk
}

// at is the offset in the file of the next byte.
func (w *window) at() int64 { return w.next - int64(len(w.data)) }

// rest is the bytes of the chunk that were not taken.
func (w *window) rest() int64 { return int64(len(w.data)) + w.left }

// extend takes the bytes behind the chunk for a part of it.
func (w *window) extend() {
	w.left += w.over
	w.over = 0
}

// fill brings n bytes into data, or the whole rest if it is less.
func (w *window) fill(n int64, what string) error {
	n = min(n, w.rest())
	have := len(w.data)
	if n <= int64(have) {
		return nil
	}
	if !w.short { // as much as there is room for, so that small chunks are read at once
		n = min(max(n, minWindow, int64(len(w.mem.b)-padding)), w.rest())
	}
	buf, err := w.mem.move(w.data, int(n), what)
	if err != nil {
		return err
	}
	w.data = buf[:have]
	w.ahead(n - int64(have))
	if err := readAt(w.r, buf[have:], w.next); err != nil {
		return err
	}
	w.data = buf
	w.next += n - int64(have)
	w.left -= n - int64(have)
	return nil
}

// advance returns the first n bytes of data and passes over them.
func (w *window) advance(n int) (b []byte) {
	b, w.data = w.data[:n], w.data[n:]
	return b
}

// read takes the next bytes off the chunk, as many as dst has. Those that are not in memory are
// read to there.
func (w *window) read(dst []byte) error {
	have := copy(dst, w.data)
	w.advance(have)
	if have == len(dst) {
		return nil
	}
	w.ahead(int64(len(dst) - have))
	if err := readAt(w.r, dst[have:], w.next); err != nil {
		return err
	}
	w.next += int64(len(dst) - have)
	w.left -= int64(len(dst) - have)
	return nil
}

// skip skips n bytes of the chunk; those that are not in memory are not read.
func (w *window) skip(n int64) {
	have := min(n, int64(len(w.data)))
	w.advance(int(have))
	w.next += n - have
	w.left -= n - have
	w.passed += n - have
}
