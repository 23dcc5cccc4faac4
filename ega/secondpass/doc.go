// Package secondpass aggregates buckets of rows that lie in host memory, one bucket after the
// other: the second pass of MP-EGA (paper 003, sections 4.2 and 4.2.2). The rows of a bucket share
// the top bits of their hash, which chose the bucket.
//
// # Layout
//
//	rows of Add ──copy──▶ buffer ──link──▶ its twin on the device ──AddShared──▶ ega.Table
//	rows of AddPinned ─────────────link──▶                                        │ parts, made dense
//	emit of End ◀──────── buffer ◀──link── its twin on the device ◀───────────────┘
//
// There are two buffers ([stage]): one is filled, or emitted, while the other crosses the link or
// is aggregated. Rows in pinned memory need no buffer, only its place: their copies to the twin are
// queued, and nobody waits for them.
//
// # Phases
//
// [Pass.Begin] begins a bucket, [Pass.Add] and [Pass.AddPinned] load rows, [Pass.End] emits the
// groups. When the table counts as full, Add takes no more rows. The caller combines those
// elsewhere, with the groups that End emits: they may be rows of these groups or of others.
//
// # Rounds
//
// Nobody knows how many groups a bucket has. feedback.Load says how many rows may be loaded until
// the groups of the table are counted again: a round.
//
// By LOAD-MAX of that type the table never has more groups than its largest load, and so refuses no
// row.
//
// A count is asked for when three quarters of a round are on their way, and read when the round
// ends. Every row since the count may be a new group. So the count and these rows bound the groups,
// and the next round is planned by the bound. The device is waited for only if the bound says that
// the table may be full. A bucket whose rows all fit is never waited for while it is loaded.
package secondpass
