package sink

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// tableBar is the bars of a table: a last column with a bar for each number of another column, in
// proportion to the largest of those that are drawn together. Numbers that are not positive, NULL
// and NaN have none.
type tableBar struct {
	column  int
	numbers []float64 // of the rows that wait
	largest float64
}

// barWidth is how many terminal columns the longest bar takes.
const barWidth = 20

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
	b.largest = max(b.largest, x)
}

// bar is the bar of a row, by eighths of a character.
func (b *tableBar) bar(row int) string {
	x := b.numbers[row]
	if x <= 0 {
		return ""
	}
	share := x / b.largest
	if math.IsInf(x, 1) {
		share = 1
	}
	eighths := int(math.Round(share * barWidth * 8))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string('█' + rune(8-rest)) // ▉ to ▏ follow in Unicode
	}
	return bar
}

// reset forgets the rows that were drawn.
func (b *tableBar) reset() { b.numbers, b.largest = b.numbers[:0], 0 }
