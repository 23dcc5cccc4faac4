// Package groups reads the groups that a first pass has left on the device, in order of their hash.
//
// # Layout
//
// The groups stay in the ega.Table in which they were combined. There they lie almost in order of
// hash, since the top bits of the hash say where the search for a slot begins. [Groups] divide them
// by their top bits into partitions, and each partition by the bits that follow into fine buckets
// (ega_order.cu):
//
//	table    | … slots …                                       |
//	         | partition 0            | partition 1            |
//	         | bucket | bucket | …    | bucket | bucket | …    |
//	from       0        3        7      9        14   how many groups the buckets before it have
//
// A row lies at most reach slots behind the slot where its search began, and no empty slot is in
// between (WITHIN-REACH, WITHIN-CLUSTER). So a kernel that looks at the slots of some buckets, and
// at as many more, finds all their groups and writes them in order of hash.
//
// # Phases
//
//  1. [Locate] counts the groups of each bucket.
//  2. [Groups.Open] makes the buffers of readers, if there is room ([Groups.Readable]). Each
//     [Reader] copies partitions to the host; while one piece is read, the next one crosses.
//  3. Or, before any reader, [Groups.Select] hands out only the groups wanted, in any order.
//  4. Or, before any reader, [Groups.Regroup] makes other Groups of them, by some of their keys.
//  5. Or a [Walk] copies the groups to other memory of the device, from which they go to the host.
//
// # Invariants
//
// Each group is in one row: all combining in the table has ended, and no row of these groups is
// elsewhere on the device. Groups and readers never take more than Config.Room and what
// Config.Host grants.
package groups
