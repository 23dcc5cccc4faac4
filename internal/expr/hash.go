package expr

import (
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/gagg-dev/gagg/internal/column"
)

// hashed binds hash(a, …). The hash of a value is XXH3 of 64 bits, without a seed, of
//
//	integers, booleans, dates, times, timestamps, decimals   the stored integer, 8 bytes, little-endian;
//	                                                         32 bytes where it does not fit into 64 bits
//	floats                                                   the bits of the double; all NaN are one, and both zeros
//	texts, binaries, UUID                                    their bytes
//
// and 0 of NULL. The hash of several values is that of their hashes, 8 bytes each. Files may be
// cut by it, so it is part of the language and never changes.
func hashed(c *call) (*bound, error) {
	parts := make([]*bound, len(c.args))
	for i, a := range c.args {
		h := newConst(column.Value{Type: uint64Type})
		if !isNullConst(a) {
			h = strict(uint64Type, c.n, hashKernel(a.typ), a)
			h = newChoice(uint64Type, &choice{conds: []*bound{isNullOf(h, true)}, thens: []*bound{h}, els: newConst(column.Value{Type: uint64Type})})
		}
		parts[i] = h
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return c.strict(func(f *frame) error {
		var buf []byte
		for i := range f.n {
			buf = buf[:0]
			for _, a := range f.args {
				buf = binary.LittleEndian.AppendUint64(buf, uint64(a.Int[i]))
			}
			f.out.Int[i] = int64(xxh3.Hash(buf))
		}
		return nil
	}, parts...), nil
}

// hashKernel hashes values of type t.
func hashKernel(t column.Type) kernel {
	word := func(bits uint64) int64 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], bits)
		return int64(xxh3.Hash(b[:]))
	}
	switch t.Rep() {
	case column.RepFloat64:
		return func(f *frame) error {
			for i, v := range f.args[0].Float[:f.n] {
				switch {
				case v == 0:
					v = 0
				case v != v:
					v = math.NaN()
				}
				f.out.Int[i] = word(math.Float64bits(v))
			}
			return nil
		}
	case column.RepWide:
		return func(f *frame) error {
			for i, v := range f.args[0].Wide[:f.n] {
				if x, ok := int64Of(v); ok {
					f.out.Int[i] = word(uint64(x))
					continue
				}
				var b [32]byte
				for k, part := range v.Array() {
					binary.LittleEndian.PutUint64(b[8*k:], part)
				}
				f.out.Int[i] = int64(xxh3.Hash(b[:]))
			}
			return nil
		}
	case column.RepBytes:
		return func(f *frame) error {
			for i := range f.n {
				if !f.out.IsNull(i) {
					f.out.Int[i] = int64(xxh3.Hash(f.args[0].Bytes(i)))
				}
			}
			return nil
		}
	}
	return func(f *frame) error {
		for i, v := range f.args[0].Int[:f.n] {
			f.out.Int[i] = word(uint64(v))
		}
		return nil
	}
}

// typeName binds typeof(x): the name that --schema shows.
func typeName(c *call) (*bound, error) { return newConst(stringValue(c.args[0].typ.String())), nil }
