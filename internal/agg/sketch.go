package agg

import (
	"math"
	"slices"

	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"

	"github.com/gagg-dev/gagg/internal/column"
)

// approx_count_distinct keeps a hash of each value, and of more than
// exactHashes distinct ones only what a HyperLogLog with 2^14 registers needs:
// for each register the hash that sets it. So up to exactHashes values are
// counted exactly, but for hashes that collide, and more with a standard error
// of 0.8 %; and the result does not depend on the order of rows and merges.
//
// approx_quantile keeps one value of each bucket and how many fell into it. A
// bucket is what doubles share in sign, exponent and the upper 8 bits of the
// mantissa: the buckets of a DDSketch whose logarithm is interpolated
// linearly. The value that is kept is the least that came, so that the result
// is a value of the group and lies within 1/256 of the exact quantile,
// relative to it.

const (
	hashPrecision = 14
	exactHashes   = 4096

	bucketShift = 52 - 8
)

// Words of keepHashes are hashes with the upper bit flipped, so that they sort
// as signed numbers.
const (
	hashFlip = 1 << 63
	dropped  = hashFlip // hash 0, which no value has: others were dropped
)

// hashesOf returns the word of keepHashes for each value.
func (c *scratch) hashesOf(v *column.Vector) []int64 {
	if r := v.Type.Rep(); r == column.RepInt64 || r == column.RepFloat64 {
		keys := c.keysOf(v)
		c.keys = grow(c.keys, len(keys))
		for i, k := range keys {
			c.keys[i] = hashWord(mix(uint64(k)))
		}
		return c.keys
	}
	c.keys = grow(c.keys, v.Len)
	for i := range c.keys {
		if v.Type.Rep() == column.RepWide {
			w := v.Wide[i].Array()
			c.keys[i] = hashWord(xxh3.Hash(bytesOf(w[:])))
		} else {
			c.keys[i] = hashWord(xxh3.Hash(v.Bytes(i)))
		}
	}
	return c.keys
}

func hashWord(h uint64) int64 {
	return int64(min(max(h, 1), math.MaxUint64-1) ^ hashFlip)
}

// mix is the finalizer of MurmurHash3: each bit of x changes half of the bits
// of the result.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// reduceHashes keeps each hash once, and of more than exactHashes distinct
// ones the least for each register, which is the one that sets it.
func (w *workspace) reduceHashes(c *chain, words []uint64) []uint64 {
	if !slices.Contains(words, dropped) {
		if words = w.dedupe(c, words); len(words) <= exactHashes {
			return words
		}
	}
	w.regs = grow(w.regs, 1<<hashPrecision)
	for i := range w.regs {
		w.regs[i] = math.MaxUint64
	}
	for _, x := range words {
		if x != dropped {
			r := &w.regs[(x^hashFlip)>>(64-hashPrecision)]
			*r = min(*r, x^hashFlip)
		}
	}
	w.out = append(w.out[:0], dropped)
	for _, h := range w.regs {
		if h != math.MaxUint64 {
			w.out = append(w.out, h^hashFlip)
		}
	}
	return w.out
}

// approxDistinct writes the results of approx_count_distinct. Chains of hashes
// are short: those of several runs, too, fit the workspace.
func (f *finisher) approxDistinct() error {
	var all []uint64
	for i, row := range f.groups() {
		k := linkOf(f.slot(0), row)
		if f.inMemory(k) && k.entries(f.reg, &f.work.stop) <= f.limits.piece { // in any order
			f.out.Int[i] = f.work.countHashes(k.chain, f.work.gather(k, f.reg))
			continue
		}
		all = all[:0]
		if err := f.eachEntry(k, func(e *entry) error { all = append(all, e.words[0]); return nil }); err != nil {
			return err
		}
		f.out.Int[i] = f.work.countHashes(k.chain, all)
	}
	return nil
}

func (w *workspace) countHashes(c *chain, words []uint64) int64 {
	words = w.reduceHashes(c, words)
	if !slices.Contains(words, dropped) {
		return int64(len(words))
	}
	sketch := hyperloglog.NewNoSparse()
	for _, x := range words {
		if x != dropped {
			sketch.InsertHash(x ^ hashFlip)
		}
	}
	return int64(sketch.Estimate())
}

// bucket is the bucket of an entry of keepBuckets.
func (c *chain) bucket(e []uint64) int64 {
	var f float64
	switch key := int64(e[c.value]); {
	case c.typ.Rep() == column.RepWide:
		f = loadWide(e[c.value:]).ToFloat64(0)
	case c.typ.IsFloat():
		f = keyFloat(key)
	case c.typ.Kind == column.Uint64:
		f = float64(uint64(key ^ math.MinInt64))
	default:
		f = float64(key)
	}
	if f != f {
		return math.MaxInt64
	}
	return int64(math.Float64bits(f)) >> bucketShift
}
