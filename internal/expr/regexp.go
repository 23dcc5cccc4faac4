package expr

import (
	"regexp"
	"slices"
	"strings"
)

// Regular expressions are those of RE2, matched in linear time. Patterns,
// flags and replacements are constants, compiled while binding.

// maxGroup is the last group that has a name in replacements: \9.
const maxGroup = 9

// pattern compiles argument 1 with the flags of argument flags, if it is there.
// global: flag g was among them.
func (c *call) pattern(flags int) (re *regexp.Regexp, global bool, err error) {
	text := c.args[1].value.Bytes
	literal, modes := false, ""
	for _, flag := range c.constant(flags, stringValue("")).Bytes {
		switch flag {
		case 'i':
			modes += "i"
		case 'c':
			modes = strings.ReplaceAll(modes, "i", "")
		case 's':
			modes += "s"
		case 'm', 'n', 'p':
			modes = strings.ReplaceAll(modes, "s", "")
		case 'l':
			literal = true
		case 'g':
			if global = true; c.f.name != "regexp_replace" {
				return nil, false, c.fail(flags, "flag g is for regexp_replace")
			}
		default:
			return nil, false, c.fail(flags, "%s knows no flag %q: there are c, i, l, m, n, p and s, and g in regexp_replace", c.n.Name, flag)
		}
	}
	if literal {
		text = regexp.QuoteMeta(text)
	}
	if modes != "" {
		text = "(?" + modes + ")" + text
	}
	if re, err = regexp.Compile(text); err != nil {
		return nil, false, c.fail(1, "%s", oneLine(strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	return re, global, nil
}

// regexpMatches binds regexp_matches(s, pattern[, flags]).
func regexpMatches(c *call) (*bound, error) {
	re, _, err := c.pattern(2)
	if err != nil {
		return nil, err
	}
	if literal, all := re.LiteralPrefix(); all {
		return c.strict(contains([]byte(literal)), c.args[0]), nil
	}
	return c.strict(testPattern(re), c.args[0]), nil
}

// testPattern is whether each string has a match.
func testPattern(re *regexp.Regexp) kernel {
	plain := newPlainPattern(re)
	needed := neededText(re)
	if plain != nil && !plain.anywhere {
		needed = nil // at the beginning the pattern itself is found as fast
	}
	return func(f *frame) error {
		match := re.Match
		if plain != nil {
			var m matchMarks
			match = func(s []byte) bool { return plain.match(s, m[:]) != nil }
		}
		if needed == nil {
			return testBytes(match)(f)
		}
		if err := needed.kernel(f); err != nil {
			return err
		}
		for i, is := range f.out.Int {
			if is != 0 {
				f.out.Int[i] = truth(!f.out.IsNull(i) && match(f.args[0].Bytes(i)))
			}
		}
		return nil
	}
}

// matchMarks has room for the places of a match and of groups up to \9.
type matchMarks [2 * (maxGroup + 1)]int

// finder gives the first match as regexp.FindSubmatchIndex does, perhaps in m;
// the groups only if they are wanted.
func finder(re *regexp.Regexp, groups bool) func(s []byte, m *matchMarks) []int {
	if plain := newPlainPattern(re); plain != nil {
		return func(s []byte, m *matchMarks) []int { return plain.match(s, m[:]) }
	}
	find := re.FindIndex
	if groups {
		find = re.FindSubmatchIndex
	}
	needed := neededText(re)
	return func(s []byte, _ *matchMarks) []int {
		if needed != nil && needed.index(s) < 0 {
			return nil
		}
		return find(s)
	}
}

// testBytes is a condition on each string.
func testBytes(test func([]byte) bool) kernel {
	return func(f *frame) error {
		for i := range f.out.Int {
			f.out.Int[i] = truth(!f.out.IsNull(i) && test(f.args[0].Bytes(i)))
		}
		return nil
	}
}

// regexpFullMatch binds regexp_full_match(s, pattern[, flags]).
func regexpFullMatch(c *call) (*bound, error) {
	re, _, err := c.pattern(2)
	if err != nil {
		return nil, err
	}
	whole, err := regexp.Compile(`\A(?:` + re.String() + `)\z`)
	if err != nil {
		return nil, c.fail(1, "%s", oneLine(err.Error()))
	}
	return c.strict(testPattern(whole), c.args[0]), nil
}

// regexpExtract binds regexp_extract(s, pattern[, group[, flags]]).
func regexpExtract(c *call) (*bound, error) {
	re, _, err := c.pattern(3)
	if err != nil {
		return nil, err
	}
	group := int(c.constant(2, intValue(0)).Int)
	if group < 0 || group > maxGroup {
		return nil, c.fail(2, "the group of regexp_extract is from 0 to %d, not %d", maxGroup, group)
	}
	find := finder(re, group > 0)
	return c.strict(func(f *frame) error {
		var marks matchMarks
		return partKernel(func(_ *frame, _ int, s []byte) (int, int) {
			if m := find(s, &marks); len(m) > 2*group && m[2*group] >= 0 {
				return m[2*group], m[2*group+1]
			}
			return 0, 0
		})(f)
	}, c.args[0]), nil
}

// regexpReplace binds regexp_replace(s, pattern, replacement[, flags]).
func regexpReplace(c *call) (*bound, error) {
	re, global, err := c.pattern(3)
	if err != nil {
		return nil, err
	}
	template, err := c.replacement(re.NumSubexp())
	if err != nil {
		return nil, err
	}
	if global {
		return c.strict(replaceAll(re, template), c.args[0]), nil
	}
	find := finder(re, template.usesGroups())
	return c.strict(func(f *frame) error {
		var marks matchMarks
		return f.eachBytes(func(i int, to []byte) []byte {
			s := f.args[0].Bytes(i)
			m := find(s, &marks)
			if m == nil {
				return append(to, s...)
			}
			return append(template.append(append(to, s[:m[0]]...), s, m), s[m[1]:]...)
		})
	}, c.args[0]), nil
}

// replaceAll replaces every match.
func replaceAll(re *regexp.Regexp, template replacement) kernel {
	needed, plain := neededText(re), newPlainPattern(re)
	if plain != nil && !plain.anywhere {
		plain = nil // it may match nothing, or at the beginning alone
	}
	return func(f *frame) error {
		return f.eachBytes(func(i int, to []byte) []byte {
			s, done := f.args[0].Bytes(i), 0
			if needed != nil && needed.index(s) < 0 {
				return append(to, s...)
			}
			if plain != nil {
				var marks matchMarks
				for m := plain.match(s, marks[:]); m != nil; m = plain.match(s, marks[:]) {
					to = template.append(append(to, s[:m[0]]...), s, m)
					s = s[m[1]:]
				}
				return append(to, s...)
			}
			for _, m := range re.FindAllSubmatchIndex(s, -1) {
				to = template.append(append(to, s[done:m[0]]...), s, m)
				done = m[1]
			}
			return append(to, s[done:]...)
		})
	}
}

// replacement is a replacement taken apart: pieces of text and of the match.
type replacement []piece

type piece struct {
	text  string
	group int // -1: text
}

// replacement reads argument 2, where \0 to \9 stand for groups of the pattern
// and \\ for a backslash.
func (c *call) replacement(groups int) (replacement, error) {
	var r replacement
	text := c.args[2].value.Bytes
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			return append(r, piece{text, -1}), nil
		}
		r = append(r, piece{text[:i], -1})
		switch escape := text[i+1:]; {
		case escape != "" && escape[0] == '\\':
			r = append(r, piece{`\`, -1})
		case escape == "" || !isDigit(escape[0]):
			return nil, c.fail(2, `in a replacement a backslash stands before a digit or a backslash: \1 is the first group, \\ a backslash`)
		case int(escape[0]-'0') > groups:
			return nil, c.fail(2, `\%c: the pattern has %d groups`, escape[0], groups)
		default:
			r = append(r, piece{"", int(escape[0] - '0')})
		}
		text = text[i+2:]
	}
}

func (r replacement) usesGroups() bool {
	return slices.ContainsFunc(r, func(p piece) bool { return p.group > 0 })
}

// append appends the replacement of the match m in s.
func (r replacement) append(to, s []byte, m []int) []byte {
	for _, p := range r {
		switch {
		case p.group < 0:
			to = append(to, p.text...)
		case m[2*p.group] >= 0:
			to = append(to, s[m[2*p.group]:m[2*p.group+1]]...)
		}
	}
	return to
}
