package agg

import (
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// view is the rows of a batch that a set of slots looks at: the batch itself,
// or what scratch.gather made of it. It has no NULLs.
type view struct {
	rows int
	gids []uint32 // group of each row; nil in UpdateOne until someone needs it
	args []column.Vector
	pos  []int64

	counts []uint64 // Input.Counts

	few    few      // groups, if they are few
	spread []uint32 // the row of scratch.spread of each row; nil until someone needs it
}

// countOf is how many rows row i stands for.
func (v *view) countOf(i int) uint64 {
	if v.counts == nil {
		return 1
	}
	return v.counts[i]
}

// repeated is how many rows the rows stand for, beside themselves.
func (v *view) repeated() (n int) {
	for _, count := range v.counts {
		n += int(count) - 1
	}
	return n
}

// scratch is working memory of a table. What its methods return is valid
// until the next call of the same method, gather's until the next gather.
type scratch struct {
	isNull      []bool
	sel         []int32
	gids        []uint32
	same        []uint32
	touched     byte // the bytes that touchTails has read, so that the compiler keeps the reads
	pos         []int64
	args        []column.Vector
	keys        []int64
	entries     []uint64 // of chains, one for each row
	recent      [recentValues]uint32
	recentTexts [recentTexts]uint32
	counts      []uint64     // how often each of wins came, of strings that a chain keeps once
	states      []uint64     // rows, or entries, that are made of states
	wins        []int32      // rows of the batch that won against the state
	floats      [2][]float64 // arguments converted to doubles

	few     fewSums
	cut     cutSums
	cutters []cutter  // by word of slots
	aligned []aligned // by argument, of the rows of a set
	adders  []alignedAdder
	spread  spread
}

// grow returns s with n elements, whose values mean nothing.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// gather returns the rows of v that have no NULL in the set, and leaves in
// isNull which rows have one.
func (c *scratch) gather(set *argSet, v *view) view {
	c.isNull = grow(c.isNull, v.rows)
	clear(c.isNull)
	for _, arg := range set.args {
		if null := v.args[arg].Null; null != nil {
			for i, n := range null[:v.rows] {
				c.isNull[i] = c.isNull[i] || n
			}
		}
	}
	c.sel = grow(c.sel, v.rows)
	n := 0
	for i, null := range c.isNull {
		c.sel[n] = int32(i)
		if !null {
			n++
		}
	}
	sel := c.sel[:n]

	out := view{rows: n}
	if v.gids != nil {
		c.gids = pick(c.gids, v.gids, sel)
		out.gids = c.gids
	}
	if v.pos != nil {
		c.pos = pick(c.pos, v.pos, sel)
		out.pos = c.pos
	}
	if len(c.args) < len(v.args) {
		c.args = append(c.args, make([]column.Vector, len(v.args)-len(c.args))...)
	}
	for _, arg := range set.args {
		gatherVector(&c.args[arg], &v.args[arg], sel)
	}
	out.args = c.args
	return out
}

func gatherVector(dst, src *column.Vector, sel []int32) {
	dst.Type, dst.Len, dst.Narrow = src.Type, len(sel), src.Narrow
	switch rep := src.Type.Rep(); {
	case rep == column.RepInt64 || src.Narrow:
		dst.Int = pick(dst.Int, src.Int, sel)
	case rep == column.RepFloat64:
		dst.Float = pick(dst.Float, src.Float, sel)
	case rep == column.RepWide:
		dst.Wide = pick(dst.Wide, src.Wide, sel)
	case rep == column.RepBytes:
		dst.Span, dst.Data = pick(dst.Span, src.Span, sel), src.Data
	}
}

func pick[T int64 | uint32 | float64 | decimal256.Num | column.Span](dst, src []T, sel []int32) []T {
	dst = grow(dst, len(sel))
	for i, s := range sel {
		dst[i] = src[s]
	}
	return dst
}

// repeat returns group n times; n is not 0.
func (c *scratch) repeat(group uint32, n int) []uint32 {
	if len(c.same) < n || c.same[0] != group {
		c.same = grow(c.same, n)
		for i := range c.same {
			c.same[i] = group
		}
	}
	return c.same[:n]
}

// keysOf returns int64 keys that sort like the values of an argument held as
// int64 or float64, with NaN the greatest and -0 equal to 0.
func (c *scratch) keysOf(v *column.Vector) []int64 {
	switch {
	case v.Type.IsFloat():
		c.keys = grow(c.keys, v.Len)
		for i, f := range v.Float[:v.Len] {
			c.keys[i] = floatKey(f)
		}
		return c.keys
	case v.Type.Kind == column.Uint64:
		c.keys = grow(c.keys, v.Len)
		for i, u := range v.Int[:v.Len] {
			c.keys[i] = u ^ math.MinInt64
		}
		return c.keys
	}
	return v.Int[:v.Len]
}

// floatsOf returns the values of a number as doubles, in buffer k of two.
func (c *scratch) floatsOf(k int, v *column.Vector) []float64 {
	vals, buffer := floatsInto(c.floats[k], v)
	c.floats[k] = buffer
	return vals
}

// floatsInto returns the values of a number as doubles, and a buffer that holds them if need be.
func floatsInto(buffer []float64, v *column.Vector) (vals, _ []float64) {
	if v.Type.IsFloat() {
		return v.Float[:v.Len], buffer
	}
	out := grow(buffer, v.Len)
	switch {
	case v.Type.Rep() == column.RepWide:
		for i, n := range v.Wide[:v.Len] {
			out[i] = n.ToFloat64(0)
		}
	case v.Type.Kind == column.Uint64:
		for i, n := range v.Int[:v.Len] {
			out[i] = float64(uint64(n))
		}
	default:
		for i, n := range v.Int[:v.Len] {
			out[i] = float64(n)
		}
	}
	if v.Type.Scale > 0 {
		power := math.Pow10(int(v.Type.Scale))
		for i := range out {
			out[i] /= power
		}
	}
	return out, out
}

// floatKey returns a key that sorts like f. The bits of a positive float sort
// like the float; those of a negative one the other way round.
func floatKey(f float64) int64 {
	k := int64(math.Float64bits(f + 0)) // -0 + 0 = 0
	k ^= int64(uint64(k>>63) >> 1)
	if f != f {
		return math.MaxInt64 // above the key of +Inf
	}
	return k
}

// keyFloat returns the float of a key, NaN in one of its forms.
func keyFloat(k int64) float64 {
	if k == math.MaxInt64 {
		return math.NaN()
	}
	return math.Float64frombits(uint64(k ^ int64(uint64(k>>63)>>1)))
}

// asWords and asSigned are the same numbers without and with sign.

func asWords(s []int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

func asSigned(s []uint64) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
