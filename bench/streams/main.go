// Command streams measures how fast data crosses to the device through a pipeline
// of package streams, beside plain copies on the same link: from pinned memory,
// and from pageable memory that producers copy into the pipeline's slots. On the
// device a kernel reads all of it, and a tenth goes back. `make bench-gpu` runs it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/gagg-dev/gagg/bench/device"
)

// amounts is how much is done for one figure.
type amounts struct {
	moved     int   // bytes that cross for one figure
	source    int   // bytes of the data, pinned and pageable, that are gone through again and again
	slots     []int // sizes of inputs, in bytes
	streams   []int
	depths    []int
	producers []int
}

var (
	full = amounts{
		moved: 4 << 30, source: 1 << 30,
		slots:   []int{1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 64 << 20},
		streams: []int{1, 2, 4, 8}, depths: []int{1, 2, 3, 4, 6}, producers: []int{1, 2, 4, 8, 12, 16},
	}
	small = amounts{ // for the emulator
		moved: 4 << 20, source: 1 << 20,
		slots: []int{64 << 10, 256 << 10}, streams: []int{1, 2}, depths: []int{1, 3}, producers: []int{1, 2},
	}
)

func main() { device.Main(run) }

func run() (err error) {
	rounds := flag.Int("rounds", 5, "rounds of all cases")
	results := flag.String("results", "bench/results", "folder of the result files; empty: none")
	little := flag.Bool("small", false, "little work, for the emulator")
	flag.Parse()
	a := full
	if *little {
		a = small
	}
	rig, err := device.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rig.Close()) }()
	rig.Setting.Repetition = fmt.Sprintf("each figure is the median of %d rounds", *rounds)
	r := report{Setting: rig.Setting}
	if err := r.measure(rig, a, *rounds); err != nil {
		return err
	}
	return r.publish(os.Stdout, *results)
}
