package gagg_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// A device groups by texts that lie in the keys as by other keys; the CPU makes the rows.
func TestDeviceTextKeys(t *testing.T) {
	gputest.Need(t, 1)
	rows := textRows(9000)
	for i := range rows {
		rows[i].Hash[0] += byte(i % 3)
	}
	file := gagg.Files(textFile(t, rows))
	for _, by := range [][]string{{"id"}, {"name", "n"}, {"hash", "n"}} {
		q := gagg.Query{From: file, By: by, Aggs: exprs("count(*)", "sum(n)")}
		want := mustAnswer(t, q, gagg.Options{Device: "cpu"})
		got, stats, err := answerStats(t, q, gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: other groups, or in another order; %v", by, err)
		}
		if len(stats.Devices) == 0 || stats.Devices[0].Rows < 500 {
			t.Errorf("%q: the device had few rows: %+v", by, stats.Devices)
		}
	}
}
