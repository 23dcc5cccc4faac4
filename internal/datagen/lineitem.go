package datagen

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/parquet-go/parquet-go"
)

// Lineitem is the table lineitem of TPC-H, at the scale of Rows/6e6: its 16
// columns with the types and distributions of the specification (4.2.3), from
// other random numbers than dbgen's. Orders have one to seven lines, each number
// equally often among seven orders in a row, so that the lines of an order are
// known by their row alone. Comments are words instead of dbgen's grammar.
//
// The layout is DuckDB's, like that of H2O.
type Lineitem struct {
	Rows int64
	Seed uint64
}

const (
	linesOfSeven = 28     // 1 + 2 + … + 7
	firstOrder   = 8035   // 1992-01-01
	lastOrder    = 10440  // 1998-08-02
	currentDate  = 9298   // 1995-06-17
	rowsAt1      = 6e6    // of lineitem at scale 1
	partsAt1     = 200000 // at scale 1
	suppliersAt1 = 10000
)

// WriteParquet writes the table as one file. It uses all processors; memory
// does not grow with Rows.
func (l Lineitem) WriteParquet(w io.Writer) error {
	lines := func(g int) []line { return l.lines(int64(g)*duckRowGroup, rowsOf(g, l.Rows)) }
	if err := writeRows(w, "lineitem", l.Rows, lineColumns(), lines); err != nil {
		return fmt.Errorf("writing %d lines of TPC-H data: %w", l.Rows, err)
	}
	return nil
}

// line is a row of Lineitem.
type line struct {
	order, part, supplier              int64
	number, quantity                   int32
	price                              int64 // cents, of one
	discount, tax                      int32 // hundredths
	shipped, committed, received       int32 // days since 1970
	returned, instruct, mode, comments uint64
}

// lines makes n rows from row low on.
func (l Lineitem) lines(low int64, n int) []line {
	parts, suppliers := l.scaled(partsAt1), l.scaled(suppliersAt1)
	out := make([]line, 0, n)
	for seven := low / linesOfSeven; len(out) < n; seven++ {
		row := seven * linesOfSeven
		rng := rand.New(rand.NewPCG(l.Seed, uint64(seven)))
		for i, more := range rng.Perm(7) {
			order := seven*7 + int64(i)
			ordered := int32(firstOrder + rng.IntN(lastOrder-firstOrder+1))
			for number := range int32(more + 1) {
				made := newLine(rng, ordered, parts, suppliers)
				made.order, made.number = order/8*32+order%8+1, number+1
				if row >= low && len(out) < n {
					out = append(out, made)
				}
				row++
			}
		}
	}
	return out
}

// scaled is how many there are of what there are at1 of at scale 1.
func (l Lineitem) scaled(at1 int64) int64 {
	return max(int64(float64(at1)*float64(l.Rows)/rowsAt1), 1)
}

// newLine draws a line of an order of that day.
func newLine(rng *rand.Rand, ordered int32, parts, suppliers int64) line {
	part := 1 + rng.Int64N(parts)
	shipped := ordered + 1 + rng.Int32N(121)
	return line{
		part:      part,
		supplier:  (part+rng.Int64N(4)*(suppliers/4+(part-1)/suppliers))%suppliers + 1,
		quantity:  1 + rng.Int32N(50),
		price:     90000 + part/10%20001 + 100*(part%1000),
		discount:  rng.Int32N(11),
		tax:       rng.Int32N(9),
		shipped:   shipped,
		committed: ordered + 30 + rng.Int32N(61),
		received:  shipped + 1 + rng.Int32N(30),
		returned:  rng.Uint64N(2),
		instruct:  rng.Uint64N(4),
		mode:      rng.Uint64N(7),
		comments:  rng.Uint64(),
	}
}

var (
	instructs = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	modes     = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
)

// lineColumns is the columns in alphabetical order, as the schema has them.
func lineColumns() []rowColumn[line] {
	money := func() parquet.Node { return parquet.Decimal(2, 15, parquet.Int64Type) }
	text := func(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }
	return []rowColumn[line]{
		{"l_comment", parquet.String(), true, func(l *line) parquet.Value {
			draw := draws{l.comments}
			return parquet.ByteArrayValue(appendWords(nil, &draw, latin, ' ', 10+int(draw.below(30))))
		}},
		{"l_commitdate", parquet.Date(), false, func(l *line) parquet.Value { return parquet.Int32Value(l.committed) }},
		{"l_discount", money(), false, func(l *line) parquet.Value { return parquet.Int64Value(int64(l.discount)) }},
		{"l_extendedprice", money(), true, func(l *line) parquet.Value { return parquet.Int64Value(int64(l.quantity) * l.price) }},
		{"l_linenumber", parquet.Int(32), false, func(l *line) parquet.Value { return parquet.Int32Value(l.number) }},
		{"l_linestatus", parquet.String(), false, func(l *line) parquet.Value {
			if l.shipped > currentDate {
				return text("O")
			}
			return text("F")
		}},
		{"l_orderkey", parquet.Int(64), true, func(l *line) parquet.Value { return parquet.Int64Value(l.order) }},
		{"l_partkey", parquet.Int(64), true, func(l *line) parquet.Value { return parquet.Int64Value(l.part) }},
		{"l_quantity", money(), false, func(l *line) parquet.Value { return parquet.Int64Value(int64(l.quantity) * 100) }},
		{"l_receiptdate", parquet.Date(), false, func(l *line) parquet.Value { return parquet.Int32Value(l.received) }},
		{"l_returnflag", parquet.String(), false, func(l *line) parquet.Value {
			if l.received > currentDate {
				return text("N")
			}
			return text("RA"[l.returned : l.returned+1])
		}},
		{"l_shipdate", parquet.Date(), false, func(l *line) parquet.Value { return parquet.Int32Value(l.shipped) }},
		{"l_shipinstruct", parquet.String(), false, func(l *line) parquet.Value { return text(instructs[l.instruct]) }},
		{"l_shipmode", parquet.String(), false, func(l *line) parquet.Value { return text(modes[l.mode]) }},
		{"l_suppkey", parquet.Int(64), true, func(l *line) parquet.Value { return parquet.Int64Value(l.supplier) }},
		{"l_tax", money(), false, func(l *line) parquet.Value { return parquet.Int64Value(int64(l.tax)) }},
	}
}
