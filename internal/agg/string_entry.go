package agg

import "bytes"

// A string of a chain may be as long as the memory allows, and a run holds many: so a
// string of a run is never read as a whole for a comparison. Of a long one there is the beginning
// in memory, by which most comparisons are settled; what lies behind is read block by block.

// entry is an entry of a chain as it is read.
type entry struct {
	words []uint64 // all of it or, of a string, the words in front of its bytes
	size  int      // bytes of the string
	text  []byte   // these, or some of them from the first on, if it lies in a run
	far   farPlace // where it lies, if in a run
}

// farPlace is where a string begins in a run.
type farPlace struct {
	run run
	at  int // words of the run in front of it
}

// hold makes e what from is, for longer than from is valid.
func (e *entry) hold(from *entry) {
	e.words = append(e.words[:0], from.words...)
	e.size, e.text, e.far = from.size, from.text, from.far
	if e.far.run != nil {
		e.text = nil // it lies in the block that is being read
	}
}

// farReader reads strings of entries in pieces.
type farReader struct {
	from  Runs
	block int // words
	ref   uint64
	buf   []byte // the block of ref; 0: none
	stop  *stop
}

func (l *Layout) farReader(buf []byte, stop *stop) farReader {
	return farReader{from: l.runs, block: l.limits.block / 8, buf: buf, stop: stop}
}

// pieceBytes is the most of a string in memory that is copied or compared between two looks at
// whether the run was cancelled.
const pieceBytes = 1 << 20

// piece returns bytes of the string of e from offset `at` on, which is within it: some. They are
// valid until the next call.
func (r *farReader) piece(e *entry, at int) ([]byte, error) {
	if at < len(e.text) {
		piece := e.text[at:min(len(e.text), at+pieceBytes)]
		return piece, r.stop.after(longWork(len(piece)))
	}
	word := e.far.at + at/8
	refs := e.far.run[runHeader:]
	if word/r.block >= len(refs) {
		return nil, errShortRun
	}
	if err := r.stop.after(r.block); err != nil {
		return nil, err
	}
	if ref := refs[word/r.block]; ref != r.ref {
		block, err := r.from.Read(ref, r.buf)
		if err != nil {
			return nil, err
		}
		r.buf, r.ref = block, ref
	}
	first := 8*(word%r.block) + at%8
	if first >= len(r.buf) {
		return nil, errShortRun
	}
	return r.buf[first:min(len(r.buf), first+e.size-at)], nil
}

// appendTo appends the string of e to dst.
func (r *farReader) appendTo(dst []byte, e *entry) ([]byte, error) {
	return r.appendPart(dst, e, 0, e.size)
}

// appendPart appends the bytes from..to of the string of e to dst.
func (r *farReader) appendPart(dst []byte, e *entry, from, to int) ([]byte, error) {
	for at := from; at < to; {
		piece, err := r.piece(e, at)
		if err != nil {
			return dst, err
		}
		piece = piece[:min(len(piece), to-at)]
		dst = append(dst, piece...)
		at += len(piece)
	}
	return dst, nil
}

// farReaders compare strings.
type farReaders struct{ left, right farReader }

// compare tells the order of the strings of two entries.
func (r *farReaders) compare(a, b *entry) (int, error) {
	least := min(a.size, b.size)
	for at := 0; at < least; {
		x, err := r.left.piece(a, at)
		if err != nil {
			return 0, err
		}
		y, err := r.right.piece(b, at)
		if err != nil {
			return 0, err
		}
		n := min(len(x), len(y))
		if order := bytes.Compare(x[:n], y[:n]); order != 0 {
			return order, nil
		}
		at += n
	}
	return compareInt(int64(a.size), int64(b.size)), nil
}

// direct is the order in which the chain keeps strings that compare so.
func (c *chain) direct(order int) int {
	if c.keep == keepGreatest {
		return -order
	}
	return order
}
