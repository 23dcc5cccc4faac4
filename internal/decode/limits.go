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
	// leastPage and pageWork: Snappy pages, one for each output and one for so many bytes, take so
	// much work memory beside what one page of all would take. Writers make pages of 8 KiB to 1
	// MiB; where pages are smaller batches hold less.
	leastPage = 1 << 10
	pageWork  = 128
)

// UnitsWork is Limits.Work for batches of units of which footers tell so many rows, bytes that
// cross, and what those that cross compressed expand to.
func (p *Plan) UnitsWork(rows, bytes, expanded int64) int {
	room := 0
	if expanded > 0 {
		pages := int(bytes)/leastPage + len(p.Outputs)
		room = kernels.ParquetSnappyRoom(int(expanded), int(bytes)) + pages*pageWork
	}
	return p.WorkBytes(int(rows), room)
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
	expanded := d.expanded
	if u.Expanded > 0 { // as if it were one page
		expanded += kernels.ParquetSnappyRoom(int(u.Expanded), int(u.Bytes-u.Unpacked))
	}
	return p.plan.WorkBytes(d.rows+int(u.Rows), expanded) <= p.limits.Work
}

// fits tells whether a batch is within the limits.
func (p *Builder) fits(d *Batch) bool {
	return d.Size() <= p.limits.Bytes && d.rows <= p.limits.Rows && d.WorkBytes() <= p.limits.Work
}
