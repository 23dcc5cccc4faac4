// Command buckets measures the second pass of MP-EGA as it runs in a query: mergers of
// internal/cpu, which aggregate partitions of rows in host memory, by themselves and with an
// secondpass.Pass each. `make bench-gpu` runs it.
//
// Each partition is one bucket. A time begins when the rows lie in pages and ends when all groups
// were emitted; making passes and pinning their buffers is before it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/gagg-dev/gagg/bench/device"
)

// amounts is how much is done.
type amounts struct {
	shift   uint    // 2^shift rows in all
	bits    []uint  // 2^bits partitions
	repeats []int   // rows of a group, on average
	mergers []int   // at work at once, above 0
	passes  []int   // of these have a device; not more than there are
	memory  []int64 // of the device for one pass
}

var (
	full = amounts{
		shift: 25, bits: []uint{4, 7}, repeats: []int{1, 10, 1000}, mergers: []int{4, 16}, passes: []int{1, 4, 16},
		memory: []int64{64 << 20, 512 << 20},
	}
	// for the emulator
	small = amounts{shift: 15, bits: []uint{0, 1}, repeats: []int{1, 100}, mergers: []int{2}, passes: []int{1, 2}, memory: []int64{300 << 10, 4 << 20}}
)

func main() { device.Main(run) }

func run() (err error) {
	rounds := flag.Int("rounds", 3, "rounds of all cases")
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
	r := report{Setting: rig.Setting, Rows: 1 << a.shift}
	if err := r.measure(rig, a, *rounds); err != nil {
		return err
	}
	return r.publish(os.Stdout, *results)
}

// testCase is something to measure.
type testCase struct {
	Bits    uint  `json:"bits"`
	Repeats int   `json:"rows_per_group"`
	Mergers int   `json:"mergers"`
	Passes  int   `json:"passes"`       // so many of them have a device
	Memory  int64 `json:"device_bytes"` // of each of these
}

// cases are all of them; those of the same rows and mergers follow each other, the CPU's first.
func (a amounts) cases() (list []testCase) {
	for _, mergers := range a.mergers {
		if mergers > runtime.NumCPU() {
			continue
		}
		for _, bits := range a.bits {
			for _, repeats := range a.repeats {
				c := testCase{Bits: bits, Repeats: repeats, Mergers: mergers}
				list = append(list, c)
				for _, c.Passes = range a.passes {
					for _, c.Memory = range a.memory {
						if c.Passes <= mergers {
							list = append(list, c)
						}
					}
				}
			}
		}
	}
	return list
}
