// Package encoded owns the word that those who read units and those who put
// them into batches for a device agree on. A unit is a row group of a file; an encoded
// batch is units that go to a device in one piece, as they lie in their files, and is
// never split. internal/decode builds them, internal/cpu says which unit is
// next and who reads one that is in no batch; neither imports the other.
package encoded

// Added is what came of adding a unit to a batch.
type Added int

const (
	// AddedUnit: it is in the batch.
	AddedUnit Added = iota
	// AddedFull: the batch has no room for it; another one may have, unless
	// this one is empty.
	AddedFull
	// AddedNone: it is for no batch; the CPU reads it. What is wrong with it,
	// if anything is, the CPU will find.
	AddedNone
)
