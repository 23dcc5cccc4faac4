package decode

import (
	"unsafe"

	"github.com/gagg-dev/gagg/internal/kernels"
)

// Batch is units packed into a piece of memory, ready for the device: doc.go
// has how they lie there. It refers to that memory only by places in it, so
// that the memory may be copied. What it says is not to be changed, by anybody.
type Batch struct {
	plan  *Plan
	units []int
	rows  int

	pages    []kernels.ParquetPage
	tasks    []kernels.ParquetTask
	dicts    []kernels.ParquetDict
	places   []kernels.ParquetUnit // of units, if the plan has positions
	data     int                   // bytes of pages and dictionaries, aligned
	expanded int                   // bytes of work memory that pages take: decompressed, for their runs, and for words of entries; aligned
}

// Units is the row groups that are in it, as the scan counts them.
func (p *Batch) Units() []int { return p.units }

// Filters reports whether the rows that are made are fewer than Rows.
func (p *Batch) Filters() bool { return p.plan.Filters }

// Rows is the rows of all its units.
func (p *Batch) Rows() int { return p.rows }

// Size is the bytes of its memory that are in use.
func (p *Batch) Size() int {
	return p.data + p.plan.descriptorBytes(len(p.pages), len(p.tasks), len(p.dicts), len(p.places))
}

// WorkBytes is the work memory that it takes on the device.
func (p *Batch) WorkBytes() int { return p.plan.WorkBytes(p.rows, p.expanded) }

const (
	pageBytes   = int(unsafe.Sizeof(kernels.ParquetPage{}))
	taskBytes   = int(unsafe.Sizeof(kernels.ParquetTask{}))
	outputBytes = int(unsafe.Sizeof(kernels.ParquetOutput{}))
	stateBytes  = int(unsafe.Sizeof(kernels.ParquetState{}))
	nullBytes   = int(unsafe.Sizeof(kernels.ParquetNull{}))
	fieldBytes  = int(unsafe.Sizeof(kernels.ParquetField{}))
	stepBytes   = int(unsafe.Sizeof(kernels.ParquetStep{}))
	dictBytes   = int(unsafe.Sizeof(kernels.ParquetDict{}))
	unitBytes   = int(unsafe.Sizeof(kernels.ParquetUnit{}))
)

// descriptorBytes is the bytes of the descriptors behind the data of a batch.
func (p *Plan) descriptorBytes(pages, tasks, dicts, units int) int {
	return pages*pageBytes + tasks*taskBytes +
		len(p.Outputs)*outputBytes + len(p.States)*stateBytes + len(p.Nulls)*nullBytes + len(p.Fields)*fieldBytes +
		len(p.Steps)*stepBytes + dicts*dictBytes + units*unitBytes + len(p.patterns)
}

// describe writes the descriptors behind the data, into memory of Size bytes
// or more.
func (p *Batch) describe(memory []byte) {
	to := memory[p.data:p.Size()]
	to = put(to, p.pages)
	to = put(to, p.tasks)
	for i := range p.plan.Outputs {
		to = put(to, []kernels.ParquetOutput{p.plan.Outputs[i].ParquetOutput})
	}
	to = put(to, p.plan.States)
	to = put(to, p.plan.Nulls)
	to = put(to, p.plan.Fields)
	to = put(to, p.plan.Steps)
	to = put(to, p.dicts)
	to = put(to, p.places)
	put(to, p.plan.patterns)
}

// put copies descriptors, as they lie in memory, and returns what is behind
// them.
func put[T any](to []byte, from []T) []byte {
	n := copy(to, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(from))), len(from)*int(unsafe.Sizeof(*new(T)))))
	return to[n:]
}
