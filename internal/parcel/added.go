// Package parcel owns the word that those who read units and those who pack
// them for a device agree on. A unit is a row group of a file; a parcel is
// units that go to a device in one piece, as they lie in their files, and is
// never split. internal/decode packs them, internal/cpu says which unit is
// next and who reads one that is in no parcel; neither imports the other.
package parcel

// Added is what came of adding a unit to a parcel.
type Added int

const (
	// AddedUnit: it is in the parcel.
	AddedUnit Added = iota
	// AddedFull: the parcel has no room for it; another one may have, unless
	// this one is empty.
	AddedFull
	// AddedNone: it is for no parcel; the CPU reads it. What is wrong with it,
	// if anything is, the CPU will find.
	AddedNone
)
