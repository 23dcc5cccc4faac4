// Command scatter measures how fast rows in device memory are divided by their hash:
// in one piece a partition, in chains of pages, and by the kernels of paper 003 to
// the word, beside a copy of the same rows, which moves as many bytes and orders
// none. All of a case are timed in turns, so that the clock of the device falls on
// all alike.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/gagg-dev/gagg/bench/device"
)

func main() { device.Main(run) }

// amounts is how much there is to do.
type amounts struct {
	Bytes  int      `json:"bytes"` // of the rows of a case
	Page   uint64   `json:"page"`  // bytes
	Pages  []uint64 `json:"pages"` // that are tried
	Rounds int      `json:"rounds"`
	Tile   int      `json:"tile"` // rows of a tile; 0: as tuned
}

func run() (err error) {
	a := amounts{Bytes: 1 << 32, Rounds: 5, Pages: []uint64{1 << 16, 1 << 18, 1 << 20}}
	results := flag.String("results", "bench/results", "folder of the result files; empty: none")
	little := flag.Bool("small", false, "little work, for the emulator")
	flag.Uint64Var(&a.Page, "page", 1<<16, "bytes of a page of the chains")
	flag.IntVar(&a.Tile, "tile", 0, "rows that a block divides at once; 0: as tuned")
	flag.IntVar(&a.Rounds, "rounds", a.Rounds, "timed rounds")
	flag.Parse()
	if *little {
		a.Bytes, a.Rounds, a.Pages = 1<<18, 1, []uint64{1 << 16}
	}
	rig, err := device.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rig.Close()) }()
	rig.Setting.Repetition = fmt.Sprintf("each time is the median of %d rounds of all ways in turns", a.Rounds)
	r := &report{Setting: rig.Setting, amounts: a}
	if err := r.measure(rig); err != nil {
		return err
	}
	return r.publish(os.Stdout, *results)
}
