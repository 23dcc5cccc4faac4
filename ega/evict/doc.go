// Package evict moves rows to the host for which a first pass has no room on the device.
//
// # Terms
//
//	lane        what one lane of the pass appends rows to ([Lane])
//	chain       pages of rows whose hashes begin with the same bits (ondevice.Chains)
//	set         the chains that a lane fills together, with pages of their own
//	evictor     a goroutine that copies the full sets of a lane to the host
//	piece       device memory in which rows are gathered, to leave in one copy
//	buffer      pinned memory to which pieces are copied
//	writer      a goroutine that gives the rows of a buffer to Config.Write
//	retained    of rows: they stay in the buffer to which they were copied ([Rows])
//
// # Layout
//
//	device     chain 0 | chain 1 | chain 2 …      of a full set
//	              │         │         │           sender: pieces, copies
//	buffer     [ span  ][ span  ][ span …      ]
//	              │
//	              ├──▶ Config.Write               the caller's buckets, which may spill
//	              └──▶ Rows ──▶ secondpass        where they are, in pinned memory; or Rows.Drain
//
// A [Span] is rows of one chain that lie side by side in one retained buffer. The rows of a chain
// share the top bits of their hash, so a bucket of these bits or fewer consists of whole spans.
// The groups of the pass's table leave last, in order of hash, and are divided in the same way.
//
// # Phases
//
//  1. Nothing, until a lane appends its first rows: it makes a set, and starts its evictor.
//  2. A lane fills sets, its evictor empties them; both directions of the link are in use.
//  3. [Eviction.EndLanes], when the lanes of the pass have ended: all appended rows are on the
//     host.
//  4. [Eviction.SendGroups], if the groups of the table leave the device, too.
//  5. [Eviction.Finish]: all rows are written or retained. [Eviction.Rows] hands over those that
//     are retained.
//
// # Invariants
//
//   - RETAIN-WHOLE: of a buffer that is retained every row is in one span, and its copy has ended.
//   - RETAIN-BUDGET: all buffers together take RetainBytes at most, each drawn from Host before it
//     is made: what is pinned cannot spill.
//   - GO-ON: who waits for a buffer to retain gets one or hears that there will be none, and goes
//     on with those of the writers, who need none of these.
package evict
