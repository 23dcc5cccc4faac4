package gpu

import (
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/streams"
)

// Decoding is how devices make rows of units as they lie in their files.
type Decoding struct {
	Plan    *decode.Plan  // nil: they do not
	Limits  decode.Limits // of a batch
	Streams int           // of each device of which no more is known than PlanDecoding was told
	Units   Units         // that it is planned for

	lanes int   // Config.Streams
	stage int64 // bytes of device memory that a batch under way takes
}

// Units is what is known of the units of a run from the metadata of its files.
type Units struct {
	Largest, All UnitSize // the most of each that a unit has, and the sums
	Unpacked     int64    // of All.Bytes: of pages that workers decompress
}

// UnitSize is the size of units.
type UnitSize struct {
	Rows     int64
	Bytes    int64 // as they cross
	Expanded int64 // what crosses compressed, decompressed
}

const (
	// batchBytes is what a batch has if units are smaller: kernels that decompress take half the
	// time for each byte that they do where batches are of 4 MiB, but larger slots take longer to
	// pin (docs/experiments/0011).
	batchBytes = 8 << 20

	// batchRows is the most rows that a batch has if units have fewer: columns of few bytes a row
	// would make batches of so many rows that nothing is under way beside one. Rows of 24 bytes and
	// their rest take 96 MiB of each stage then, and 1e8 rows are 48 batches for the streams.
	batchRows = 2 << 20

	// decodingStreams: kernels of so many batches run at once, which leave a part of the device
	// idle. More of them wait for the lock of the driver (docs/experiments/0011).
	decodingStreams = 4

	// leastDecoding: kernels of one stream run while another's wait for the link.
	leastDecoding = 2

	// entriesShare is how much larger a batch may be than its pages, for the entries of
	// dictionaries. A batch whose entries take more takes fewer units; slots are pinned for as
	// much.
	entriesShare = 1.5
	// largestShare is the same of a batch of one unit of usual size, which no other batch would
	// take: columns that are mostly dictionaries, such as addresses, have entries of 16 bytes for
	// values of 4.
	largestShare = 2.25

	// decodingBytes of slots occupy a device and its link: large ones need fewer streams, and fewer
	// slots that cross while others are filled: 48 MiB, 0.9 ms of the link.
	decodingBytes = decodingStreams * (entriesShare*batchBytes + leastSlot)

	// pinnedBatches is the most memory for slots that hold batches: large units would have each
	// worker pin hundreds of MiB, and all of it takes 0.3 s (14 GB/s, docs/experiments/0012). Half
	// as much would pin 0.15 s sooner and leave 16 workers slots of 128 MiB in place of 256.
	pinnedBatches = 4 << 30

	// decodingParts is the divisor of a device's memory that gives the most for batches under way.
	// It decides where units are large: three units of 9 columns and a million rows take 2.1 GiB,
	// and two streams have six. Half of that is for copies in Snappy pages.
	decodingParts = 3

	// usualMemory is what a device has of which nothing is known yet, on the low side: few cards of
	// data centers have less. It decides how many units go into a batch, and one that has too
	// little for that takes none.
	usualMemory = 16 << 30
)

// PlanDecoding chooses the size of batches for devices of which each may use so many bytes (0: not
// known); lanes is Config.Streams. The zero Decoding: not even one unit fits.
//
// Batches are as large as is usual, or as the largest unit. Where these are too large for the
// memory they get smaller, down to the largest unit, before there is but one stream.
func PlanDecoding(plan *decode.Plan, units Units, memory int64, lanes int) Decoding {
	if memory == 0 {
		memory = usualMemory
	}
	for bytes := int64(batchBytes); ; bytes /= 2 {
		d := Decoding{Plan: plan, Units: units, lanes: lanes}
		size := units.batch(bytes)
		d.set(size)
		d.Streams = d.streams(memory)
		if last := size == units.Largest; d.Streams >= leastDecoding || last || lanes > 0 && d.Streams > 0 {
			if d.Streams == 0 || size.Rows > firstpass.MaxMadeRows {
				return Decoding{}
			}
			return d
		}
	}
}

// batch is the size of batches of so many bytes, or of the largest unit.
func (u *Units) batch(bytes int64) UnitSize {
	share := float64(bytes) / float64(max(u.All.Bytes, 1))
	of := func(all int64) int64 { return int64(min(share, 1) * float64(all)) }
	return UnitSize{
		Rows:     max(u.Largest.Rows, min(of(u.All.Rows), batchRows)),
		Bytes:    max(u.Largest.Bytes, bytes),
		Expanded: max(u.Largest.Expanded, of(u.All.Expanded)),
	}
}

// set makes batches as large as size.
func (d *Decoding) set(size UnitSize) {
	share := max(entriesShare*float64(size.Bytes), largestShare*float64(min(d.Units.Largest.Bytes, batchBytes)))
	bytes := int(share)/leastSlot*leastSlot + leastSlot
	d.Limits = decode.Limits{Bytes: bytes, Rows: int(size.Rows), Work: d.Plan.UnitsWork(size.Rows, size.Bytes, size.Expanded)}
	rows := int64(d.Plan.RowBytes(int(size.Rows)))
	d.stage = int64(bytes) + max(int64(bytes), 2*rows+int64(d.Limits.Work))
}

// streams is how many streams decode batches on a device of so much memory; 0: it can take none.
func (d *Decoding) streams(memory int64) int {
	if d.Plan == nil {
		return 0
	}
	fit := int(memory / decodingParts / (d.stage * streams.DefaultDepth))
	if d.lanes > 0 {
		if fit < d.lanes {
			return 0
		}
		return d.lanes
	}
	return min(fit, d.underWay())
}

// underWay is how many batches occupy a device. Of long strings, large dictionaries above all, the
// kernels that go from string to string in a page leave most of the device idle, however large a
// batch is.
func (d *Decoding) underWay() int {
	if d.Plan.AnyLength() {
		return decodingStreams
	}
	return min(max(decodingBytes/d.Limits.Bytes, leastDecoding), decodingStreams)
}

// slots is how many batches there are memory for: each worker fills one.
func (d *Decoding) slots(workers int) int {
	return max(min(workers+d.underWay(), pinnedBatches/d.Limits.Bytes), leastSlots)
}

// planDecoding has a pass take batches, if there is memory for that on the device and in its share
// here.
func (p *pass) planDecoding(c *firstpass.Config, share *hostShare) {
	d := &p.devices.config.Decode
	if p.wantsTexts() && p.texts == nil {
		return
	}
	n := d.streams(p.memory + p.texts.memory()) // as it was planned
	if n == 0 {
		return
	}
	slots := share.whole(d.slots(p.devices.config.Threads), d.Limits.Bytes)
	if slots == 0 {
		return
	}
	c.Slots, c.SlotBytes, c.Streams = slots, d.Limits.Bytes, n
	c.Made = firstpass.MadeConfig{Rows: d.Limits.Rows, WorkBytes: d.Limits.Work}
	p.decoding = decode.NewKernels(p.context, p.texts.store())
}
