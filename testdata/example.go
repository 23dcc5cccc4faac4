// Package testdata holds the file that gagg --example writes. It is among the data of tests, so
// that there is one such file, which the pages of docs show too.
package testdata

import _ "embed" // of Orders

// Orders is the orders of a shop, 12,000 rows of Parquet. internal/datagen makes them.
//
//go:embed orders.parquet
var Orders []byte
