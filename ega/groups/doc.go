// Package groups reads the groups that a first pass has left on the device, in order of their hash.
//
// # Layout
//
// The groups stay in the ega.Table in which they were combined. There they lie almost in order of
// hash, since the top bits of the hash say where the search for a slot begins. [Groups] divide them
// by their top bits into partitions, each partition by the bits that follow into buckets, and each
// bucket into fine buckets (ega_order.cu):
//
//	table    | … slots …                                       |
//	         | partition 0            | partition 1            |
//	         | bucket     | bucket    | bucket     | bucket    |
//	         | fine| fine | …  | …    | …    | …   | …    | …  |
//	places     0     3      7    9      14     17    20     24   how many groups are before it
//	from       0            7           14           20
//
// A row lies at most reach slots behind the slot where its search began, and no empty slot is in
// between (WITHIN-REACH, WITHIN-CLUSTER). So a kernel that looks at the slots of some fine buckets,
// and at as many more, finds all their groups and writes them in order of hash. places stay on the
// device; the host has from.
//
// # Phases
//
//  1. [New] counts the groups, which reads a word of each slot at most.
//  2. [Groups.Select] may hand out only the groups wanted, in any order.
//  3. Or [Groups.Regroup] makes other Groups of them, by some of their keys.
//  4. Else [Groups.Open] locates the groups of each bucket and makes the buffers of readers, if
//     there is room ([Groups.Readable]). Each [Reader] copies partitions to the host; while one
//     piece is read, the next one crosses.
//  5. Or, once they are located ([Groups.Locate]), a [Walk] copies the groups to other memory of
//     the device, from which they go to the host.
//
// # Invariants
//
// Each group is in one row: all combining in the table has ended, and no row of these groups is
// elsewhere on the device. Groups and readers never take more than Config.Room and what
// Config.Host grants.
package groups
