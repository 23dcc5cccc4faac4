package datagen

import (
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Shape is a table of a key k and a value v that is hard on an engine under a
// memory limit:
//
//	Kind      k                                v                          Groups
//	wide      string of Width bytes            int64 0..999               Rows/2
//	zipf      int64, of Groups, Zipf 1.5       int64 0..999               Rows
//	one       int64, always the same           double 0..100, six places  1
//	distinct  int64                            int64, no two the same     1
//	text      int64                            string of Width bytes      Rows/1000
//
// The keys of wide, distinct and text come equally often, spread over the
// whole table. A key of zipf is its rank, scrambled; those of the highest ranks
// may not come at all. The strings of wide do not compress; the texts are
// words.
type Shape struct {
	Kind   string
	Rows   int64
	Groups int64 // number of different keys; 0: as above
	Width  int   // bytes of a string; 0: 200 for wide, 100 for text
	Seed   uint64
}

// shapeKinds is what Kind may be, with the default of Rows/Groups (0: one
// group) and of Width (0: no strings).
var shapeKinds = map[string]struct{ perGroup, width int64 }{
	"wide": {2, 200}, "zipf": {1, 0}, "one": {0, 0}, "distinct": {0, 0}, "text": {1000, 100},
}

// shapePrefix is what all keys of wide begin with, so that comparing the
// first bytes of two keys does not tell them apart.
const shapePrefix = "/shop/orders/2024/item/"

// settled is s with its defaults, or an error that says what is wrong.
func (s Shape) settled() (Shape, error) {
	kind, ok := shapeKinds[s.Kind]
	if !ok {
		return s, fmt.Errorf("there is no kind %q; want wide, zipf, one, distinct or text", s.Kind)
	}
	if s.Groups == 0 {
		s.Groups = 1
		if kind.perGroup > 0 {
			s.Groups = max(s.Rows/kind.perGroup, 1)
		}
	}
	if s.Width == 0 {
		s.Width = int(kind.width)
	}
	switch {
	case s.Rows < 0 || s.Groups < 0 || s.Width < 0:
		return s, fmt.Errorf("rows, groups and width may not be negative")
	case s.Kind == "one" && s.Groups != 1:
		return s, fmt.Errorf("the kind one has one group, not %d", s.Groups)
	case s.Kind != "zipf" && s.Groups > max(s.Rows, 1):
		return s, fmt.Errorf("%d groups want as many rows, not %d", s.Groups, s.Rows)
	case s.Kind == "wide" && s.Width < len(shapePrefix)+20:
		return s, fmt.Errorf("keys of the kind wide have %d bytes or more, not %d", len(shapePrefix)+20, s.Width)
	}
	return s, nil
}

// WriteParquet writes the table as one file: Snappy, row groups of 122,880
// rows, pages of 4 MiB, optional columns, no dictionaries. It uses all
// processors; memory does not grow with Rows.
func (s Shape) WriteParquet(w io.Writer) error {
	s, err := s.settled()
	if err == nil {
		err = writeLikeDuckDB(w, s.schema(), s.Rows, s.fill)
	}
	if err != nil {
		return fmt.Errorf("writing data of shape %s: %w", s.Kind, err)
	}
	return nil
}

func (s Shape) schema() *parquet.Schema {
	key, value := parquet.Int(64), parquet.Int(64)
	switch s.Kind {
	case "wide":
		key = parquet.String()
	case "one":
		value = parquet.Leaf(parquet.DoubleType)
	case "text":
		value = parquet.String()
	}
	return parquet.NewSchema("shape", parquet.Group{"k": plain(key), "v": plain(value)})
}

// fill writes row group g, each column from a generator of its own.
func (s Shape) fill(g int, columns []*parquet.ColumnWriter) error {
	for c, draw := range []func(*rand.Rand, uint64) func() parquet.Value{s.drawKey, s.drawValue} {
		rng := rand.New(rand.NewPCG(s.Seed, uint64(g)<<8|uint64(c)))
		if err := writeDrawn(columns[c], c, rowsOf(g, s.Rows), draw(rng, uint64(g)*duckRowGroup)); err != nil {
			return err
		}
	}
	return nil
}

// drawKey draws the keys from a row on.
func (s Shape) drawKey(rng *rand.Rand, row uint64) func() parquet.Value {
	switch s.Kind {
	case "zipf":
		rank := rand.NewZipf(rng, 1.5, 1, uint64(s.Groups-1))
		return func() parquet.Value { return parquet.Int64Value(int64(scramble(rank.Uint64()))) }
	case "wide":
		next := s.spread(row)
		return s.drawStrings(func(b []byte) { fillKey(b, s.Seed, next()) })
	}
	next := s.spread(row)
	return func() parquet.Value { return parquet.Int64Value(int64(next())) }
}

// drawValue draws the values from a row on.
func (s Shape) drawValue(rng *rand.Rand, row uint64) func() parquet.Value {
	switch s.Kind {
	case "one": // a quotient of integers is the double nearest to the six places
		return func() parquet.Value { return parquet.DoubleValue(float64(rng.Int32N(1e8+1)) / 1e6) }
	case "distinct":
		return func() parquet.Value {
			row++
			return parquet.Int64Value(int64(scramble(row ^ s.Seed)))
		}
	case "text":
		return s.drawStrings(func(b []byte) { fillText(b, rng) })
	}
	return func() parquet.Value { return parquet.Int64Value(rng.Int64N(1000)) }
}

// spread counts the groups of the rows from row on. Rows are renumbered by
// multiplication with a number that has no divisor in common with their
// number, and neighbors in that order share a group.
func (s Shape) spread(row uint64) func() uint64 {
	rows, groups := uint64(s.Rows), uint64(s.Groups)
	factor := uint64(float64(rows) * 0.6180339887)
	for factor = max(factor, 1); gcd(factor, rows) != 1; {
		factor++
	}
	return func() uint64 {
		high, low := bits.Mul64(row, factor)
		number := bits.Rem64(high, low, rows)
		high, low = bits.Mul64(number, groups)
		group, _ := bits.Div64(high, low, rows)
		row++
		return group
	}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// drawStrings draws strings that fill writes. The bytes live until drawChunk
// more values were drawn.
func (s Shape) drawStrings(fill func([]byte)) func() parquet.Value {
	buf := make([]byte, s.Width*drawChunk)
	next := 0
	return func() parquet.Value {
		b := buf[s.Width*next : s.Width*(next+1)]
		next = (next + 1) % drawChunk
		fill(b)
		return parquet.ByteArrayValue(b)
	}
}

// fillKey writes the key of a group: letters that Snappy finds nothing in.
func fillKey(b []byte, seed, group uint64) {
	const letters = "abcdefghijklmnopqrstuvwxyz012345"
	rng := rand.NewPCG(seed, group)
	rest := b[copy(b, shapePrefix):]
	for chunk := range slices.Chunk(rest, 12) {
		five := rng.Uint64()
		for i := range chunk {
			chunk[i] = letters[five%32]
			five /= 32
		}
	}
}

// fillText writes words.
func fillText(b []byte, rng *rand.Rand) {
	for len(b) > 0 {
		b = b[copy(b, shapeWords[rng.IntN(len(shapeWords))]):]
	}
}

// shapeWords end with a space, but for the last one. None of them holds '|', which separates values
// in the benchmark of string_agg.
var shapeWords = strings.SplitAfter("the of and to in that it was his with as for had is not but at on her be "+
	"by which have from this him all whale boat captain deck harpoon voyage mast ocean harbor sailor leviathan", " ")

// scramble is a bijection on 64 bits (the finalizer of SplitMix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
