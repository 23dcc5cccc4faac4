package extsort

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/gagg-dev/gagg/internal/spill"
)

// diskRun is sorted rows on disk.
type diskRun struct {
	blocks  []spill.Extent // in order
	largest int            // bytes of the largest block
	widest  int            // bytes of the values of the widest row
	sample  []byte         // the beginning of a key
	shared  int            // bytes of it that all keys begin with
}

// mostSample is how many bytes of keys are compared to find their common beginning.
const mostSample = 64

// note counts a row in.
func (d *diskRun) note(r row) {
	d.widest = max(d.widest, r.valueBytes())
	key := r.key()
	if d.sample == nil {
		d.sample = append([]byte{}, key[:min(len(key), mostSample)]...)
		d.shared = len(d.sample)
	}
	d.shared = common(d.sample, key, min(d.shared, len(key)))
}

// The values of a far row are pieces in blocks of their own: it has their
// extents in place of values.
const pieceSize = 16

func pieces(rest []byte) int { return len(rest) / pieceSize }

func piece(rest []byte, i int) spill.Extent {
	b := rest[i*pieceSize:]
	return spill.Extent{
		Off:    int64(binary.LittleEndian.Uint64(b)),
		Stored: binary.LittleEndian.Uint32(b[8:]),
		Raw:    binary.LittleEndian.Uint32(b[12:]),
	}
}

func putPiece(dst []byte, e spill.Extent) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.Off))
	dst = binary.LittleEndian.AppendUint32(dst, e.Stored)
	return binary.LittleEndian.AppendUint32(dst, e.Raw)
}

// putFar writes the values of r to disk and appends the rest of the row to dst.
// dst may be r[:0]: the reference to a value is no longer than the value.
func putFar(ctx context.Context, dst []byte, r row, file *spill.File, most int) ([]byte, error) {
	begin := len(dst)
	dst = append(dst, r[:rowHeader+r.keyLen()]...)
	for v := r.rest(); len(v) > 0; {
		if ctx.Err() != nil {
			return dst, context.Cause(ctx)
		}
		n := min(len(v), most)
		e, err := file.Append(v[:n], 0, 0)
		if err != nil {
			return dst, err
		}
		dst = putPiece(dst, e)
		v = v[n:]
	}
	far := row(dst[begin:])
	far.setHeader(len(far), r.keyLen()|farBit)
	return dst, nil
}

// getFar reads the values of a far row into dst, and frees them on disk.
func getFar(ctx context.Context, dst []byte, r row, file *spill.File) ([]byte, error) {
	dst = slices.Grow(dst, r.valueBytes())
	rest := r.rest()
	for i := range pieces(rest) {
		if ctx.Err() != nil {
			return dst, context.Cause(ctx)
		}
		e := piece(rest, i)
		at := len(dst)
		if i+1 < pieces(rest) {
			file.Prefetch(piece(rest, i+1))
		}
		if _, err := file.Read(e, dst[at:at:cap(dst)]); err != nil {
			return dst, err
		}
		dst = dst[:at+int(e.Raw)]
		file.Free(e)
	}
	return dst, nil
}

// runWriter writes rows, which come in order, as a run.
type runWriter struct {
	file  *spill.File
	block []byte // being filled
	run   diskRun
}

// add writes a row. It is copied.
func (w *runWriter) add(ctx context.Context, r row) error {
	w.run.note(r)
	size := r.len()
	far := !r.far() && size-rowHeader-r.keyLen() > cap(w.block)/farShare
	if far {
		size = rowHeader + r.keyLen() + pieceSize*((len(r.rest())+cap(w.block)-1)/cap(w.block))
	}
	if len(w.block)+size > cap(w.block) {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	switch {
	case far && size <= cap(w.block):
		var err error
		w.block, err = putFar(ctx, w.block, r, w.file, cap(w.block))
		return err
	case far:
		small, err := putFar(ctx, nil, r, w.file, cap(w.block))
		if err != nil {
			return err
		}
		return w.write(small)
	case size > cap(w.block):
		return w.write(r[:size])
	}
	w.block = append(w.block, r[:size]...)
	return nil
}

// flush writes the block.
func (w *runWriter) flush(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(w.block) == 0 {
		return nil
	}
	b := w.block
	w.block = w.block[:0]
	return w.write(b)
}

func (w *runWriter) write(b []byte) error {
	e, err := w.file.Append(b, 0, 0)
	if err != nil {
		return err
	}
	w.run.blocks = append(w.run.blocks, e)
	w.run.largest = max(w.run.largest, len(b))
	return nil
}
