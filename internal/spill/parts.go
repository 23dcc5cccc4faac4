package spill

import "errors"

// This file writes and reads a large block in parts, so that neither takes a buffer of its size.
//
// A part is a block by itself, with the header of one but for the magic. The parts of a block lie
// side by side, and its extent covers them all. A writer that has the values of a block one after
// the other appends them as they come.

const (
	// mostWhole is the most bytes of a block without parts, and of a part: a usual block and a
	// value behind it, or the longest row.
	mostWhole = 8 << 16
	// PartBytes is about how many bytes a part should have at most.
	PartBytes = 256 << 10
)

var errPartsApart = errors.New("spill: something was appended between the parts of a block")

// AppendPart writes a part, as Append does a block, and adds it to the extent of its block, which
// is zero before the first part. Nothing else is appended to the file before the last part. Read
// returns the bytes of all parts. After an error the parts that were written stay on disk until
// the file is closed.
func (f *File) AppendPart(e *Extent, part []byte, rows, stride int) error {
	if err := checkShape(int(e.Raw)+len(part), rows, stride); err != nil {
		return err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.addPart(e, part, rows, stride)
}

// addPart is AppendPart with f.writing held.
func (f *File) addPart(e *Extent, part []byte, rows, stride int) error {
	p, err := f.append(part, rows, stride, true)
	if err != nil {
		return err
	}
	switch {
	case e.Stored == 0:
		e.Off = p.Off
		f.mu.Lock()
		f.list(1)
		f.mu.Unlock()
	case p.Off != e.Off+int64(e.Stored):
		return errPartsApart
	}
	e.Stored += p.Stored
	e.Raw += p.Raw
	return nil
}

// appendParts is Append of a large block.
func (f *File) appendParts(block []byte, rows, stride int) (e Extent, err error) {
	for each := max(PartBytes/8/max(stride, 1), 1); rows > 0; {
		n := min(rows, each)
		if err := f.addPart(&e, block[:n*stride*8], n, stride); err != nil {
			return e, err
		}
		rows, block = rows-n, block[n*stride*8:]
	}
	for len(block) > 0 {
		n := min(len(block), PartBytes)
		if err := f.addPart(&e, block[:n], 0, 0); err != nil {
			return e, err
		}
		block = block[n:]
	}
	return e, nil
}

// readParts reads a block of parts, the header of the first of which has been read.
func (f *File) readParts(r *reader, e Extent, dst []byte) error {
	for off, end := e.Off, e.Off+int64(e.Stored); ; {
		h := parse(r.head[:])
		if !h.part || off+int64(h.stored) > end || int(h.raw) > min(len(dst), mostWhole) {
			return f.damaged(h, "a part of it")
		}
		if err := f.readPayload(r, Extent{Off: off, Stored: h.stored, Raw: h.raw}, dst[:h.raw]); err != nil {
			return err
		}
		dst, off = dst[h.raw:], off+int64(h.stored)
		if off == end {
			break
		}
		if err := f.readAll(r.head[:], off); err != nil {
			return err
		}
	}
	if len(dst) > 0 {
		return f.damaged(parse(r.head[:]), "its parts")
	}
	return nil
}
