// Package streams keeps a device fed: it overlaps filling staging memory, copies
// to the device, kernels and copies back (paper 003, §4.2.4), for data
// that the device cannot hold.
//
// # Terms
//
// A [Job] is one piece of work: an input of host memory, kernels, an output. A
// lane is what the paper calls a stream with its CPU thread: a goroutine on an
// OS thread of its own (cuda.Context.Lock) with three streams of CUDA, for copies
// in, kernels and copies out, so that one lane alone overlaps the three. A
// [Stage] is a lane's place for one job under way: device memory for its input
// and its kernels, host memory for its output, events. A [Slot] is staging
// memory for an input, pinned, of the pipeline, not of a lane: whichever lane is
// free takes the job that was submitted first.
//
//	producers                 lane: one goroutine, three streams, Depth stages
//	  Slot ◀───────────────────────────────────────────────── free slots ◀──┐
//	  fill                     in ══════▶ work ═══════════▶ out             │
//	  Submit ──▶ queue ──▶     copy in    Job.Launch  facts  copy out       │
//	                           job k+2    job k+1            job k ──▶ Job.Deliver
//
// # Phases
//
// A stage is idle until its lane takes a job; computing while input and kernels
// are queued or run (a kernel waits for its copy by an event, the CPU for
// neither); leaving while the output is copied. How much that is, the host learns
// from the kernels: eight words of the stage, its facts, come back behind them.
// Then Deliver is called, and stage and slot are free. A slot is kept until then
// although its bytes have long been on the device: should the device fail, they
// are still here for the CPU.
//
// A lane never waits in the driver while it has work under way: it asks its
// events and sleeps in between (Pause). Waiting there would spin on a core that
// the producers need, and would not hear of a new job or of the end.
//
// A pipeline begins with two slots; the others are pinned while producers fill
// these. It is open until Finish, then finishing until all jobs are delivered.
// An error, a panic of a job, a lost device or the end of the caller's context.Context
// stops it: producers are woken, every lane lets go of what it has, and what was
// not delivered is given back ([Pipeline.Returned]). Close frees the rest.
//
// # Invariants
//
//   - ONCE: each submitted job is delivered once (Deliver returned nil) or
//     returned once, never both, whatever happens.
//   - ORDER: a lane delivers in the order in which it took jobs. Nothing holds
//     between lanes.
//   - DRAINED: before a lane frees memory, or gives back a job, its streams have
//     been waited for.
//   - BACK-PRESSURE: no more inputs are under way than there are slots, and no more
//     lent ones ([Pipeline.SubmitPinned]) than stages and two; who wants another waits.
//
// # Doing with less
//
// Host and device memory are drawn from budgets before they are allocated.
// Refused there, or by the system, a pipeline does with fewer slots, stages and
// lanes; where nothing can be pinned it stages in pageable memory, whose copies
// the driver makes at a fifth of the rate and while the lane waits
// ([Stats].Refused tells). It needs one stage and one slot at least.
//
// # The trap
//
// Of a context that is lost all results are void, those delivered before as
// well: on cuda.ErrLost the caller discards them, and not only what Returned
// lists (see package cuda, LOST).
//
// The package is gagg's own: what it takes and gives are types of internal/cuda, so that no other
// module can use it.
package streams
