// Command outofcore measures MP-EGA: rows in host memory, of which the device
// may have a small part at a time, are aggregated by firstpass.Pass, and what it
// had no room for, from host buckets, by secondpass.Pass. `make bench-outofcore`
// runs it.
//
// A row is the hash of its key, the key and a count: 24 bytes, of which 16 are
// the pair. Rates are of these 24 bytes, which is what crosses the link, and are
// compared with plain copies of the same rows in the same run.
//
// Rows that leave the device stay in the pinned memory they leave to (-keep). A case of which rows
// did is run once more with that memory, as in a process that has done it before and need not pin
// it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/bench/device"
)

// amounts is how much is measured, and with what.
type amounts struct {
	rows      int
	device    int64 // bytes of device memory that a pass may have
	groups    []uint64
	streams   []int    // of a pass; the first is what is used where streams are not varied
	varied    []uint64 // numbers of groups for which they are
	rounds    int
	producers int  // goroutines that copy rows into slots
	writers   int  // goroutines that place rows in host buckets
	passes    int  // second passes at a time
	bits      uint // 2^bits host buckets,
	// each of which is 2^split small ones, as writers have them, that are merged for the second
	// pass
	split  uint
	slot   int   // rows of an input
	keep   int64 // bytes of pinned memory for rows to stay in
	buffer int   // bytes of each buffer of a second pass; 0: its default
	// of Go, beside one for each thread of the machine; negative: two for each stream
	procs int
	timed bool // lanes say how long their copies and kernels take
	// no feedback: a bucket is loaded once, as far as its table has room for certain
	once bool
}

var (
	full = amounts{
		rows: 1e9, device: 2 << 30, groups: []uint64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9},
		// a sixth of the device has room for the groups of a bucket, a sixteenth has not
		streams: []int{2, 1, 4, 8}, varied: []uint64{1e5, 1e9}, rounds: 3, producers: 12, writers: 16, passes: 6, bits: 7,
		slot: 4 << 20 / rowBytes,
	}
	small = amounts{ // for the emulator
		rows: 1 << 16, device: 1 << 20, groups: []uint64{100, 1 << 15},
		streams: []int{2, 1}, varied: []uint64{100}, rounds: 1, producers: 2, writers: 2, passes: 2, bits: 1,
		slot: 1024,
	}
)

// keepAll is amounts.keep for as much as there may be.
const keepAll = math.MaxInt64

func main() { device.Main(run) }

func run() (err error) {
	results := flag.String("results", "bench/results", "folder of the result files; empty: none")
	little := flag.Bool("small", false, "little work, for the emulator")
	rows := flag.Float64("rows", 0, "rows; 0: 1e9")
	rounds := flag.Int("rounds", 0, "timed rounds; 0: as many as usual")
	groups := flag.String("groups", "", `numbers of groups, as "1e4,1e6"; empty: as many as usual`)
	varied := flag.String("varied", "", `those for which streams are varied; "-": none`)
	memory := flag.String("device-memory", "", "a size, as 2GiB; empty: as usual")
	producers := flag.Int("producers", 0, "goroutines that copy rows into slots; 0: as many as usual")
	passes := flag.Int("passes", 0, "bucket passes at a time; 0: as many as usual")
	slot := flag.String("slot", "", "a size, as 8MiB, of an input; empty: as usual")
	writers := flag.Int("writers", 0, "goroutines that place rows in host buckets; 0: as many as usual")
	bits := flag.Uint("bits", 0, "of the host buckets' number; 0: as usual")
	split := flag.Uint("split", 0, "writers divide rows into 2^N times as many small buckets, which are merged with their buddies for the second pass")
	keep := flag.String("keep", "", "a size, as 8GiB, of pinned memory in which rows stay that have left the device; 0B: none; empty: enough for all")
	buffer := flag.String("bucket-buffer", "", "a size, as 1MiB, of each of the two buffers of a bucket pass; empty: as usual")
	procs := flag.Int("procs", -1, "processors of Go beside one for each thread of the machine: who drives the device then need not wait until a goroutine that places rows gives its one up; negative: two for each stream")
	once := flag.Bool("once", false, "no feedback loading: a bucket is loaded once, as far as its table has room for certain")
	timed := flag.Bool("timed", false, "the JSON says how long each lane's copies and kernels take, which costs some events")
	name := flag.String("name", "outofcore", "name of the result files")
	flag.Parse()
	a := full
	if *little {
		a = small
	}
	set(&a.rows, int(*rows))
	set(&a.rounds, *rounds)
	set(&a.producers, *producers)
	set(&a.passes, *passes)
	set(&a.writers, *writers)
	set(&a.bits, *bits)
	set(&a.split, *split)
	a.once, a.timed, a.procs = *once, *timed, *procs
	var bytes int64
	a.keep = keepAll
	if err := errors.Join(sizeOf(&bytes, *buffer), sizeOf(&a.keep, *keep), listOf(&a.groups, *groups), listOf(&a.varied, *varied), sizeOf(&a.device, *memory), slotOf(&a.slot, *slot)); err != nil {
		return err
	}
	a.buffer = int(bytes)
	rig, err := device.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rig.Close()) }()
	rig.Setting.Repetition = fmt.Sprintf("each figure is of the run with the median time of %d", a.rounds)
	r := report{Setting: rig.Setting, Rows: a.rows, Device: a.device, name: *name}
	if err := r.measure(rig, a); err != nil {
		return err
	}
	return r.publish(os.Stdout, *results)
}

func set[T int | uint](field *T, value T) {
	if value != 0 {
		*field = value
	}
}

// listOf reads numbers as 1e4,1e6; "" leaves the list as it is, "-" empties it.
func listOf(list *[]uint64, text string) error {
	if text == "" {
		return nil
	}
	*list = nil
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "-"), ",") {
		if part == "" {
			continue
		}
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("%q: want numbers of groups", text)
		}
		*list = append(*list, uint64(n))
	}
	return nil
}

// slotOf reads the size of an input as rows.
func slotOf(rows *int, text string) error {
	bytes := int64(*rows * rowBytes)
	err := sizeOf(&bytes, text)
	*rows = max(int(bytes/rowBytes), 1)
	return err
}

func sizeOf(field *int64, text string) error {
	if text == "" {
		return nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil {
		return fmt.Errorf("size %q: %w", text, err)
	}
	*field = int64(n)
	return nil
}
