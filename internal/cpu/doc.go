// Package cpu is the CPU executor: it groups and aggregates batches of
// columns with one [Worker] a thread and merges what the workers have made.
//
// # Terms
//
//	row        one group: [hash | key words | state words], stride words; without the
//	           hash if that is soon made of the key (package key: HASH-OMITTED)
//	table      the groups of one worker, found by key (table.go)
//	bucket     the rows of one partition that one worker has placed
//	           (package partition)
//	partition  the groups whose hashes begin with the same bits
//
//	store      the buckets of one owner with the memory and the disk that they
//	           draw on (store.go)
//
// # Phases of a run
//
//  1. Each worker takes batches. It filters, computes keys and arguments, and
//     finds the group of each row: by dictionary codes alone where all keys
//     are coded (codes.go), else by hash in its table. Its state words are
//     updated one aggregate at a time.
//  2. When the counts say that a table which grows would not reduce the rows
//     enough (feedback.DecideTable), the worker empties it into buckets and keeps
//     a table of the cache's size from then on, which it empties whenever it is
//     full; and when that saves too little as well (feedback.DecideCached), it
//     places a row for each row of a batch directly. Nothing is lost by deciding wrongly:
//     every strategy ends in rows with mergeable states. If there is an accelerator
//     (accelerator.go), rows are written into its memory in place of buckets (offload.go), or
//     units as they lie in their files (encoded.go), beside which workers may aggregate others
//     (share.go); rows for which it has no room may lie in pinned memory beside the buckets
//     (evicted.go).
//  3. When the input is at its end tables that have grown stay where they are, and are merged in
//     place (inplace.go); others are emptied into buckets.
//  4. Each partition is merged by one goroutine (merge.go): the pages of all
//     workers' buckets are walked, the first row of a key becomes its group,
//     in place, and later ones are combined into it.
//  5. The groups of a partition are emitted in order of hash (RESULT-ORDER), so
//     that the output does not depend on workers, partitions or timing.
//
// Aggregates of distinct values have phases 1 to 4 of their own for each value, between 2 and 3,
// unless these are in a set that workers share, or paired with the numbers of groups: see
// distinct.go.
//
// A Worker is used by one goroutine. Merging begins when all have finished.
//
// # Who owns what
//
// [Config] says what is grouped and how, and is never changed. [Run] is what workers and mergers of
// one reading share, with all that changes while they work. The package knows no device: rows for
// devices go through an [Accelerator].
//
// # When memory is refused
//
// All memory that grows with the input is asked for before it is taken, and
// where it is asked for a refusal changes nothing, so that the same step can
// be tried again:
//
//	by            asking for             does, and tries again
//	a worker      room in its table      empties the table into buckets; whether it is
//	                                     used again is feedback.DecideFlush
//	a worker      room for values        the same, and puts all buckets to disk, since
//	                                     only then its arena can be emptied (SPILL-EPOCH)
//	a store       a page                 puts the fullest partitions to disk
//	a worker      anything, and holds    halves the batch (overload)
//	              nothing that could go
//	a merger      room for a block       divides the partition by its next hash bits
//	                                     (divide.go), or sorts it where that may not
//	                                     part its rows (sorted.go)
//
// Keys that were made to collide are looked up by a secret hash
// (crowded.go).
//
// So a run ends with a refusal only if one row, or one group's value, needs
// more than there is, or the disk is full.
package cpu
