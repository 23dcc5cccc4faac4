package expr

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// A filter's result names the rows that are true. To find them every row has to be read, which is
// most of what a cheap filter costs.
//
// For a column with a dictionary the result is codes of a dictionary of booleans. Most of these
// have one true entry (x = 7), one false entry (x <> 0), or few entries. Their rows are found by
// comparing or shifting codes, eight at a time; nothing is looked up. In other dictionaries each
// entry has a bit, so that the bits of a large one stay in the first-level cache.

// selector appends rows that are true.
type selector struct {
	dict *column.Dict // that the rest tells of
	form dictForm
	code int32    // of the entry that is unlike the others
	bits []uint32 // by code: the entry is true
}

// dictForm is how rows with a dictionary of booleans are told.
type dictForm uint8

const (
	formMany     dictForm = iota // by looking the code's bit up
	formFew                      // by shifting 32 bits
	formOneTrue                  // by one code
	formOneFalse                 // by one code, which may be that of no entry
	formNone                     // no row is true
)

// noCode is the code of no entry.
const noCode = -1

// selectStep is how many rows a kernel takes at a time, and how many it writes beyond those that
// are true.
const selectStep = 8

// appendTrue appends the rows of v, booleans, that are true.
func (s *selector) appendTrue(sel []int32, v *column.Vector) []int32 {
	k := len(sel)
	sel = slices.Grow(sel, v.Len+selectStep)[:k+v.Len+selectStep]
	return sel[:k+s.write(sel[k:], v)]
}

// write writes the rows of v that are true to dst, which has room for selectStep more than v has,
// and returns how many there are.
func (s *selector) write(dst []int32, v *column.Vector) int {
	if v.Dict == nil {
		return selectWords(dst, v.Int[:v.Len], v.Null)
	}
	if s.dict != v.Dict {
		s.learn(v.Dict)
	}
	codes := v.Codes[:v.Len]
	switch s.form {
	case formNone:
		return 0
	case formFew:
		return selectBits(dst, codes, v.Null, s.bits)
	case formOneTrue:
		return selectCode(dst, codes, v.Null, s.code, false)
	case formOneFalse:
		return selectCode(dst, codes, v.Null, s.code, true)
	default:
		return selectMany(dst, codes, v.Null, s.bits)
	}
}

// learn finds the form of a dictionary.
func (s *selector) learn(d *column.Dict) {
	is := d.Values.Int[:d.Values.Len]
	s.bits = sized(s.bits, len(is)/32+1)
	clear(s.bits)
	var trues int
	last := [2]int32{noCode, noCode} // code of an entry that is not true, and of one that is
	for code, b := range is {
		trues += int(b & 1)
		last[b&1] = int32(code)
		s.bits[code/32] |= uint32(b&1) << (code % 32)
	}
	s.dict, s.form, s.code = d, formMany, noCode
	switch {
	case trues == 0:
		s.form = formNone
	case trues >= len(is)-1:
		s.form, s.code = formOneFalse, last[0]
	case trues == 1:
		s.form, s.code = formOneTrue, last[1]
	case len(is) <= 32:
		s.form = formFew
	}
}

// The generic loops write every row's number, and step over it only if the row is true: there is no
// branch to mispredict.

// selectWordsFrom does what selectWords does for the rows from i on, of which k were true before.
func selectWordsFrom(dst []int32, is []int64, null []bool, i, k int) int {
	for ; i < len(is); i++ {
		dst[k] = int32(i)
		k += int(is[i] & truth(null == nil || !null[i]))
	}
	return k
}

func selectManyFrom(dst, codes []int32, null []bool, bits []uint32, i, k int) int {
	for ; i < len(codes); i++ {
		dst[k] = int32(i)
		k += int(int64(bits[codes[i]>>5]>>(codes[i]&31)) & truth(null == nil || !null[i]))
	}
	return k
}

func selectCodeFrom(dst, codes []int32, null []bool, code int32, others bool, i, k int) int {
	for ; i < len(codes); i++ {
		dst[k] = int32(i)
		k += int(truth((codes[i] == code) != others && (null == nil || !null[i])))
	}
	return k
}
