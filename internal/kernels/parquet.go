package kernels

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The numbers of parquet.cuh that the host writes and reads.

// ParquetPadding is how many bytes behind those of a page kernels may read.
const ParquetPadding = 16

// ParquetSizedLevels stands for the levels of a page of the first kind: their
// size comes in front of them.
const ParquetSizedLevels = 1<<32 - 1

// ParquetInWork is set in ParquetTask.Entries that lie in the work memory.
const ParquetInWork = 1 << 63

// How a page is compressed: ParquetPage.Codec.
const (
	ParquetCodecNone = iota
	ParquetCodecSnappy
	ParquetCodecZstd
)

// What a stop word says: why the rows of a parcel were not made.
const (
	ParquetStopNulls   = 1 + iota // NULLs where none are admitted
	ParquetStopLong               // a string has more than 15 bytes
	ParquetStopRange              // a value is outside of what its output admits
	ParquetStopDamaged            // the bytes of a page make no sense
	ParquetStopTexts              // there is no room for the run's strings
)

// How the values of a page lie: ParquetPage.Encoding.
const (
	ParquetPlain  = iota // one after the other
	ParquetSplit         // BYTE_STREAM_SPLIT
	ParquetDelta         // DELTA_BINARY_PACKED
	ParquetTruths        // of a coded page: booleans in runs, behind their size
)

// What a value is in a page: ParquetOutput.Physical.
const (
	ParquetInt32 = iota
	ParquetInt64
	ParquetFloat
	ParquetDouble
	ParquetBytes
	ParquetBool    // a bit
	ParquetDecimal // an integer of Width bytes, the highest first
	ParquetInt96   // a time: microseconds since 1970
	ParquetBinary  // a string of Width bytes, 1 to 16
)

// ParquetDecimalWidth is the most bytes of a ParquetDecimal.
const ParquetDecimalWidth = 16

// What the values of an output come to: ParquetOutput.Form.
const (
	ParquetValue      = iota // one word: the int64, or the bits of the double
	ParquetBits              // key word and field hash of an integer or a float
	ParquetInline            // two key words and the field hash of a string; 16 bytes of ParquetBinary fill them
	ParquetLength            // one word: the bytes that a string has
	ParquetMatch             // one word: 1 or 0, whether a string is of the output's pattern
	ParquetCharacters        // one word: the characters that a string has
	ParquetRef               // one word: the ref of a string in the store
)

// How a state word is made: ParquetState.Word.
const (
	ParquetConstant         = iota // the constant
	ParquetCopy                    // the word of the array
	ParquetSum                     // the number of the array, added to 0
	ParquetProduct                 // the integer of the array, times that of the array whose number is the constant
	ParquetNot                     // the word of the array, each bit turned round
	ParquetOrder                   // the place of the array's double in order, as an int64
	ParquetOrderNot                // that, each bit turned round
	ParquetProductS                // a sum of one: the number of the array, times that of the array whose number is the constant
	ParquetProductC                // what its rounding lost
	ParquetThirdPowerS             // a sum of one: the number of the array to the power of 3
	ParquetThirdPowerC             // what its rounding lost
	ParquetFourthPowerS            // a sum of one: the number of the array to the power of 4
	ParquetFourthPowerC            // what its rounding lost
	ParquetFixed                   // a word of the number as a fixed-point number: see ParquetFixedWord
	ParquetFixedProduct            // the same of the number times that of another array
	ParquetFixedThirdPower         // of the number to the power of 3
	ParquetFixedFourthPower        // of the number to the power of 4
	ParquetSign                    // each bit the sign of the array's integer
	ParquetUnsigned                // the place of the array's uint64 in order, as an int64
	ParquetUnsignedNot             // that, each bit turned round
	ParquetPrefix                  // of the text of a ref the first 8 bytes, the first one the highest
	ParquetPosition                // the number of the row in the input
)

// How the word of an array is read as a double: ParquetState.Number and Times.
const (
	ParquetIsDouble   = iota // it is one
	ParquetIsUnsigned        // a uint64
	ParquetIsDecimal         // an int64; ParquetIsDecimal + n: in units of 10^-n
)

// ParquetFixedWord is the constant of a state word that is word number word of a number as a
// fixed-point number, in two's complement. The number is a double, or a product or power of
// doubles: an integer, the product of their fractions of 53 bits, shifted to the left by the sum of
// their exponents, in the units of their bits, less base. other is the array of the second factor
// of a product. If the shift is less than 0, or beyond or more less the bits that the integer has
// less than it may have, or if a double is not normal, the parcel is stopped, but for zeros.
func ParquetFixedWord(base int16, beyond uint16, word uint8, other uint32) uint64 {
	return uint64(uint16(base)) | uint64(beyond)<<16 | uint64(word)<<32 | uint64(other)<<40
}

// What a step of a program does: ParquetStep.Code. parquet.cuh says what of.
const (
	ParquetLoad = iota
	ParquetLiteral
	ParquetNone
	ParquetStore
	ParquetKeep
	ParquetCompareInt
	ParquetCompareUint
	ParquetCompareDouble
	ParquetAnd
	ParquetOr
	ParquetNotBool
	ParquetIsNull
	ParquetSelect
	ParquetReplace
	ParquetNullUnless
	ParquetAdd
	ParquetSubtract
	ParquetMultiply
	ParquetDivide
	ParquetRemainder
	ParquetWithin
	ParquetBitAnd
	ParquetBitOr
	ParquetBitXor
	ParquetFloor
	ParquetFloorRest
	ParquetCivil
	ParquetToDouble
	ParquetToFloat
	ParquetToInteger
	ParquetMagnitude
	ParquetAddDouble
	ParquetSubtractDouble
	ParquetMultiplyDouble
	ParquetDivideDouble
	ParquetRoundDouble
)

// ParquetRegisters is the most registers of a program.
const ParquetRegisters = 32

// AppendParquetPattern appends a pattern of one or more pieces, which begins where patterns so far
// end. The bytes behind the last one may be loaded too. folded: strings count in lower case, and
// pieces are of ASCII.
func AppendParquetPattern(patterns []byte, pieces [][]byte, folded bool) []byte {
	count := uint32(len(pieces))
	if folded {
		count |= parquetFolded
		if slices.ContainsFunc(pieces, func(p []byte) bool { return bytes.ContainsAny(p, "ik") }) {
			count |= parquetFoldedBeyond
		}
	}
	patterns = binary.LittleEndian.AppendUint32(patterns, count)
	for _, p := range pieces {
		patterns = binary.LittleEndian.AppendUint32(patterns, uint32(len(p)))
	}
	for _, p := range pieces {
		patterns = append(patterns, p...)
	}
	return append(patterns, make([]byte, parquetPatternRoom-len(patterns)%8)...)
}

// What is set in the number of a pattern's pieces: PARQUET_FOLDED and PARQUET_FOLDED_BEYOND of
// parquet_match.cuh.
const parquetFolded, parquetFoldedBeyond = 1 << 31, 1 << 30

// What a step of a cut takes: ParquetCutStep.Kind.
const (
	ParquetCutCharacters = iota // those from A on, up to B
	ParquetCutFromEnd           // likewise, with as many as there are added to A and B
	ParquetCutPart              // part number A of those between separators, from 1 on
	ParquetCutLastPart          // part number A from the end
	ParquetCutBlanks            // what is behind blanks, if A is 1, and in front of others, if B is 1
)

// ParquetCutStep is a step of a cut of strings.
type ParquetCutStep struct {
	Kind      uint32
	A, B      int32
	Separator []byte // of parts
}

// AppendParquetCut appends a cut, which begins where patterns so far end, as AppendParquetPattern
// appends a pattern.
func AppendParquetCut(patterns []byte, steps []ParquetCutStep) []byte {
	patterns = binary.LittleEndian.AppendUint32(patterns, uint32(len(steps)))
	for _, s := range steps {
		for _, w := range []uint32{s.Kind, uint32(s.A), uint32(s.B), uint32(len(s.Separator))} {
			patterns = binary.LittleEndian.AppendUint32(patterns, w)
		}
		patterns = append(patterns, s.Separator...)
		patterns = append(patterns, make([]byte, -len(patterns)&3)...)
	}
	return append(patterns, make([]byte, parquetPatternRoom-len(patterns)%8)...)
}

// parquetPatternRoom is how many bytes there are behind a pattern at least, and those up to the
// next multiple of 8: one.
const parquetPatternRoom = 16
