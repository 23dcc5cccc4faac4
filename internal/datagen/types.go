package datagen

import "github.com/gagg-dev/gagg/internal/column"

// Types is every logical type that a Parquet file holds, with the precisions
// and widths at which its storage changes.
func Types() []column.Type {
	var out []column.Type
	for _, k := range []column.Kind{
		column.Bool, column.Int8, column.Int16, column.Int32, column.Int64,
		column.Uint8, column.Uint16, column.Uint32, column.Uint64,
		column.Float16, column.Float32, column.Float64, column.Date, column.String, column.Binary, column.UUID,
	} {
		out = append(out, column.Type{Kind: k})
	}
	for _, u := range []column.Unit{column.Milli, column.Micro, column.Nano} {
		for _, utc := range []bool{false, true} {
			out = append(out, column.Type{Kind: column.Time, Unit: u, UTC: utc}, column.TimestampType(u, utc))
		}
	}
	for _, d := range [][2]int{{1, 0}, {9, 2}, {18, 18}, {19, 0}, {38, 10}, {76, 5}} {
		out = append(out, column.DecimalType(d[0], d[1]))
	}
	return append(out, column.Type{Kind: column.FixedBinary, Width: 1}, column.Type{Kind: column.FixedBinary, Width: 20})
}
