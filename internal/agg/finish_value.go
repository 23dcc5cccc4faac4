package agg

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// extreme writes the results of min and max.
func (f *finisher) extreme() error {
	s := f.slot(0)
	for i, row := range f.groups() {
		w := row[s.hot:]
		switch f.out.Type.Rep() {
		case column.RepInt64:
			f.out.Int[i] = int64(w[0])
			if f.out.Type.Kind == column.Uint64 {
				f.out.Int[i] ^= math.MinInt64
			}
		case column.RepFloat64:
			f.out.Float[i] = math.Float64frombits(w[0]) + 0 // no -0
			if f.out.Float[i] != f.out.Float[i] {
				f.out.Float[i] = math.NaN() // whichever NaN it was
			}
		case column.RepWide:
			f.out.Wide[i] = loadWide(w)
		case column.RepBytes:
			if err := f.setBytes(i, w[1]); err != nil {
				return err
			}
		}
		if !f.seen(row) {
			f.setNull(i)
		}
	}
	return nil
}

// setBytes makes the value of ref result i.
func (f *finisher) setBytes(i int, ref uint64) error {
	var b []byte
	if ref != 0 {
		b = f.reg.Get(ref)
	}
	return f.setText(i, b)
}

// setText makes b result i.
func (f *finisher) setText(i int, b []byte) error {
	off := len(f.out.Data)
	if err := f.checkRoom(off + len(b)); err != nil {
		return err
	}
	f.out.Span[i] = column.Span{Off: uint32(off), Len: uint32(len(b))}
	f.out.Data = append(f.out.Data, b...)
	return nil
}

// bits writes the results of bit_* and bool_*.
func (f *finisher) bits() {
	s := f.slot(0)
	mask := int64(-1)
	if f.out.Type.Kind == column.Bool {
		mask = 1 // bool_and begins with all bits set
	}
	for i, row := range f.groups() {
		f.out.Int[i] = int64(row[s.hot]) & mask
		if !f.seen(row) {
			f.setNull(i)
		}
	}
}
