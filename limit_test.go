package gagg_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gagg-dev/gagg"
)

// Stats is complete when Next has returned false, even if a limit or an error has ended the rows:
// nothing that could change it is being made any more.
func TestStatsAfterLimit(t *testing.T) {
	file := gagg.Files(randomFile(t, inShort(60_000, 200_000)))
	for _, order := range [][]string{nil, {"s"}} {
		q := gagg.Query{From: file, By: []string{"k"}, Aggs: exprs("sum(x) as s"), OrderBy: order, Limit: 1}
		var watch gagg.Watch
		rows, err := gagg.Run(context.Background(), q, gagg.Tuned(gagg.Options{Threads: 2, Device: "cpu", Partitions: 256}, gagg.Watched(&watch)))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
		before := rows.Stats()
		if !watch.Idle() {
			t.Errorf("order %v: groups are still being made after the last row", order)
		}
		if after := rows.Stats(); after.Groups != 1 || after.SpilledBytes != before.SpilledBytes || after.PeakMemory != before.PeakMemory {
			t.Errorf("order %v: %+v, and later %+v", order, before, after)
		}
		rows.Release()
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	var watch gagg.Watch
	rows, err := gagg.Run(ctx, gagg.Query{From: file, By: []string{"k"}}, gagg.Tuned(gagg.Options{Threads: 2, Device: "cpu", Partitions: 256}, gagg.Watched(&watch)))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	why := errors.New("enough")
	cancel(why)
	for rows.Next() {
	}
	if !errors.Is(rows.Err(), why) || !watch.Idle() {
		t.Errorf("error %v, want %v, and nothing to be made any more", rows.Err(), why)
	}
}
