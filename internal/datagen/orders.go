package datagen

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/parquet-go/parquet-go"
)

// Rows of Orders, and of each of its row groups.
const (
	ordersRows     = 12000
	ordersRowGroup = 4000
)

// product is an article and its list price in cents.
type product struct {
	name  string
	price int32
}

var (
	orderRegions  = []string{"Africa", "Americas", "Asia", "Europe", "Oceania"}
	orderProducts = []product{
		{"anvil", 12900},
		{"bellows", 4550},
		{"chisel", 1895},
		{"drill", 8999},
		{"epoxy", 1249},
		{"file", 975},
		{"gauge", 3400},
		{"hammer", 2499},
		{"insulating tape", 349},
		{"jigsaw", 11950},
		{"knife", 1575},
		{"ladder", 15900},
		{"mallet", 1990},
		{"nails, 1 kg", 629},
		{"oilstone", 2250},
		{"pliers", 1799},
		{"quick clamp", 2150},
		{"rasp", 1399},
		{"saw", 2750},
		{"tongs", 1849},
	}
)

// WriteOrders writes testdata/orders.parquet, the file of the README: the
// orders of the year 2024 of a shop for tools, in the order of their time.
//
//	region      string         5 values
//	customer    string         "C0001".., few of whom buy most (Zipf)
//	product     string         20 values
//	quantity    int32          1..12
//	price       decimal(8,2)   of one piece, within 10 % of the list price
//	ordered_at  timestamp[us]  ascending, so that --where skips row groups
//	discount    double         0.05, 0.1 or 0.2; NULL for most orders
func WriteOrders(w io.Writer) error {
	file := parquet.NewGenericWriter[any](w, ordersSchema(),
		parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(ordersRowGroup),
		parquet.CreatedBy("gagg", "orders", "")) // the default differs between builds
	err := writeRowGroups(file, ordersRows/ordersRowGroup, 1, fillOrders)
	if err != nil {
		return fmt.Errorf("writing orders: %w", err)
	}
	return file.Close()
}

func ordersSchema() *parquet.Schema {
	dict := func(n parquet.Node) parquet.Node { return parquet.Encoded(n, &parquet.RLEDictionary) }
	return parquet.NewSchema("orders", orderedGroup{fields: []parquet.Field{
		orderedField{dict(parquet.String()), "region"},
		orderedField{dict(parquet.String()), "customer"},
		orderedField{dict(parquet.String()), "product"},
		orderedField{dict(parquet.Int(32)), "quantity"},
		orderedField{parquet.Decimal(2, 8, parquet.Int32Type), "price"},
		orderedField{parquet.Encoded(parquet.TimestampAdjusted(parquet.Microsecond, false), &parquet.DeltaBinaryPacked), "ordered_at"},
		orderedField{parquet.Optional(dict(parquet.Leaf(parquet.DoubleType))), "discount"},
	}})
}

func fillOrders(g int, columns []*parquet.ColumnWriter) error {
	rng := rand.New(rand.NewPCG(2024, uint64(g)))
	customer := newSkew(rng, 900, 0.8)
	const newYear, second = 1704067200, 1_000_000 // 2024-01-01 00:00:00
	const each = 366 * 24 * 3600 / ordersRows
	var values [7][]parquet.Value
	for r := range ordersRowGroup {
		article := orderProducts[rng.IntN(len(orderProducts))]
		at := newYear + int64(g*ordersRowGroup+r)*each + rng.Int64N(each)
		row := [7]parquet.Value{
			parquet.ByteArrayValue([]byte(orderRegions[rng.IntN(len(orderRegions))])).Level(0, 0, 0),
			parquet.ByteArrayValue(fmt.Appendf(nil, "C%04d", 1+customer())).Level(0, 0, 1),
			parquet.ByteArrayValue([]byte(article.name)).Level(0, 0, 2),
			parquet.Int32Value(1+min(rng.Int32N(12), rng.Int32N(12))).Level(0, 0, 3),
			parquet.Int32Value(article.price*(90+rng.Int32N(21))/100).Level(0, 0, 4),
			parquet.Int64Value(at*second).Level(0, 0, 5),
			parquet.NullValue().Level(0, 0, 6),
		}
		if rng.IntN(4) == 0 {
			row[6] = parquet.DoubleValue([]float64{0.05, 0.1, 0.2}[rng.IntN(3)]).Level(0, 1, 6)
		}
		for c, v := range row {
			values[c] = append(values[c], v)
		}
	}
	for c, out := range columns {
		if _, err := out.WriteRowValues(values[c]); err != nil {
			return err
		}
	}
	return nil
}
