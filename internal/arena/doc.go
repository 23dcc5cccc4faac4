// Package arena stores byte strings of any length so that a fixed 64-bit word, a ref, stands for
// each of them: group rows and keys are fixed words, and strings live here.
//
// An [Arenas] is a registry of chunks, shared by all workers of a run. Each worker puts its
// strings into an [Arena] of its own, which takes the lock of the registry only for a new chunk.
// A ref is valid in the whole registry:
//
//	ref   = chunk number (32 bits) | offset of the value / 8 (32 bits)
//	chunk = value, value, ... | Padding
//	value = length (4 bytes) capacity (4 bytes) | bytes, up to capacity
//
// Values begin at a multiple of 8, and offset 0 of a chunk is never one, because the header lies
// before it. So ref 0 stands for no value.
//
// A [Section] builds a chunk by itself, whose refs are those of chunk number 0. It is written to
// disk with the rows that refer to it. Read back, it is registered as it is ([Arenas.Adopt]), and
// its base is added to the refs.
//
// # Memory
//
// A value that is replaced keeps its space when the new one fits. Else the new space is at least
// twice the old, so that replacing costs space in proportion to the longest value. A value of
// megabytes ([Alone]) is freed when a longer one takes its place. Nothing else is freed before
// [Arena.Reset], which frees all chunks of one arena at once. After Reset and [Arenas.Drop] the
// numbers of chunks are used again.
//
// A chunk is drawn from a budget before it is made. A loop that puts values cannot stop in its
// middle, so it reserves room before it begins ([Arena.Reserve]), by an upper bound of what it
// puts. Puts beyond that work too: what the budget refuses them is a debt. The next Reserve asks
// for the debt first, and memory that is freed pays it first.
//
// # Traps
//
// A goroutine may read what another one wrote only after both met at a barrier (a channel, a
// mutex, a WaitGroup), and only the owner of the row that holds a ref may replace its value. A
// ref into a chunk that was freed or dropped reads another value, or panics.
package arena
