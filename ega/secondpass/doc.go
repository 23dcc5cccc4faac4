// Package secondpass is the second pass of MP-EGA (paper 003, §4.2 and 4.2.2). It
// aggregates buckets of rows in host memory, one bucket after the other. The rows of a bucket
// share the top bits of their hash, which chose the bucket.
//
// # Layout
//
//	rows of Add ──copy──▶ buffer ──link──▶ its twin on the device ──AddShared──▶ ega.Table
//	rows of AddPinned ─────────────link──▶                                        │ parts, made dense
//	emit of End ◀──────── buffer ◀──link── its twin on the device ◀───────────────┘
//
// There are two buffers ([stage]): one is filled, or emitted, while the other crosses the link or
// is aggregated. Rows in pinned memory need no buffer: their copies to the twin are queued, and
// nobody waits for them.
//
// # Phases
//
// [Pass.Begin] begins a bucket, [Pass.Add] and [Pass.AddPinned] load rows, [Pass.End] emits the
// groups. When the table counts as full, Add takes no more rows. The caller combines the remaining
// rows elsewhere, with the groups that End emits: the rows may be of these groups or of others.
//
// # Rounds
//
// The number of groups in a bucket is not known beforehand. So rows are loaded in rounds:
// feedback.Load says how many rows may be loaded before the groups of the table are counted again.
//
// By the invariant LOAD-MAX of that type the table never has more groups than its largest load, so
// it refuses no row.
//
// A count is requested when three quarters of a round have been sent, and read when the round
// ends. Every row since the count may be a new group. So the count plus these rows is an upper
// bound of the groups, by which the next round is planned. The pass waits for the device only if,
// by the bound, the table may be full. While a bucket is loaded whose rows all fit, the pass never
// waits.
package secondpass
