// Package gpumem hands out memory inside kernels: the host side of the random-walk page manager of
// paper 000. Package gpumem/reference has what else the papers say of such memory and no query
// uses: SlabAlloc, the page manager's twin for host memory, the analysis of its steps.
//
// # Terms
//
//   - A page is a piece of memory, all pages of a pool of one size; NoPage is none.
//   - A pool is the memory of its pages, and for each page a bit, set while the
//     page is in use. Who needs a page looks at bits at random until it finds a
//     clear one, and sets it by an atomic. There is no list, queue or counter
//     that all threads would meet at.
//   - A step is a look of a thread at one word of these bits, with 32 pages, or of a warp at many
//     together. A walk is the steps of one thread. In the formulas (reference.Steps) T is all
//     pages, A the free ones, N the threads that ask.
//
// # Layout
//
//	Pool.pages    | page 0 | page 1 | … | page T-1 |           1 << page_shift bytes each
//	Pool.words    | pages 0..31 | pages 32..63 | … | 1…1 |     a bit each; for RW a word of 32 bits each
//	Pool.shares   | parts of page 0 | of page 1 | …            with Parts only
//
// # Methods
//
// Device functions, in internal/kernels/pages_*.cuh and, but for CoRW, which is what queries use,
// internal/kernels/kerneltest. CoRW, CRW and RW-BM work on one bitmap and may be mixed; page_malloc
// works on it as well. RW has flags.
//
//	CoRW       page_get_together  the lanes of a warp read a stretch of the bitmap and share what they find
//	CRW        page_get_next      each thread for itself, first the page after its last one
//	RW-BM      page_get_alone     each thread for itself, 32 pages a step
//	RW         page_get_alone     each thread for itself, one page a step; gives back without an atomic
//	RW_malloc  page_malloc        1 to 32 pages in a row, and parts of a page
//
// # Invariants
//
// No page has two owners (PAGE-ONCE), and none is lost (PAGE-KEPT). Bits past the
// last page belong to nobody (PAGE-TAIL). No call goes on for ever (PAGE-ENDS).
// What an owner did to a page is over when the next one has it (PAGE-ORDER).
// pages.cuh defines them, by what each demands of the code.
//
// # Out of memory
//
// After a number of steps without a page (StepLimit) it is likely that less than
// the share LowestFree of all pages is free, not certain that there is none. With
// a million threads that look at once a likelihood of 99 % is no answer: ten
// thousand would be refused wrongly. So at the limit the lanes of a warp that have
// no page read the whole bitmap once, together, and take what is there. NoPage
// then means that each page was in use when it was looked at; if no thread gives
// pages back meanwhile, that none is left. The limit is only the point where
// reading everything is the shorter way. A sweep reads T/8 bytes, so that a launch
// which is refused everywhere reads that for each warp: at 2^20 pages and as many
// threads 4 GB, a millisecond on an H200. NoSweep restores the inference alone.
//
// # Where we differ from the papers, and why
//
//   - No lock map. Or-ing a bit in returns the word as it was, and so says who was
//     first; the lock (three atomics for one) adds nothing. The paper's methods
//     with the lock map are in internal/kernels/kerneltest, for measurement.
//   - A free page's bit is cleared by an atomic And. "No atomic" holds for RW alone,
//     with a word a page; in a bitmap a plain store undoes what others do to their
//     bits of the word at that moment.
//   - CoRW reads 32 words that lie together, and where pages are few 256, rather than
//     words at 32 random places, and settles who gets which page before it takes any. The
//     warps of a launch begin as far from each other as can be.
//   - The walks of a launch begin at other places than those of the launch before
//     (View): else threads come first to the words that they emptied last time.
//
// model_test.go explores the schedules of these algorithms, and finds the lost
// pages of the variants that the paper prints.
//
// The package is gagg's own: what it takes and gives are types of internal/cuda, so that no other
// module can use it.
package gpumem
