// Package firstpass is the first pass of MP-EGA (paper 003, §4.2). It aggregates more rows
// than the device has memory for.
//
// # Terms
//
//	tile     a job of the pass: rows that cross in a slot of a streams.Pipeline, or that kernels
//	         make of what a slot holds ([Maker])
//	lane     a lane of the pipeline: it takes tiles in turns with the others
//	table    one ega.Table of all lanes
//	rest     the rows of a tile that found no slot in the table
//
// # Layout
//
//	slots ──link──▶ stage ──▶ table ──grow──▶ a larger one
//	                  │                          │ Finish
//	                  │ rest                     ├──▶ groups.Groups, which stay on the device
//	                  ▼                          │
//	               evict.Lane ──▶ the host ◀─────┘ if rows were evicted
//
// # Phases
//
//   - growing: every tile is combined into the table. A row that finds no slot shows that the table
//     is full. It is made larger, as long as there is memory.
//   - frozen: the table stays. Rows whose group is in it are combined. The rest goes to the lane's
//     chains (package evict), and so do whole tiles while hardly any row of a tile is combined
//     (bypass).
//   - finished: if no row was evicted, the groups stay on the device ([Pass.Finish] returns them).
//     Else all groups and all evicted rows are on the host: given to Config.Write, or in
//     [Pass.EvictedRows].
//
// The type strategy decides how a tile is combined: through tables in shared memory, or row by
// row.
//
// Where groups keep lists of values no row is evicted: a job whose rows find no slot is declined as
// a whole.
//
// # Invariants
//
//   - ONE-PLACE: a submitted row is combined into the table, or it is in a chain, or it was given
//     to Write, or it is retained: one of them. Only the rows of a declined job are nowhere. A
//     group may be in several places; who has the rows on the host combines them again.
//   - SHARED: who holds the lock of the table alone replaces it, or changes its view, once all work
//     of the context has ended. Who queues work on it holds the lock with others.
//   - BUDGET: what is allocated on the device at any time is within Config.Device.
//   - LIST-WHOLE: of a job all rows are in the table and all their values in records, or none.
//   - LIST-ROOM: jobs under way and those that were taken have no more rows than there is room for
//     in each list.
package firstpass
