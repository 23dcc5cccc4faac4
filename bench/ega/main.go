// Command ega measures the strategies of package ega on the device: 2^28 pairs of 16
// bytes, by number of groups, by skew, by load factor, beside the plain linear
// probe and CUB's sort and reduce (-peer, made from cub.cu). `make bench-gpu` runs it.
//
// A time has everything in it from the pairs in device memory to the groups, dense, in device
// memory: emptying tables, and the waits of strategies that look at a count between two kernels.
// Only memory is allocated before.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/bench/device"
)

// amounts is how much is measured.
type amounts struct {
	rows   uint32
	rounds int
	groups []uint64 // of the tables by number of groups; none above rows / 2
	skewed []uint64 // of the table by distribution
	loads  []float64
}

var (
	full = amounts{
		rows: 1 << 28, rounds: 3,
		groups: []uint64{1, 10, 100, 128, 129, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1 << 27},
		skewed: []uint64{1e4, 1e6, 1e7},
		loads:  loads,
	}
	// for the emulator
	small = amounts{rows: 1 << 13, rounds: 1, groups: []uint64{1, 128, 129, 1e3}, skewed: []uint64{1e3}, loads: loads}
)

func main() { device.Main(run) }

func run() (err error) {
	results := flag.String("results", "bench/results", "folder of the result files; empty: none")
	peer := flag.String("peer", "", "the program made from cub.cu; empty: none")
	little := flag.Bool("small", false, "little work, for the emulator")
	rounds := flag.Int("rounds", 0, "timed rounds; 0: as many as usual")
	shift := flag.Uint("log2-rows", 0, "rows, as a power of two; 0: 2^28")
	groups := flag.String("groups", "", `numbers of groups, as "1e4,1e6"; "-": none; empty: as many as usual`)
	skewed := flag.String("skewed", "", "the same for skewed keys")
	noLoads := flag.Bool("no-loads", false, "not by load factor")
	flag.Parse()
	a := full
	if *little {
		a = small
	}
	if *rounds > 0 {
		a.rounds = *rounds
	}
	if *shift > 0 {
		a.rows = 1 << *shift
	}

	if *noLoads {
		a.loads = nil
	}
	if a.groups, err = numbers(*groups, a.groups); err != nil {
		return err
	}
	if a.skewed, err = numbers(*skewed, a.skewed); err != nil {
		return err
	}

	rig, err := device.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rig.Close()) }()
	rig.Setting.Repetition = fmt.Sprintf("each time is the median of %d rounds of all strategies in turns", a.rounds)
	r := &report{Setting: rig.Setting, amounts: a, Rows: a.rows}
	if err := r.measure(rig); err != nil {
		return err
	}
	if *peer != "" {
		if err := r.measurePeer(*peer); err != nil {
			return err
		}
	}
	return r.publish(os.Stdout, *results)
}

// numbers reads a list of numbers.
func numbers(text string, usual []uint64) (list []uint64, err error) {
	switch text {
	case "":
		return usual, nil
	case "-":
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, uint64(f))
	}
	return list, nil
}
