package decode

import (
	"math"
	"slices"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Kernels makes the rows of batches. Any thread of the context may.
type Kernels struct {
	snappy  *kernels.ParquetSnappy
	zstd    *kernels.ParquetZstd
	coded   *kernels.ParquetCoded
	decode  *kernels.ParquetDecode
	texts   *kernels.ParquetTexts
	deltas  *kernels.ParquetDeltas
	compute *kernels.ParquetCompute
	rows    *kernels.ParquetRows
	store   *Store // nil: no plan has texts
}

// NewKernels is the kernels in a context. Each is loaded when it is first launched,
// if it was not before. The store is for plans with texts (Plan.Texts), and may be nil.
func NewKernels(c *cuda.Context, store *Store) *Kernels {
	return &Kernels{
		snappy: kernels.NewParquetSnappy(c), zstd: kernels.NewParquetZstd(c), coded: kernels.NewParquetCoded(c),
		decode: kernels.NewParquetDecode(c), texts: kernels.NewParquetTexts(c), deltas: kernels.NewParquetDeltas(c),
		compute: kernels.NewParquetCompute(c), rows: kernels.NewParquetRows(c), store: store,
	}
}

// Parts is all the kernels that a plan needs, for cuda.Context.Load: they are loaded at the same
// time.
func (k *Kernels) Parts(plan *Plan) []*cuda.Source {
	parts := slices.Concat(k.decode.Parts(), k.snappy.Parts(), k.zstd.Parts(), k.coded.Parts(), k.rows.Parts())
	if len(plan.Steps) > 0 {
		parts = append(parts, k.compute.Parts()...)
	}
	if plan.AnyLength() {
		parts = append(parts, k.texts.Parts()...)
	}
	return parts
}

// Out is where what the kernels make goes.
type Out struct {
	Rows cuda.Span // Plan.RowBytes
	// 8 bytes, 0 before: how many rows there are, if the plan filters or the bound does
	Made cuda.Span
	Stop cuda.Span // 8 bytes, 0 before: 0, or a reason why the rows mean nothing (Reason)
}

// NoBound is the bound of hashes that no hash is beyond.
const NoBound = math.MaxUint64

// Make queues the kernels that write the rows of a batch, which lies in in, with work
// (Batch.WorkBytes) as their memory. Rows with a hash above bound are passed over, if the plan says
// that they may be (Plan.Limited); else bound is NoBound.
func (k *Kernels) Make(s *cuda.Stream, p *Batch, bound uint64, in, work cuda.Span, out Out) error {
	if p.rows == 0 {
		return nil
	}
	job := p.job(in, work, out)
	job.Store = k.store.descriptor()
	list, passed := p.first(work)
	if bound != NoBound && p.plan.Filters { // out.Made is that of the rows within the bound
		job.Made = passed.Ptr
		if err := s.Fill(passed, 0); err != nil {
			return err
		}
	}
	if err := k.snappy.ExpandPages(s, job.Parcel, job.Work, job.Pages, p.pages, job.Stop); err != nil {
		return err
	}
	if err := k.zstd.ExpandPages(s, job.Parcel, job.Work, job.Pages, p.pages, job.Stop); err != nil {
		return err
	}
	if err := k.coded.FindRuns(s, p.pages, job); err != nil {
		return err
	}
	tasks, largest := len(p.tasks), p.largest()
	if err := k.decode.Levels(s, kernels.ParquetLevelGrid(tasks, largest), job); err != nil {
		return err
	}
	if len(p.dicts) > 0 {
		if err := k.texts.Entries(s, kernels.ParquetEntriesGrid(len(p.dicts), p.entries()), job); err != nil {
			return err
		}
	}
	if err := k.decode.Values(s, kernels.ParquetValueGrid(tasks, largest), job); err != nil {
		return err
	}
	if p.deltas() {
		if err := k.deltas.Decode(s, kernels.ParquetDeltaGrid(tasks), job); err != nil {
			return err
		}
	}
	if p.walks() {
		if err := k.decode.Walks(s, kernels.ParquetWalkGrid(tasks), job); err != nil {
			return err
		}
	}
	if len(p.plan.Steps) > 0 {
		if err := k.compute.Run(s, kernels.ParquetComputeGrid(p.rows, p.plan.Registers), job); err != nil {
			return err
		}
	}
	if p.hasTexts() {
		if err := k.texts.Rows(s, kernels.ParquetTextGrid(p.rows), job); err != nil {
			return err
		}
	}
	if bound != NoBound { // hashes of texts are known by now
		if err := k.rows.First(s, kernels.ParquetFirstGrid(p.rows), job, bound, list.Ptr, out.Made.Ptr); err != nil {
			return err
		}
		job.Kept, job.Made = list.Ptr, out.Made.Ptr
	}
	return k.rows.Make(s, kernels.ParquetRowGrid(p.rows, p.plan.RowWords()), job, out.Rows.Ptr)
}

// first is the memory for the list of rows within the bound, and for the number of those that the
// program keeps: the last of the work memory. Neither, if the plan does without.
func (p *Batch) first(work cuda.Span) (list, passed cuda.Span) {
	if !p.plan.Limited {
		return list, passed
	}
	end := cuda.Size(p.WorkBytes())
	from := end - cuda.Size(4*arrayWords(p.rows)+countBytes)
	return work.Slice(from, end-countBytes), work.Slice(end-countBytes, end)
}

// largest is the rows of the largest page.
func (p *Batch) largest() int {
	rows := uint32(0)
	for i := range p.pages {
		rows = max(rows, p.pages[i].Rows)
	}
	return int(rows)
}

// entries is the entries of the largest of the dictionaries whose words the device makes.
func (p *Batch) entries() int {
	most := uint32(0)
	for i := range p.dicts {
		most = max(most, p.pages[p.dicts[i].Page].Rows)
	}
	return int(most)
}

// hasTexts reports whether there are pages of strings of any length whose words are wanted, or some
// strings do not count.
func (p *Batch) hasTexts() bool {
	return p.plan.Texts() && (p.plan.Only() || slices.ContainsFunc(p.pages, func(page kernels.ParquetPage) bool { return page.Texts == 1 }))
}

// walks reports whether a page has values that do not tell where they are: strings, which the
// device alone knows to be of one length.
func (p *Batch) walks() bool {
	return slices.ContainsFunc(p.tasks, func(t kernels.ParquetTask) bool {
		return p.pages[t.Page].Coded == 0 && p.pages[t.Page].Texts == 0 && p.plan.Outputs[t.Output].Physical == kernels.ParquetBytes
	})
}

// deltas reports whether a page is in DELTA_BINARY_PACKED.
func (p *Batch) deltas() bool {
	return slices.ContainsFunc(p.pages, func(g kernels.ParquetPage) bool { return g.Encoding == kernels.ParquetDelta })
}

// job is what the kernels are told.
func (p *Batch) job(in, work cuda.Span, out Out) kernels.ParquetJob {
	describe := in.Slice(cuda.Size(p.data), cuda.Size(p.Size())).Ptr
	next := func(count, size int) cuda.Ptr {
		at := describe
		describe += cuda.Ptr(count * size)
		return at
	}
	work = work.Slice(0, cuda.Size(p.WorkBytes()))
	arrays := work.Ptr + cuda.Ptr(align(p.expanded))
	places := arrays + cuda.Ptr(p.plan.arrays()*arrayWords(p.rows)*8)
	kept := cuda.Ptr(0)
	if p.plan.Filters {
		kept = places + cuda.Ptr(len(p.plan.Outputs)*arrayWords(p.rows)*4)
	}
	return kernels.ParquetJob{
		Parcel:  in.Ptr,
		Work:    work.Ptr,
		Pages:   next(len(p.pages), pageBytes),
		Tasks:   next(len(p.tasks), taskBytes),
		Outputs: next(len(p.plan.Outputs), outputBytes),
		States:  next(len(p.plan.States), stateBytes),
		Nulls:   next(len(p.plan.Nulls), nullBytes),
		Fields:  next(len(p.plan.Fields), fieldBytes),
		Steps:   next(len(p.plan.Steps), stepBytes),
		Dicts:   next(len(p.dicts), dictBytes),
		Units:   next(len(p.places), unitBytes),

		Patterns: next(len(p.plan.patterns), 1),

		Arrays: arrays,
		Places: places,
		Kept:   kept,
		Made:   out.Made.Ptr,
		Stop:   out.Stop.Ptr,

		ArrayWords: uint64(arrayWords(p.rows)),
		PageCount:  uint32(len(p.pages)),
		TaskCount:  uint32(len(p.tasks)),
		FieldCount: uint32(len(p.plan.Fields)),
		NullCount:  uint32(len(p.plan.Nulls)),
		StepCount:  uint32(len(p.plan.Steps)),
		DictCount:  uint32(len(p.dicts)),
		Registers:  uint32(p.plan.Registers),
		Rows:       uint32(p.rows),
		UnitCount:  uint32(len(p.places)),
		TextEnd:    uint32(p.plan.textEnd()),
		HashWords:  uint32(p.plan.HashWords),
		KeyWords:   uint32(p.plan.KeyWords),
		StateWords: uint32(len(p.plan.States)),
	}
}

// Reason says why the kernels stopped, for people.
func Reason(stop uint64) string {
	switch stop {
	case 0:
		return ""
	case kernels.ParquetStopNulls:
		return "NULLs"
	case kernels.ParquetStopLong:
		return "strings of more than 15 bytes"
	case kernels.ParquetStopTexts:
		return "more long strings than the GPU has room for"
	case kernels.ParquetStopRange:
		return "a value out of range, or one that cannot be computed"
	}
	return "a damaged page"
}
