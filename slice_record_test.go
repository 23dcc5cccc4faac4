package gagg_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gagg-dev/gagg"
)

// A limit and an offset leave records that Arrow's IPC writer takes, even if the lists of their
// rows have no values and those of the rows left out do.
func TestSliceRecords(t *testing.T) {
	for _, aggregate := range []string{"min(cast(customer as binary), 2)", "histogram(cast(customer as binary))", "list(customer)"} {
		for _, region := range []string{"Oceania", "Europe", "Asia", "Africa", "Americas"} {
			for _, offset := range []int64{0, 2} {
				q := gagg.Query{
					From: gagg.Files("testdata/orders.parquet"), By: []string{"region"},
					Aggs: []gagg.Agg{gagg.Expr(aggregate + " filter (where region = '" + region + "') as m")}, Offset: offset, Limit: 1,
				}
				writeIPC(t, q)
			}
		}
	}
}

// writeIPC runs a query that has one row, and writes it.
func writeIPC(t *testing.T, q gagg.Query) {
	t.Helper()
	rows, err := gagg.Run(t.Context(), q, gagg.Options{Threads: 1, Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(rows.Schema()))
	for rows.Next() {
		if err := w.Write(rows.Record()); err != nil {
			t.Errorf("%s, offset %d: %v", q.Aggs, q.Offset, err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Errorf("%v: %v", q.Aggs, err)
	}
}
