package combine

// Op is the operation on a state word when two rows combine. The numbers are those of EgaOp in
// internal/kernels/ega.cuh.
type Op uint8

const (
	Add       Op = iota // modulo 2^64
	AddLow              // unsigned low word of a sum of 128 bits: mate * 2^64 + this
	AddLowInt           // the same, signed
	AddHigh             // the highest word: the mate of either, or of an AddMid
	Sum                 // double; the sum is this + mate
	SumError            // the mate of Sum or SumFine
	MinInt
	MaxInt
	MinUint
	MaxUint
	MinFloat // NaN is the greatest, -0 becomes 0, NaN becomes math.NaN()
	MaxFloat
	And
	Or
	Xor
	// AddMid is an unsigned word between the lowest and the highest of a sum of more
	// than 128 bits: the mate of the word below it, with the word above it as its own
	// mate, which stands behind it.
	AddMid
	// SumFine is Sum with twice the digits of a double: its mate, a SumError, is
	// kept small. For sums that are subtracted from each other.
	SumFine
	// Least is an int64: the least of all values. Its mate is the next one, a LeastMid, whose mate
	// stands behind it and is the one after that, or LeastLast, which ends the list.
	Least
	LeastMid
	LeastLast
	// LeastText is the prefix of the least text: its first 8 bytes as a number, the first byte the
	// highest. Its mate, a TextRef, is where that text is in the memory of the device, where equal
	// texts are in one place; 0: there is no text.
	LeastText
	GreatestText // the same of the greatest text
	TextRef
	// First is the least position of a row, an int64, and Last the greatest, -1 if there is none.
	// The mate, a Placed, is the value of that row.
	First
	Last
	// Best is an int64: the least key. Its mate, a BestPlace, is the least position of a row with
	// that key, whose mate, a Placed, is the value of that row.
	Best
	BestPlace
	Placed
	LeastBy    // as LeastText, with a ByRef as the mate, whose mate is a BestPlace
	GreatestBy // the same of the greatest text
	ByRef
	ops // the number of operations
)

// MaxWords is the most state words of a row. The device keeps the operations of all of them in
// registers or shared memory.
const MaxWords = 32

// Valid reports whether there is such an operation.
func (o Op) Valid() bool { return o < ops }

// mates lists, for each operation, the operations that a mate may have.
var mates = [ops][]Op{
	AddLow: {AddHigh, AddMid}, AddLowInt: {AddHigh, AddMid}, AddMid: {AddHigh, AddMid},
	Sum: {SumError}, SumFine: {SumError},
	Least: {LeastMid, LeastLast}, LeastMid: {LeastMid, LeastLast},
	LeastText: {TextRef}, GreatestText: {TextRef},
	First: {Placed}, Last: {Placed}, Best: {BestPlace}, BestPlace: {Placed},
	LeastBy: {ByRef}, GreatestBy: {ByRef}, ByRef: {BestPlace},
}

// Mates returns the operations that the mate of a word of this operation may have; none: the word
// has no mate.
func (o Op) Mates() []Op {
	if !o.Valid() {
		return nil
	}
	return mates[o]
}

// IsMate reports whether a word of this operation changes only together with another word.
func (o Op) IsMate() bool {
	switch o {
	case AddHigh, AddMid, SumError, LeastMid, LeastLast, TextRef, BestPlace, Placed, ByRef:
		return true
	}
	return false
}
