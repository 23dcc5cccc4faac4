package sink

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// tableBar is the bars of a table: a last column with a bar for each number of another column, in
// proportion to the largest of those that are drawn together. Where some of these are negative
// there is a line for zero, and the bars of negative numbers are on its left. NULL and NaN have
// none.
type tableBar struct {
	column  int
	numbers []float64 // of the rows that wait
	largest float64   // from 0 on
	least   float64   // to 0
}

// The terminal columns of bars: as many as there are; how few they may become on a narrow terminal
// before texts give way; and after that, before there are none.
const (
	barWidth  = 20
	fairWidth = 6
	thinWidth = 2
)

// newTableBar is the bars of the column of that name; nil if the name is empty. The error says
// why there can be none.
func newTableBar(fields []column.Field, name string) (*tableBar, error) {
	if name == "" {
		return nil, nil
	}
	for _, same := range []func(string) bool{
		func(s string) bool { return s == name },
		func(s string) bool { return strings.EqualFold(s, name) },
	} {
		i := slices.IndexFunc(fields, func(f column.Field) bool { return same(f.Name) })
		if i < 0 {
			continue
		}
		if form, _ := formOf(fields[i].Type); form != number && form != float {
			return nil, columnErrorf("no bars of column %q: its values are no numbers, but of type %s", fields[i].Name, fields[i].Type)
		}
		return &tableBar{column: i}, nil
	}
	return nil, columnErrorf("no bars of column %q: the result does not have it", name)
}

// add notes the number of a row, of which text is shown.
func (b *tableBar) add(text string) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) {
		x = 0
	}
	b.numbers = append(b.numbers, x)
	b.largest, b.least = max(b.largest, x), min(b.least, x)
}

// bar is the bar of a row, in so many terminal columns.
func (b *tableBar) bar(row, width int) string {
	if width == 0 {
		return ""
	}
	if b.least == 0 {
		return rightBar(share(b.numbers[row], b.largest) * float64(width))
	}
	zero := b.zero(width)
	left, right := float64(zero), float64(width-1-zero)
	x := b.numbers[row]
	// One scale on both sides, that of the side with less room for its numbers.
	if l, r := left/-b.least, right/b.largest; b.largest > 0 && l < r {
		right = max(b.largest*l, 0)
	} else if b.largest > 0 && r < l {
		left = -b.least * r
	}
	return leftBar(share(min(x, 0), b.least)*left, zero) + "│" + rightBar(share(max(x, 0), b.largest)*right)
}

// zero is the place of the line for zero: as far from either side as the numbers there ask for.
func (b *tableBar) zero(width int) int {
	if b.largest == 0 || width <= thinWidth {
		return width - 1
	}
	left := share(-b.least/2, b.largest/2-b.least/2)
	return min(max(int(math.Round(left*float64(width-1))), 1), width-2)
}

// share is the part that x is of a whole of the same sign, from 0 to 1.
func share(x, whole float64) float64 {
	switch {
	case x == 0:
		return 0
	case math.IsInf(x, 0):
		return 1
	}
	return x / whole
}

// leftBar is a bar of some characters that ends at the right of its place, by halves of one: there
// are no others of those.
func leftBar(length float64, width int) string {
	halves := int(math.Round(length * 2))
	bar := strings.Repeat("▐", halves%2) + strings.Repeat("█", halves/2)
	return strings.Repeat(" ", width-utf8.RuneCountInString(bar)) + bar
}

// rightBar is a bar of some characters from the left on, by eighths of one.
func rightBar(length float64) string {
	eighths := int(math.Round(length * 8))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string('█' + rune(8-rest)) // ▉ to ▏ follow in Unicode
	}
	return bar
}

// reset forgets the rows that were drawn.
func (b *tableBar) reset() { b.numbers, b.largest, b.least = b.numbers[:0], 0, 0 }
