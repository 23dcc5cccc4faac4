package gagg_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Rows that stay in pinned memory when they leave a device come back from there, together with
// those in buckets, and groups are in the order of the CPU's: with chains of several partitions,
// or parts of one; with a second device that takes what the first has kept; and with tables that
// are full soon, so that the CPU takes the rest.
func TestDeviceKept(t *testing.T) {
	tuned := tune{gagg.PassLeast(1), gagg.PinnedRetainBytes(64 << 20)}
	gputest.Need(t, 2)
	q := gagg.Query{From: gagg.Files(randomFile(t, 15_000)), By: []string{"x"}, Aggs: exprs("count(*)", "sum(i)")}
	want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
	for _, c := range []struct {
		device     string
		partitions int
		load       float64
	}{{"0", 1, 0}, {"0", 512, 0}, {"1,0", 2, 0}, {"1,0", 512, 0}, {"0", 4, .01}} {
		t.Run(fmt.Sprintf("%s/partitions=%d/load=%g", c.device, c.partitions, c.load), func(t *testing.T) {
			defer settled(t)()
			o := tuned.of(gagg.Options{Device: c.device, Threads: 2, Streams: 1, GPUMemory: tinyDevice, Partitions: c.partitions})
			if c.load > 0 {
				o.LoadFactor = [2]float64{c.load, 2 * c.load}
			}
			got, stats, err := answerStats(t, q, o)
			did := gagg.DeviceStats{}
			for _, d := range stats.Devices {
				did.KeptRows, did.DirectRows, did.FullBuckets = did.KeptRows+d.KeptRows, did.DirectRows+d.DirectRows, did.FullBuckets+d.FullBuckets
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d rows, %d wanted, or others; %v", len(got), len(want), err)
			}
			if did.KeptRows == 0 || did.DirectRows == 0 || c.load > 0 && did.FullBuckets == 0 {
				t.Errorf("%+v", did)
			}
		})
	}
}
