package expr

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// plainPattern matches a pattern that goes through the text once, such as
//
//	^https?://(?:www\.)?([^/]+)/.*$
//	@([a-z.]+)
//
// some thirty times as fast as package regexp, whose result it has. It is a
// row of items. A run of a class of bytes takes all that there are, and need
// never give one back. NO-WAY-BACK: what follows a run begins with no byte of
// its class, so that it could not match earlier. Only an optional text is
// tried both ways; there are few of them, so that the time stays linear.
//
// A pattern without ^ begins with a text, one of some, or a run of one or more. It
// is tried where that text is, or at the first byte of each such run: from the others
// it would end at the same place, unless its length is bounded. After mostStarts
// tries package regexp does the rest, whose time is linear.
type plainPattern struct {
	items []plainItem
	marks int // of a match: two for each group, and two for the whole

	anywhere bool           // there is no ^
	first    *plainItem     // anywhere: what it begins with
	find     *needle        // of a first text of two bytes or more
	re       *regexp.Regexp // anywhere
}

// mostStarts is at how many places a match is tried in a text.
const mostStarts = 64

type plainItem struct {
	kind  plainKind
	text  []byte     // plainText, plainOptional, plainUntil
	texts [][]byte   // plainEither: none begins with another
	set   *[256]bool // plainRun, plainUntil; plainEither: what texts begin with
	not   int        // plainRun: the one byte that set lacks; -1: it is another set
	min   int        // plainRun, plainUntil
	max   int        // plainRun; -1: as many as there are
	mark  int        // plainMark
}

type plainKind uint8

const (
	plainText     plainKind = iota
	plainOptional           // text or nothing, text first
	plainEither             // one of some texts
	plainRun
	plainUntil // a run up to text, which is not a part of it: nothing but marks comes after that
	plainMark  // a group begins or ends
	plainEnd   // the end of the text
)

// maxOptional bounds the optional texts: each may double the work.
const maxOptional = 4

// newPlainPattern gives nil for a pattern that is none.
func newPlainPattern(pattern *regexp.Regexp) *plainPattern {
	re, err := syntax.Parse(pattern.String(), syntax.Perl)
	if err != nil || re.MaxCap() > maxGroup {
		return nil
	}
	p := &plainPattern{marks: 2 * (re.MaxCap() + 1), anywhere: true, re: pattern}
	items := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		items = re.Sub
	}
	if items[0].Op == syntax.OpBeginText {
		p.anywhere, items = false, items[1:]
	}
	for _, item := range items {
		if !p.add(item) {
			return nil
		}
	}
	if p.anywhere && !p.beginsPlainly() {
		return nil
	}
	optional := 0
	for i, it := range p.items {
		if it.kind == plainOptional {
			optional++
		}
		switch {
		case it.kind == plainRun && it.min != it.max && p.follows(i+1, it.set):
			return nil // NO-WAY-BACK
		case it.kind == plainUntil && !p.until(i):
			return nil
		}
	}
	if optional > maxOptional {
		return nil
	}
	return p
}

// beginsPlainly reports whether the pattern begins with a text, one of some, or a run.
// It notes which.
func (p *plainPattern) beginsPlainly() bool {
	at := slices.IndexFunc(p.items, func(it plainItem) bool { return it.kind != plainMark })
	if at < 0 {
		return false
	}
	p.first = &p.items[at]
	if p.first.kind == plainText && len(p.first.text) > 1 {
		p.find = newNeedle(p.first.text)
	}
	return p.first.kind == plainText || p.first.kind == plainEither || p.first.kind == plainRun && p.first.min > 0
}

// add appends the items of re; false if it has others.
func (p *plainPattern) add(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return true
	case syntax.OpEndText:
		p.items = append(p.items, plainItem{kind: plainEnd})
		return true
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !p.add(sub) {
				return false
			}
		}
		return true
	case syntax.OpCapture:
		p.items = append(p.items, plainItem{kind: plainMark, mark: 2 * re.Cap})
		if !p.add(re.Sub[0]) {
			return false
		}
		p.items = append(p.items, plainItem{kind: plainMark, mark: 2*re.Cap + 1})
		return true
	case syntax.OpLiteral:
		text, ok := literalText(re)
		p.items = append(p.items, plainItem{kind: plainText, text: text})
		return ok
	case syntax.OpAlternate:
		return p.addEither(re.Sub)
	case syntax.OpQuest:
		if text, ok := literalText(re.Sub[0]); ok && re.Flags&syntax.NonGreedy == 0 {
			p.items = append(p.items, plainItem{kind: plainOptional, text: text})
			return true
		}
	}
	return p.addRun(re)
}

// addEither appends a choice of texts, none of which begins with another: where one matches no
// other does.
func (p *plainPattern) addEither(subs []*syntax.Regexp) bool {
	it := plainItem{kind: plainEither, set: new([256]bool)}
	for _, sub := range subs {
		text, ok := literalText(sub)
		if !ok || slices.ContainsFunc(it.texts, func(other []byte) bool {
			return bytes.HasPrefix(text, other) || bytes.HasPrefix(other, text)
		}) {
			return false
		}
		it.texts, it.set[text[0]] = append(it.texts, text), true
	}
	p.items = append(p.items, it)
	return true
}

// addRun appends a class, or a repetition of one.
func (p *plainPattern) addRun(re *syntax.Regexp) bool {
	it := plainItem{kind: plainRun, min: 1, max: 1}
	class := re
	switch re.Op {
	case syntax.OpStar:
		it.min, it.max = 0, -1
	case syntax.OpPlus:
		it.max = -1
	case syntax.OpQuest:
		it.min = 0
	case syntax.OpRepeat:
		it.min, it.max = re.Min, re.Max
		if re.Max == 0 {
			return false
		}
	}
	if re.Op >= syntax.OpStar && re.Op <= syntax.OpRepeat {
		class = re.Sub[0]
		if re.Flags&syntax.NonGreedy != 0 {
			if it.max >= 0 {
				return false
			}
			it.kind = plainUntil
		}
	}
	it.set = byteSet(class)
	if it.set == nil || (it.max > 0 || it.min > 1 || it.kind == plainUntil && it.min > 0) && it.set[utf8.RuneSelf] {
		return false // a character of several bytes is one
	}
	it.not = -1
	missing := 0
	for c, in := range it.set {
		if !in {
			missing++
			it.not = c
		}
	}
	if missing != 1 {
		it.not = -1
	}
	p.items = append(p.items, it)
	return true
}

// until makes item i, a run that takes as little as it can, one up to the text behind it, if that
// ends the pattern: else the rest of the pattern might have the run go on.
func (p *plainPattern) until(i int) bool {
	for _, it := range p.items[i+1:] {
		switch {
		case it.kind == plainMark:
		case it.kind == plainText && p.items[i].text == nil:
			p.items[i].text = it.text
		default:
			return false
		}
	}
	return p.items[i].text != nil
}

// literalText is the text of a literal whose letter case counts. U+FFFD is
// also what package regexp takes bytes for that are not UTF-8.
func literalText(re *syntax.Regexp) ([]byte, bool) {
	if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 {
		return nil, false
	}
	text := string(re.Rune)
	return []byte(text), !bytes.ContainsRune([]byte(text), utf8.RuneError)
}

// byteSet gives the bytes of a class of characters that has all beyond ASCII
// or none; nil for others.
func byteSet(re *syntax.Regexp) *[256]bool {
	var ranges []rune
	switch re.Op {
	case syntax.OpCharClass:
		ranges = re.Rune
	case syntax.OpAnyCharNotNL:
		ranges = []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	case syntax.OpAnyChar:
		ranges = []rune{0, utf8.MaxRune}
	case syntax.OpLiteral:
		if len(re.Rune) != 1 || re.Rune[0] >= utf8.RuneSelf || re.Flags&syntax.FoldCase != 0 {
			return nil
		}
		ranges = []rune{re.Rune[0], re.Rune[0]}
	default:
		return nil
	}
	var set [256]bool
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if hi >= utf8.RuneSelf && (lo > utf8.RuneSelf || hi != utf8.MaxRune) {
			return nil
		}
		for c := lo; c <= min(hi, 255); c++ {
			set[c] = true
		}
	}
	return &set
}

// follows reports whether what begins with item k may begin with a byte of
// set.
func (p *plainPattern) follows(k int, set *[256]bool) bool {
	for _, it := range p.items[k:] {
		switch it.kind {
		case plainEnd:
			return false
		case plainText:
			return set[it.text[0]]
		case plainOptional:
			if set[it.text[0]] {
				return true
			}
		case plainEither:
			return slices.ContainsFunc(it.texts, func(text []byte) bool { return set[text[0]] })
		case plainRun, plainUntil:
			for c, in := range it.set {
				if in && set[c] {
					return true
				}
			}
			if it.min > 0 {
				return false
			}
		}
	}
	return false
}

// match fills m with the marks of the match in s and of its groups, as far as m
// has room for groups; nil if there is none.
func (p *plainPattern) match(s []byte, m []int) []int {
	m = m[:p.marks]
	if p.anywhere {
		return p.search(s, m)
	}
	if !p.from(0, 0, s, m) {
		return nil
	}
	m[0] = 0
	return m
}

// search is match of a pattern that may begin anywhere.
func (p *plainPattern) search(s []byte, m []int) []int {
	at := 0
	for range mostStarts {
		n := p.start(s[at:])
		if n < 0 {
			return nil
		}
		begun := at + n
		if p.from(0, begun, s, m) {
			m[0] = begun
			return m
		}
		at = begun + 1
		if p.first.max < 0 {
			at = begun + p.first.run(s[begun:])
		}
	}
	return p.re.FindSubmatchIndex(s)
}

// start is the first place of s where the pattern may begin; below 0: there is none.
func (p *plainPattern) start(s []byte) int {
	switch {
	case p.find != nil:
		return p.find.index(s)
	case p.first.kind == plainText:
		return bytes.IndexByte(s, p.first.text[0])
	}
	for i, c := range s {
		if p.first.set[c] && (p.first.kind == plainRun || p.first.either(s[i:]) >= 0) {
			return i
		}
	}
	return -1
}

// either is the number of the text that s begins with; below 0: there is none.
func (it *plainItem) either(s []byte) int {
	return slices.IndexFunc(it.texts, func(text []byte) bool { return bytes.HasPrefix(s, text) })
}

// from matches s[at:] with item k and those behind it.
func (p *plainPattern) from(k, at int, s []byte, m []int) bool {
	for ; k < len(p.items); k++ {
		switch it := &p.items[k]; it.kind {
		case plainText:
			if !bytes.HasPrefix(s[at:], it.text) {
				return false
			}
			at += len(it.text)
		case plainOptional:
			if bytes.HasPrefix(s[at:], it.text) && p.from(k+1, at+len(it.text), s, m) {
				return true
			}
		case plainEither:
			i := it.either(s[at:])
			if i < 0 {
				return false
			}
			at += len(it.texts[i])
		case plainRun:
			n := it.run(s[at:])
			if n < it.min {
				return false
			}
			at += n
		case plainUntil:
			n := it.until(s[at:])
			if n < 0 {
				return false
			}
			at += n
		case plainMark:
			m[it.mark] = at
		case plainEnd:
			if at != len(s) {
				return false
			}
		}
	}
	m[1] = at
	return true
}

// until is how many bytes of s come before the text; below 0: they are not of the set, or there is
// no text.
func (it *plainItem) until(s []byte) int {
	if len(s) < it.min {
		return -1
	}
	n := bytes.Index(s[it.min:], it.text)
	if n < 0 {
		return -1
	}
	if n += it.min; it.run(s[:n]) < n {
		return -1
	}
	return n
}

// run is how many bytes of s a run takes.
func (it *plainItem) run(s []byte) int {
	if it.max > 0 {
		s = s[:min(len(s), it.max)]
	}
	switch {
	case it.not >= 0:
		if n := bytes.IndexByte(s, byte(it.not)); n >= 0 {
			return n
		}
		return len(s)
	}
	for n, c := range s {
		if !it.set[c] {
			return n
		}
	}
	return len(s)
}
