package decode

import (
	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Limits is the most that a batch may take.
type Limits struct {
	Bytes int // of its memory
	Rows  int // at most math.MaxInt32
	Work  int // bytes of work memory on the device
}

const (
	// leastPage and pageWork: pages, one for each output and one for so many bytes, take so much
	// work memory beside what one page of all would take. Writers make pages of 8 KiB to 1 MiB;
	// where pages are smaller batches hold less.
	leastPage = 1 << 10
	pageWork  = 128
)

// UnitsWork is Limits.Work for batches of units of which footers tell so many rows, bytes that
// cross, and what those that cross compressed expand to.
func (p *Plan) UnitsWork(rows, bytes, expanded int64) int {
	pages := int(bytes)/leastPage + len(p.Outputs)
	room := p.runsRoom(rows, bytes+expanded) + pages*pageWork
	if expanded > 0 {
		room += expandedRoom(expanded, bytes)
	}
	return p.WorkBytes(int(rows), room)
}

// expandedRoom is the work memory for pages of so many bytes that expand to so many, whatever their
// codec: for Snappy as if it were one page, for Zstandard as if it were small ones, of which each
// has room for as many literals.
func expandedRoom(expanded, bytes int64) int {
	return max(kernels.ParquetSnappyRoom(int(expanded), int(bytes)), 2*int(expanded))
}

// runsRoom is the work memory for runs of codes, as if all were one page: these take no more than
// so many bytes, nor more than 32 bits for a row, and some for heads. Pages of strings of any
// length may have all of the bytes, and their dictionaries as many entries as there are rows.
func (p *Plan) runsRoom(rows, bytes int64) (room int) {
	const code = 4.25 // a head of one byte for each 8 codes of a byte
	codes := min(bytes, int64(code*float64(rows)*float64(len(p.Outputs))))
	for i := range p.Outputs {
		if o := &p.Outputs[i]; o.AnyLength() {
			codes = bytes
			room += entriesRoom(o, int(rows))
		}
	}
	return room + kernels.ParquetRunsRoom(int(codes))
}

// entriesRoom is the work memory for the words that the device makes of so many entries of a
// dictionary.
func entriesRoom(o *Output, entries int) int {
	return align(entries * int(arraysOf(&o.ParquetOutput)) * 8)
}

// noRoom is what came of a unit that does not fit.
func (p *Builder) noRoom() encoded.Added {
	if len(p.batch.units) == 0 {
		return encoded.AddedNone
	}
	return encoded.AddedFull
}

// mayFit tells from the footer whether there may be room for a unit. The bytes
// that are decompressed, by the reader or the device, are a hint, mostly too
// large by the headers and dictionaries.
func (p *Builder) mayFit(u parquetio.EncodedUnit) bool {
	d := &p.batch
	if u.Rows > int64(p.limits.Rows-d.rows) || u.Bytes > int64(p.limits.Bytes-d.Size()) || u.Expanded > int64(p.limits.Work) {
		return false
	}
	expanded := d.expanded + p.plan.runsRoom(u.Rows, u.Bytes+u.Expanded)
	if u.Expanded > 0 {
		expanded += expandedRoom(u.Expanded, u.Bytes-u.Unpacked)
	}
	return p.plan.WorkBytes(d.rows+int(u.Rows), expanded) <= p.limits.Work
}

// fits tells whether a batch is within the limits.
func (p *Builder) fits(d *Batch) bool {
	return d.Size() <= p.limits.Bytes && d.rows <= p.limits.Rows && d.WorkBytes() <= p.limits.Work
}
