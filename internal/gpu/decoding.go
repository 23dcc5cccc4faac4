package gpu

import (
	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/streams"
)

// Decoding is how devices make rows of units as they lie in their files.
type Decoding struct {
	Plan    *decode.Plan  // nil: they do not
	Limits  decode.Limits // of a parcel
	Streams int           // of each device

	stage int64 // bytes of device memory that a parcel under way takes
}

// Units is what is known of the units of a run from the metadata of its files.
type Units struct {
	Largest, All UnitSize // the most of each that a unit has, and the sums
}

// UnitSize is the size of units.
type UnitSize struct {
	Rows     int64
	Bytes    int64 // in the file
	Expanded int64 // not compressed
}

const (
	// parcelBytes is what a parcel has if units are smaller: enough for the full rate of the link, and few enough bytes that
	// as many slots as there are workers are pinned in some 30 ms. A guess.
	parcelBytes = 4 << 20

	// decodingStreams: kernels of so many parcels run at once, each of which leaves most of the device idle, since a block
	// decompresses a page. A guess.
	decodingStreams = 8

	// entriesShare is how much larger a parcel may be than its pages, for the entries of dictionaries. A guess.
	entriesShare = 1.5

	// usualMemory is what a device has of which nothing is known yet. A guess, on the low side: it decides how many units
	// go into a parcel, and one that has less takes none.
	usualMemory = 16 << 30
)

// PlanDecoding chooses the size of parcels for devices of which each may use so many bytes (0: not
// known); lanes is Config.Streams. The zero Decoding: not even one unit fits.
func PlanDecoding(plan *decode.Plan, units Units, memory int64, lanes int) Decoding {
	if memory == 0 {
		memory = usualMemory
	}
	most, least := lanes, lanes
	if lanes == 0 {
		most, least = decodingStreams, 1
	}
	d := Decoding{Plan: plan}
	share := float64(parcelBytes) / float64(max(units.All.Bytes, 1))
	wanted := UnitSize{
		Rows:     max(units.Largest.Rows, int64(share*float64(units.All.Rows))),
		Bytes:    max(units.Largest.Bytes, parcelBytes),
		Expanded: max(units.Largest.Expanded, int64(share*float64(units.All.Expanded))),
	}
	for _, size := range []UnitSize{wanted, units.Largest} {
		d.set(size)
		for d.Streams = most; d.Streams >= least; d.Streams /= 2 {
			if d.fits(memory) {
				return d
			}
		}
	}
	return Decoding{}
}

// set makes parcels as large as size.
func (d *Decoding) set(size UnitSize) {
	bytes := int(entriesShare*float64(size.Bytes))/leastSlot*leastSlot + leastSlot
	d.Limits = decode.Limits{Bytes: bytes, Rows: int(size.Rows), Work: d.Plan.WorkBytes(int(size.Rows), int(size.Expanded))}
	rows := int64(d.Plan.RowBytes(int(size.Rows)))
	d.stage = int64(bytes) + rows + max(rows, int64(bytes)) + int64(d.Limits.Work)
}

// fits reports whether a device of so much memory can take parcels.
func (d *Decoding) fits(memory int64) bool {
	return d.Plan != nil && d.stage*int64(d.Streams*streams.DefaultDepth) <= memory/stageParts
}

// made is the limits of a parcel for ega.
func (d *Decoding) made() ega.MadeConfig {
	return ega.MadeConfig{Rows: d.Limits.Rows, WorkBytes: d.Limits.Work}
}

// loadDecoding loads the kernels.
func (p *pass) loadDecoding() (*decode.Kernels, error) {
	t, err := p.context.Lock()
	if err != nil {
		return nil, err
	}
	defer t.Unlock()
	return decode.LoadKernels(t)
}
