package decode

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/kernels"
)

// twin makes the rows of a batch as the kernels do, one value after the
// other, of nothing but its memory and the counts in it.
type twin struct {
	memory  []byte
	pages   []kernels.ParquetPage
	tasks   []kernels.ParquetTask
	outputs []kernels.ParquetOutput
	states  []kernels.ParquetState
	nulls   []kernels.ParquetNull
	fields  []kernels.ParquetField
	arrays  [][]uint64
	null    [][]bool // by output and row
}

// twinRows is the rows of a batch that lies in memory, or why they cannot be
// made.
func twinRows(t testing.TB, p *Batch, memory []byte) (rows []uint64, stop uint64) {
	t.Helper()
	w := &twin{memory: memory[:p.Size()]}
	from := w.memory[p.data:]
	w.pages = take[kernels.ParquetPage](&from, len(p.pages))
	w.tasks = take[kernels.ParquetTask](&from, len(p.tasks))
	w.outputs = take[kernels.ParquetOutput](&from, len(p.plan.Outputs))
	w.states = take[kernels.ParquetState](&from, len(p.plan.States))
	w.nulls = take[kernels.ParquetNull](&from, len(p.plan.Nulls))
	w.fields = take[kernels.ParquetField](&from, len(p.plan.Fields))
	if len(from) != 0 {
		t.Fatalf("%d bytes behind the descriptors", len(from))
	}
	w.arrays = make([][]uint64, p.plan.arrays())
	for i := range w.arrays {
		w.arrays[i] = make([]uint64, p.rows)
	}
	w.null = make([][]bool, len(w.outputs))
	for i := range w.null {
		w.null[i] = make([]bool, p.rows)
	}
	for _, task := range w.tasks {
		stop = max(stop, w.decode(task))
	}
	if stop != 0 {
		return nil, stop
	}
	for r := range p.rows {
		rows = append(rows, w.row(p.plan, r)...)
	}
	return rows, 0
}

// take takes descriptors off b.
func take[T any](b *[]byte, n int) []T {
	out := make([]T, n)
	size := n * int(unsafe.Sizeof(*new(T)))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), size), *b)
	*b = (*b)[size:]
	return out
}

// decode fills the arrays of an output for the rows of a page, and notes which
// of them are NULL.
func (w *twin) decode(t kernels.ParquetTask) (stop uint64) {
	p, o := &w.pages[t.Page], &w.outputs[t.Output]
	values, there, stop := w.values(p)
	if stop != 0 {
		return stop
	}
	var rows []int // of the values
	for r, one := range there {
		if one == 1 {
			rows = append(rows, int(p.First)+r)
			continue
		}
		if o.Nulls == 0 {
			return kernels.ParquetStopNulls
		}
		w.null[t.Output][int(p.First)+r] = true
	}
	if p.Coded == 1 {
		return w.coded(t, o, values, rows)
	}
	if values, stop = plainOf(p, o, values, len(rows)); stop != 0 {
		return stop
	}
	for _, r := range rows {
		n, stop := w.plain(o, values, r)
		if stop != 0 {
			return stop
		}
		values = values[n:]
	}
	return 0
}

// coded fills the arrays of an output for rows of a page of codes.
func (w *twin) coded(t kernels.ParquetTask, o *kernels.ParquetOutput, values []byte, rows []int) (stop uint64) {
	if len(values) == 0 && len(rows) == 0 {
		return 0
	}
	if len(values) == 0 {
		return kernels.ParquetStopDamaged
	}
	runs, width := values[1:], uint(values[0])
	truth := w.pages[t.Page].Encoding == kernels.ParquetTruths
	if truth {
		if len(values) < 4 || uint64(binary.LittleEndian.Uint32(values)) > uint64(len(values)-4) {
			return kernels.ParquetStopDamaged
		}
		runs, width = values[4:4+binary.LittleEndian.Uint32(values)], 1
	}
	codes, ok := expandRuns(runs, width, len(rows), truth)
	if !ok {
		return kernels.ParquetStopDamaged
	}
	for i, c := range codes {
		if c >= t.Count {
			return kernels.ParquetStopDamaged
		}
		for k := range arraysOf(o) {
			at := t.Entries + 8*(uint64(k)*uint64(t.Count)+uint64(c))
			w.arrays[o.Array+k][rows[i]] = binary.LittleEndian.Uint64(w.memory[at:])
		}
	}
	return 0
}

// values is what follows the levels of a page, decompressed, and the levels.
func (w *twin) values(p *kernels.ParquetPage) (values []byte, there []uint32, stop uint64) {
	values = w.memory[p.At:][:p.Bytes]
	levels := []byte(nil)
	if p.Levels != kernels.ParquetSizedLevels {
		levels, values = values[:p.Levels], values[p.Levels:]
	}
	if p.Codec != kernels.ParquetCodecNone {
		out, err := unzipped(p.Codec, values)
		if err != nil || len(out)+len(levels) != int(p.Size) {
			return nil, nil, kernels.ParquetStopDamaged
		}
		values = out
	}
	if p.Levels == kernels.ParquetSizedLevels {
		if len(values) < 4 || uint64(binary.LittleEndian.Uint32(values)) > uint64(len(values)-4) {
			return nil, nil, kernels.ParquetStopDamaged
		}
		n := binary.LittleEndian.Uint32(values)
		levels, values = values[4:4+n], values[4+n:]
	}
	if p.Levels == 0 {
		return values, slices.Repeat([]uint32{1}, int(p.Rows)), 0
	}
	there, ok := expandRuns(levels, 1, int(p.Rows), false)
	if !ok {
		return nil, nil, kernels.ParquetStopDamaged
	}
	return values, there, 0
}

// sizeOf is the bytes of a PLAIN number, or of the length of a string.
func sizeOf(o *kernels.ParquetOutput) int {
	switch o.Physical {
	case kernels.ParquetInt64, kernels.ParquetDouble:
		return 8
	case kernels.ParquetBool:
		return 1
	case kernels.ParquetDecimal, kernels.ParquetBinary:
		return int(o.Width)
	case kernels.ParquetInt96:
		return 12
	}
	return 4
}

// plainOf is the values of a page, of which there are at least n, as PLAIN ones; a boolean in a
// byte.
func plainOf(p *kernels.ParquetPage, o *kernels.ParquetOutput, b []byte, n int) (plain []byte, stop uint64) {
	size := sizeOf(o)
	switch {
	case o.Physical == kernels.ParquetBool:
		for i := range min(n, len(b)*8) {
			plain = append(plain, b[i/8]>>(i%8)&1)
		}
		return plain, 0
	case p.Encoding == kernels.ParquetPlain || len(b) == 0:
		return b, 0
	case p.Encoding == kernels.ParquetDelta:
		values, ok := readDeltas(b, n, int(p.Rows))
		if !ok {
			return nil, kernels.ParquetStopDamaged
		}
		for _, v := range values {
			plain = append(plain, binary.LittleEndian.AppendUint64(nil, uint64(v))[:size]...)
		}
		return plain, 0
	}
	if len(b)%size != 0 || len(b)/size < n {
		return nil, kernels.ParquetStopDamaged
	}
	for i := range n {
		for k := range size {
			plain = append(plain, b[k*(len(b)/size)+i])
		}
	}
	return plain, 0
}

// plain makes the words of the PLAIN value that b begins with, and tells how
// long it is.
func (w *twin) plain(o *kernels.ParquetOutput, b []byte, row int) (n int, stop uint64) {
	n = sizeOf(o)
	if len(b) < n {
		return 0, kernels.ParquetStopDamaged
	}
	if o.Physical == kernels.ParquetBytes {
		size := int64(binary.LittleEndian.Uint32(b))
		switch {
		case size > int64(len(b)-4):
			return 0, kernels.ParquetStopDamaged
		case size > 15:
			return 0, kernels.ParquetStopLong
		}
		var text [16]byte
		copy(text[:15], b[4:4+size])
		text[15] = byte(size)
		lo, hi := binary.LittleEndian.Uint64(text[:]), binary.LittleEndian.Uint64(text[8:])
		w.set(o, row, lo, hi, hashOf(lo, hi))
		return n + int(size), 0
	}
	if o.Physical == kernels.ParquetBinary {
		var text [16]byte
		text[15] = byte(n)
		copy(text[:], b[:n])
		lo, hi := binary.LittleEndian.Uint64(text[:]), binary.LittleEndian.Uint64(text[8:])
		w.set(o, row, lo, hi, hashOf(lo, hi))
		return n, 0
	}
	bits, stop := word(o, b)
	switch {
	case o.Form == kernels.ParquetValue:
		w.set(o, row, bits)
	case o.Words == 4:
		sign := uint64(int64(bits) >> 63)
		w.set(o, row, bits, sign, sign, sign, mum(hashOf(bits, sign)^hashOf(sign, sign), 0xe7037ed1a0b428db))
	default:
		bits = keyBits(o, bits)
		w.set(o, row, bits<<o.Shift, bits)
	}
	return n, stop
}

// hashOf is the field hash of 16 bytes.
func hashOf(lo, hi uint64) uint64 { return mum(lo^0x589965cc75374cc3, hi^0x1d8e4e27c47d124f) }

func (w *twin) set(o *kernels.ParquetOutput, row int, words ...uint64) {
	for k, v := range words {
		w.arrays[int(o.Array)+k][row] = v
	}
}

// word is a number as an int64, or the bits of a float64.
func word(o *kernels.ParquetOutput, b []byte) (bits, stop uint64) {
	var v int64
	switch o.Physical {
	case kernels.ParquetFloat:
		return math.Float64bits(float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), 0
	case kernels.ParquetDouble:
		return binary.LittleEndian.Uint64(b), 0
	case kernels.ParquetInt32:
		v = int64(int32(binary.LittleEndian.Uint32(b)))
	case kernels.ParquetBool:
		v = int64(b[0])
	case kernels.ParquetInt96:
		v = microsOf(b)
	case kernels.ParquetDecimal:
		wide := new(big.Int).SetBytes(b[:o.Width])
		if b[0] >= 0x80 {
			wide.Sub(wide, new(big.Int).Lsh(big.NewInt(1), 8*uint(o.Width)))
		}
		if v = wide.Int64(); !wide.IsInt64() {
			return 0, kernels.ParquetStopRange
		}
	default:
		v = int64(binary.LittleEndian.Uint64(b))
	}
	if o.Mask32 == 1 {
		v &= math.MaxUint32
	}
	if v < o.Lo || v > o.Hi {
		return 0, kernels.ParquetStopRange
	}
	return uint64(v * o.Factor), 0
}

// microsOf is an INT96 in microseconds since 1970, or the nearest that 64 bits hold.
func microsOf(b []byte) int64 {
	days := big.NewInt(int64(int32(binary.LittleEndian.Uint32(b[8:]))) - 2440588)
	micros := big.NewInt(int64(binary.LittleEndian.Uint64(b)) / 1000)
	switch all := micros.Add(micros, days.Mul(days, big.NewInt(86400e6))); {
	case all.IsInt64():
		return all.Int64()
	case all.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// keyBits is a number as a key holds it.
func keyBits(o *kernels.ParquetOutput, b uint64) uint64 {
	if o.Physical != kernels.ParquetFloat && o.Physical != kernels.ParquetDouble {
		return b & (1<<o.Bits - 1)
	}
	f := math.Float64frombits(b)
	switch {
	case f != f:
		f = math.NaN()
	case f == 0:
		f = 0
	}
	if o.Bits == 32 {
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}

// row is a row of the group-by kernels.
func (w *twin) row(plan *Plan, r int) (row []uint64) {
	keys, hash := make([]uint64, plan.KeyWords), uint64(0xa0761d6478bd642f)
	for _, f := range w.fields {
		if w.null[f.Place][r] {
			keys[f.NullWord] |= f.NullBit
			hash = mum(hash^0x8ebc6af09c88c6e3, 0xe7037ed1a0b428db)
			continue
		}
		for k := range f.Words {
			keys[f.Word+k] |= w.arrays[f.Array+k][r]
		}
		hash = mum(hash^w.arrays[f.Array+f.Words][r], 0xe7037ed1a0b428db)
	}
	if plan.HashWords == 1 {
		row = append(row, hash)
	}
	row = append(row, keys...)
	states := len(row)
	for _, s := range w.states {
		switch {
		case s.Word == kernels.ParquetConstant:
			row = append(row, s.Constant)
		case w.null[s.Place][r], s.Other > 0 && w.null[s.Other-1][r]:
			row = append(row, s.Null)
		case s.Word == kernels.ParquetCopy:
			row = append(row, w.arrays[s.Array][r])
		case s.Word == kernels.ParquetProduct:
			row = append(row, w.arrays[s.Array][r]*w.arrays[s.Constant][r])
		case s.Word == kernels.ParquetNot:
			row = append(row, ^w.arrays[s.Array][r])
		case s.Word == kernels.ParquetOrder:
			row = append(row, orderOf(w.arrays[s.Array][r]))
		case s.Word == kernels.ParquetOrderNot:
			row = append(row, ^orderOf(w.arrays[s.Array][r]))
		default:
			row = append(row, math.Float64bits(math.Float64frombits(w.arrays[s.Array][r])+0))
		}
	}
	for _, n := range w.nulls {
		if w.null[n.Place][r] && (n.Unless == 0 || !w.null[n.Unless-1][r]) {
			row[states+int(n.State)] += n.Add
		}
	}
	return row
}

// orderOf is the place of a double in order: NaN last, one zero.
func orderOf(bits uint64) uint64 {
	switch f := math.Float64frombits(bits); {
	case f != f:
		return math.MaxInt64
	case f < 0:
		return bits ^ math.MaxInt64
	case f == 0:
		return 0
	}
	return bits
}

func mum(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// expandRuns expands n small integers of the format's mix of runs. truth: a value but 0 of a run is
// 1.
func expandRuns(b []byte, width uint, n int, truth bool) (out []uint32, ok bool) {
	if width > 32 {
		return nil, false
	}
	if width == 0 {
		return make([]uint32, n), true
	}
	for len(out) < n {
		head, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, false
		}
		b = b[k:]
		count := int(min(head>>1, 1<<31))
		if head&1 == 0 {
			size := int(width+7) / 8
			if len(b) < size {
				return nil, false
			}
			v := little(b[:size], 0, uint(8*size))
			if truth {
				v = min(v, 1)
			}
			if v>>width != 0 {
				return nil, false
			}
			for range min(count, n-len(out)) {
				out = append(out, uint32(v))
			}
			b = b[size:]
			continue
		}
		count = min(count*8, len(b)*8/int(width))
		if count == 0 && head>>1 > 0 {
			return nil, false
		}
		for i := range min(count, n-len(out)) {
			out = append(out, uint32(little(b, uint(i)*width, width)))
		}
		b = b[min(len(b), (count*int(width)+7)/8):]
	}
	return out, true
}

// little is `width` bits of b from bit `at` on.
func little(b []byte, at, width uint) (v uint64) {
	for i := range width {
		v |= uint64(b[(at+i)/8]>>((at+i)%8)&1) << i
	}
	return v
}
