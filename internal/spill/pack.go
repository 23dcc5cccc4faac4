package spill

import (
	"encoding/binary"
	"math/bits"
)

const (
	// frameRows is how many rows are packed with the same masks: few, so that
	// one large value widens a few rows only and a frame stays in the first
	// levels of the cache; enough that 16 bytes a column do not count.
	frameRows = 512

	// maxLane is the most bits of a lane that may begin in the middle of a
	// byte: 8 bytes hold them and the 7 bits before.
	maxLane = 57

	// loosest is how many constant bits a lane keeps rather than gathering
	// the others around them, which takes several times as long.
	loosest = 4

	// slack is how many bytes beyond the packed rows are read, and written
	// back as they were.
	slack = 8

	columnSize = 16 // bytes of a column in the head of a frame: base and mask
)

// lane is how one column of a frame is packed.
type lane struct {
	base uint64 // the bits outside mask, the same in all rows
	mask uint64 // the bits that are packed
	bit  uint   // where the lane begins in a packed row
}

// width is the bits of the lane in a packed row.
func (l *lane) width() int {
	if n := bits.OnesCount64(l.mask); n <= maxLane {
		return n
	}
	return 64
}

// frame is how the rows of a frame are packed.
type frame struct {
	lanes []lane
	bytes int // of a packed row
}

// place gives each lane its place in the row: whole words first, so that
// they are aligned to bytes.
func (f *frame) place() {
	var bit int
	for _, whole := range []bool{true, false} {
		for i := range f.lanes {
			l := &f.lanes[i]
			if w := l.width(); (w == 64) == whole {
				l.bit = uint(bit)
				bit += w
			}
		}
	}
	f.bytes = (bit + 7) / 8
}

// survey finds the bits that differ among the rows.
func (f *frame) survey(rows []byte, stride int) {
	f.lanes = f.lanes[:0]
	for c := range stride {
		first := binary.LittleEndian.Uint64(rows[c*8:])
		var differ uint64
		for p := c * 8; p+8 <= len(rows); p += stride * 8 {
			differ |= binary.LittleEndian.Uint64(rows[p:]) ^ first
		}
		mask := loosen(differ)
		f.lanes = append(f.lanes, lane{base: first &^ mask, mask: mask})
	}
	f.place()
}

// loosen returns a mask that is quicker to pack and at most loosest bits
// wider.
func loosen(mask uint64) uint64 {
	if mask == 0 {
		return 0
	}
	n := bits.OnesCount64(mask)
	if n > maxLane {
		return ^uint64(0)
	}
	low, high := bits.TrailingZeros64(mask), bits.Len64(mask)
	if span := high - low; span <= min(n+loosest, maxLane) {
		return (uint64(1)<<span - 1) << low
	}
	return mask
}

// size returns the bytes that n rows take, packed.
func (f *frame) size(n int) int { return len(f.lanes)*columnSize + n*f.bytes }

// pack appends a frame to dst, whose capacity must hold it and slack.
func (f *frame) pack(dst, rows []byte) []byte {
	for i := range f.lanes {
		dst = binary.LittleEndian.AppendUint64(dst, f.lanes[i].base)
		dst = binary.LittleEndian.AppendUint64(dst, f.lanes[i].mask)
	}
	stride := len(f.lanes)
	n := len(rows) / (stride * 8)
	begin := len(dst)
	dst = dst[:begin+n*f.bytes]
	out := dst[begin : len(dst)+slack]
	clear(out)
	for c := range f.lanes {
		if f.lanes[c].mask != 0 {
			f.lanes[c].pack(out, rows[c*8:], f.bytes, stride*8, n)
		}
	}
	return dst
}

// pack puts n values that lie step apart in rows into out, width apart.
func (l *lane) pack(out, rows []byte, width, step, n int) {
	p, shift := int(l.bit/8), l.bit%8
	le := binary.LittleEndian
	if low := uint(bits.TrailingZeros64(l.mask)); isRun(l.mask >> low) {
		mask := l.mask
		for i := 0; n > 0; n-- {
			x := (le.Uint64(rows[i:]) & mask) >> (low & 63) << (shift & 63)
			o := out[p:]
			le.PutUint64(o, le.Uint64(o)|x)
			i += step
			p += width
		}
		return
	}
	g := gatherOf(l.mask)
	for i := 0; n > 0; n-- {
		x := g.gather(le.Uint64(rows[i:])) << (shift & 63)
		o := out[p:]
		le.PutUint64(o, le.Uint64(o)|x)
		i += step
		p += width
	}
}

// unpack is the reverse of pack.
func (l *lane) unpack(rows, in []byte, width, step, n int) {
	p, shift := int(l.bit/8), l.bit%8
	base, mask := l.base, l.mask
	le := binary.LittleEndian
	if mask == 0 {
		for i := 0; n > 0; n-- {
			le.PutUint64(rows[i:], base)
			i += step
		}
		return
	}
	if low := uint(bits.TrailingZeros64(mask)); isRun(mask >> low) {
		for i := 0; n > 0; n-- {
			x := le.Uint64(in[p:]) >> (shift & 63) << (low & 63) & mask
			le.PutUint64(rows[i:], x|base)
			i += step
			p += width
		}
		return
	}
	g := gatherOf(mask)
	for i := 0; n > 0; n-- {
		x := le.Uint64(in[p:]) >> (shift & 63)
		le.PutUint64(rows[i:], g.scatter(x)|base)
		i += step
		p += width
	}
}

// isRun reports whether m is 0…01…1.
func isRun(m uint64) bool { return m&(m+1) == 0 }

// gather is a mask made ready for moving its bits together.
type gather struct {
	mask uint64
	move [6]uint64 // the bits that move by 1, 2, 4 … 32, after the moves before
}

// gatherOf is the preparation of "compress" in H. S. Warren, Hacker's
// Delight, 2nd edition, 7-4: a bit moves by the number of zeros of the mask
// below it, one binary digit of that number at a time.
func gatherOf(mask uint64) gather {
	g := gather{mask: mask}
	m, zeros := mask, ^mask<<1
	for i := range g.move {
		odd := zeros // each bit: whether an odd number of zeros is below
		for s := 1; s < 64; s *= 2 {
			odd ^= odd << s
		}
		g.move[i] = odd & m
		m = m ^ g.move[i] | g.move[i]>>(1<<i)
		zeros &^= odd
	}
	return g
}

// gather moves the bits of x within the mask together, to the low end.
func (g *gather) gather(x uint64) uint64 {
	x &= g.mask
	t := x & g.move[0]
	x = x ^ t | t>>1
	t = x & g.move[1]
	x = x ^ t | t>>2
	t = x & g.move[2]
	x = x ^ t | t>>4
	t = x & g.move[3]
	x = x ^ t | t>>8
	t = x & g.move[4]
	x = x ^ t | t>>16
	t = x & g.move[5]
	return x ^ t | t>>32
}

// scatter is the reverse of gather; bits of x beyond those are ignored.
func (g *gather) scatter(x uint64) uint64 {
	x = x&^g.move[5] | x<<32&g.move[5]
	x = x&^g.move[4] | x<<16&g.move[4]
	x = x&^g.move[3] | x<<8&g.move[3]
	x = x&^g.move[2] | x<<4&g.move[2]
	x = x&^g.move[1] | x<<2&g.move[1]
	x = x&^g.move[0] | x<<1&g.move[0]
	return x & g.mask
}

// packRows appends the packed rows to dst, whose capacity must hold limit
// bytes more and slack. It reports false if they would take more; it is then
// quick: it stops as soon as the rows so far take a frame more than their
// share of the limit.
func (f *frame) packRows(dst, rows []byte, stride, limit int) ([]byte, bool) {
	begin, step := len(dst), frameRows*stride*8
	for done := 0; done < len(rows); {
		part := rows[done:min(done+step, len(rows))]
		done += len(part)
		f.survey(part, stride)
		share := int(float64(limit)*float64(done)/float64(len(rows))) + step
		if len(dst)-begin+f.size(len(part)/(stride*8)) > min(share, limit) {
			return dst[:begin], false
		}
		dst = f.pack(dst, part)
	}
	return dst, true
}

// unpackRows fills rows with what packRows made of them. in goes slack bytes
// beyond its end in capacity. It reports whether in is packed rows at all,
// of just this number.
func (f *frame) unpackRows(rows, in []byte, stride int) bool {
	for len(rows) > 0 {
		part := rows[:min(frameRows*stride*8, len(rows))]
		n := len(part) / (stride * 8)
		if !f.head(in, stride) || len(in) < f.size(n) {
			return false
		}
		packed := in[stride*columnSize : f.size(n)+slack] // beyond len(in): see above
		for c := range f.lanes {
			f.lanes[c].unpack(part[c*8:], packed, f.bytes, stride*8, n)
		}
		in, rows = in[f.size(n):], rows[len(part):]
	}
	return len(in) == 0
}

// head reads the lanes at the beginning of a frame.
func (f *frame) head(in []byte, stride int) bool {
	if len(in) < stride*columnSize {
		return false
	}
	f.lanes = f.lanes[:0]
	for c := range stride {
		base := binary.LittleEndian.Uint64(in[c*columnSize:])
		mask := binary.LittleEndian.Uint64(in[c*columnSize+8:])
		f.lanes = append(f.lanes, lane{base: base, mask: mask})
	}
	f.place()
	return true
}
