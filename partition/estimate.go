package partition

import (
	"math"
	"math/bits"

	"github.com/axiomhq/hyperloglog"

	"github.com/gagg-dev/gagg/feedback"
)

const (
	// sketchBits gives a sketch 2^12 registers of a byte, which stay in the first-level cache
	// beside a worker's other data, and a standard error of 1.04/sqrt(2^12) = 1.6 %. Many more
	// registers would not help: the rows that were not seen yet are the larger uncertainty.
	sketchBits = 12
	// sampleBits: a sketch takes one in 2^3 hashes, those that end in zeros. They are the same
	// hashes every time, so the number of different ones among them is an eighth of the groups.
	// The library needs 5 ns for a hash, which is too much for each row; the sample takes about 1
	// ns a row. With n groups it adds an error of sqrt(7/n): 3 % at 1e4, and below that the number
	// of partitions hardly depends on n.
	sampleBits = 3
	// sketchDoubt is the share of an estimate that Expected adds to it: two standard errors.
	sketchDoubt = 2 * 1.04 / (1 << (sketchBits / 2))
)

// Sketch estimates the number of different hashes among those it is shown: a
// HyperLogLog. It belongs to one worker while hashes are added.
type Sketch struct {
	registers *hyperloglog.Sketch
	rows      int64
	sample    [512]uint64
}

// NewSketch returns a sketch that has seen nothing.
func NewSketch() *Sketch {
	registers, err := hyperloglog.NewSketch(sketchBits, false)
	if err != nil {
		panic(err) // only sketchBits can be wrong
	}
	return &Sketch{registers: registers}
}

// Add shows the hashes of some rows to the sketch.
func (s *Sketch) Add(hashes []uint64) {
	s.rows += int64(len(hashes))
	for len(hashes) > 0 {
		part := hashes[:min(len(hashes), len(s.sample))]
		hashes = hashes[len(part):]
		// Whether a hash is in the sample cannot be foreseen: a branch for it
		// would cost more than the hash.
		n := 0
		for _, h := range part {
			h = remix(h)
			s.sample[n%len(s.sample)] = h
			n += int((h&(1<<sampleBits-1) - 1) >> 63) // 1 if the bits are zero
		}
		for _, h := range s.sample[:n] {
			s.registers.InsertHash(h)
		}
	}
}

// remix makes each bit of a hash depend on all others. The hash of a single number is one
// multiplication, which is good enough to choose partitions and slots. But of the hashes of
// consecutive numbers up to a fifth end in three zeros, not an eighth.
func remix(hash uint64) uint64 {
	hi, lo := bits.Mul64(hash^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// Merge adds what o has seen; o stays as it is.
func (s *Sketch) Merge(o *Sketch) {
	s.rows += o.rows
	if err := s.registers.Merge(o.registers); err != nil {
		panic(err) // only sketches of different precision do not merge
	}
}

// Rows is how many hashes were added.
func (s *Sketch) Rows() int64 { return s.rows }

// Estimate is about how many different hashes were added.
func (s *Sketch) Estimate() float64 {
	return float64(s.registers.Estimate()) * (1 << sampleBits)
}

// Expected is how many groups an input of total rows is expected to have (total negative: not
// known), if about estimate were found among the first seen rows, and there cannot be more than
// atMost (negative: nobody knows). Expected assumes that the estimate is too low by the error of a
// sketch: too many partitions cost little, too few cost another pass over the rows. It also
// assumes that the rows seen are like the others. If the input is sorted by its keys they are not,
// and there are more groups than expected.
func Expected(estimate float64, seen, total, atMost int64) float64 {
	groups := int64(math.Ceil(min(estimate*(1+sketchDoubt), float64(seen))))
	n := feedback.ExpectedGroups(seen, groups, total)
	if atMost >= 0 {
		n = min(n, float64(atMost))
	}
	return n
}

// AtMost is the greatest possible number of groups; -1: not known. distinct has the greatest
// number of values of each key, NULL included (negative: not known). The dictionaries of a file
// give it if all values of the key are in them. rows is the greatest number of rows (negative: not
// known). Without keys there is one group.
func AtMost(distinct []int64, rows int64) int64 {
	product := 1.0
	for _, d := range distinct {
		if d < 0 {
			product = math.Inf(1)
			break
		}
		product *= float64(d)
	}
	if rows >= 0 {
		product = min(product, float64(rows))
	}
	if product >= unbounded {
		return -1
	}
	return int64(product)
}
