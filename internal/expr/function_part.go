package expr

import (
	"bytes"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// Functions that give a part of a text give a span of the argument's bytes:
// nothing is copied.

// partKernel is a kernel whose result of row i is args[0]'s bytes from..to.
func partKernel(part func(f *frame, i int, s []byte) (from, to int)) kernel {
	return func(f *frame) error {
		text := f.args[0]
		f.out.Data = text.Data
		for i, s := range text.Span[:f.n] {
			if f.out.IsNull(i) {
				f.out.Span[i] = column.Span{Off: s.Off}
				continue
			}
			from, to := part(f, i, text.Bytes(i))
			f.out.Span[i] = column.Span{Off: s.Off + uint32(from), Len: uint32(to - from)}
		}
		return nil
	}
}

// skipRunes is the number of bytes of the first n characters of s.
func skipRunes(s []byte, n int64) int {
	if first := s[:min(n, int64(len(s)))]; isASCII(first) {
		return len(first)
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRune(s[i:])
		i += size
	}
	return i
}

// between gives the bytes of the characters lo to hi, hi not included.
func between(s []byte, lo, hi int64) (from, to int) {
	lo, hi = max(lo, 0), max(hi, 0)
	if hi <= lo {
		return 0, 0
	}
	from = skipRunes(s, lo)
	return from, from + skipRunes(s[from:], hi-lo)
}

// addPlaces adds without leaving the range of int64.
func addPlaces(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

// substring binds substring(s, start[, count]). The first character is 1; a
// negative start counts from the end, a negative count goes backwards.
func substring(c *call) (*bound, error) {
	bounded := len(c.args) == 3
	n := c.strict(partKernel(func(f *frame, i int, s []byte) (int, int) {
		start := f.args[1].Int[i]
		switch {
		case start < 0:
			start = addPlaces(start, runes(s))
		default:
			start--
		}
		if !bounded {
			return between(s, start, math.MaxInt64)
		}
		end := addPlaces(start, f.args[2].Int[i])
		return between(s, min(start, end), max(start, end))
	}), c.args...)

	step := CutStep{Kind: CutCharacters, B: math.MaxInt64}
	start, known := constantCount(c.args[1])
	if step.A = start - 1; start < 0 {
		step.Kind, step.A = CutFromEnd, start
	}
	if bounded {
		count, constant := constantCount(c.args[2])
		end := addPlaces(step.A, count)
		known, step.A, step.B = known && constant, min(step.A, end), max(step.A, end)
	}
	return n.onCut(known, step), nil
}

// leftOf binds left(s, n): of a negative n all but the last -n characters.
func leftOf(c *call) (*bound, error) {
	n, known := constantCount(c.args[1])
	step := CutStep{Kind: CutCharacters, B: n}
	if n < 0 {
		step = CutStep{Kind: CutFromEnd, A: -math.MaxInt64, B: n}
	}
	return c.strict(partKernel(func(f *frame, i int, s []byte) (int, int) {
		n := f.args[1].Int[i]
		if n < 0 {
			n = addPlaces(n, runes(s))
		}
		return between(s, 0, n)
	}), c.args...).onCut(known, step), nil
}

// rightOf binds right(s, n): of a negative n all but the first -n characters.
func rightOf(c *call) (*bound, error) {
	n, known := constantCount(c.args[1])
	step := CutStep{Kind: CutFromEnd, A: -max(n, -math.MaxInt64), B: math.MaxInt64}
	if n < 0 {
		step.Kind = CutCharacters
	}
	return c.strict(partKernel(func(f *frame, i int, s []byte) (int, int) {
		n := f.args[1].Int[i]
		from := -max(n, -math.MaxInt64)
		if n >= 0 {
			from = runes(s) - n
		}
		return between(s, from, math.MaxInt64)
	}), c.args...).onCut(known, step), nil
}

// trimmed binds trim, ltrim and rtrim: of blanks, or of the characters in the
// second argument.
func trimmed(left, right bool) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		cut := func(r rune) bool { return r == ' ' || r >= utf8.RuneSelf && unicode.Is(unicode.Zs, r) }
		if len(c.args) > 1 {
			set := c.args[1].value.Bytes
			cut = func(r rune) bool { return strings.ContainsRune(set, r) }
		}
		return c.strict(partKernel(func(_ *frame, _ int, s []byte) (int, int) {
			from, to := 0, len(s)
			if left {
				from = to - len(bytes.TrimLeftFunc(s, cut))
			}
			if right {
				to = from + len(bytes.TrimRightFunc(s[from:], cut))
			}
			return from, to
		}), c.args[0]).onCut(len(c.args) == 1, CutStep{Kind: CutBlanks, A: truth(left), B: truth(right)}), nil
	}
}

// splitPart binds split_part(s, separator, n): the parts count from 1, and
// from -1 backwards. Without a separator every character is a part.
func splitPart(c *call) (*bound, error) {
	step, known := partStep(c.args[1], c.args[2])
	return c.strict(partKernel(func(f *frame, i int, s []byte) (int, int) {
		sep, n := f.args[1].Bytes(i), f.args[2].Int[i]
		switch {
		case len(sep) == 0 && n < 0:
			n = addPlaces(n, runes(s))
			return between(s, n, n+1)
		case len(sep) == 0:
			return between(s, n-1, n)
		case n < 0:
			return lastPart(s, sep, n)
		}
		return nthPart(s, sep, n)
	}), c.args...).onCut(known, step), nil
}

// partStep is the step of a part between separators, if both are constant.
func partStep(separator, number *bound) (step CutStep, known bool) {
	n, known := constantCount(number)
	if !known || separator.kind != boundConst || separator.value.Null {
		return step, false
	}
	sep := separator.value.Bytes
	switch {
	case sep == "" && n < 0:
		return CutStep{Kind: CutFromEnd, A: n, B: addPlaces(n, 1)}, true
	case sep == "":
		return CutStep{Kind: CutCharacters, A: n - 1, B: n}, true
	case n < 0:
		return CutStep{Kind: CutLastPart, A: -max(n, -math.MaxInt64), Separator: sep}, true
	case n == 0:
		return CutStep{Kind: CutCharacters}, true // there is none
	}
	return CutStep{Kind: CutPart, A: n, Separator: sep}, true
}

func nthPart(s, sep []byte, n int64) (from, to int) {
	for ; n > 0; n-- {
		next := bytes.Index(s[from:], sep)
		switch {
		case n == 1 && next < 0:
			return from, len(s)
		case n == 1:
			return from, from + next
		case next < 0:
			return 0, 0
		}
		from += next + len(sep)
	}
	return 0, 0
}

func lastPart(s, sep []byte, n int64) (from, to int) {
	for to = len(s); ; n++ {
		last := bytes.LastIndex(s[:to], sep)
		switch {
		case n == -1 && last < 0:
			return 0, to
		case n == -1:
			return last + len(sep), to
		case last < 0:
			return 0, 0
		}
		to = last
	}
}
