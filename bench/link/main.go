// Command link measures what crossing the line between host and device costs
// through the Go layer: launches, copies, pinning memory, starting up. Beside a
// CUDA C++ program that does the same (-peer, made from link.cu) it prints the
// ratio of the two. `make bench-gpu` runs it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/gagg-dev/gagg/bench/device"
)

// amounts is how much is done for one figure; the peer is told the same.
type amounts struct {
	repeats  int // a figure of a round is the median of so many
	launches int
	copied   int   // bytes that a rate is taken over, by copies of one size
	sizes    []int // of pinned copies, in bytes; the last is the largest
}

var (
	full = amounts{repeats: 3, launches: 1000, copied: 512 << 20, sizes: []int{64 << 10, 1 << 20, 8 << 20, 64 << 20, 256 << 20}}
	// for the emulator
	small = amounts{repeats: 1, launches: 20, copied: 1 << 20, sizes: []int{64 << 10, 1 << 20}}
)

func (a amounts) largest() int { return a.sizes[len(a.sizes)-1] }

func main() { device.Main(run) }

func run() (err error) {
	rounds := flag.Int("rounds", 7, "rounds of this program and its peer in turns")
	peer := flag.String("peer", "", "the program made from link.cu; empty: none")
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
	rig.Setting.Repetition = fmt.Sprintf("each figure is the median of %d rounds, in turns with the peer, of the median of %d", *rounds, a.repeats)
	r := report{Setting: rig.Setting, amounts: a}
	if err := r.measure(rig, *rounds, *peer); err != nil {
		return err
	}
	return r.publish(os.Stdout, *results)
}
