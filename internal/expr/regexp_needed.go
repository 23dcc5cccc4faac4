package expr

import (
	"regexp"
	"regexp/syntax"
)

// neededText is a text of two bytes or more that all matches of re contain; nil if none is known.
// A string without it has no match, and looking for it is tens of times as fast as package
// regexp.
func neededText(re *regexp.Regexp) *needle {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil
	}
	if text := longestNeeded(parsed); len(text) > 1 {
		return newNeedle(text)
	}
	return nil
}

// longestNeeded is the longest literal that is a part of all matches.
func longestNeeded(re *syntax.Regexp) (longest []byte) {
	switch re.Op {
	case syntax.OpLiteral:
		if text, ok := literalText(re); ok {
			return text
		}
	case syntax.OpCapture, syntax.OpPlus:
		return longestNeeded(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return longestNeeded(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if text := longestNeeded(sub); len(text) > len(longest) {
				longest = text
			}
		}
	}
	return longest
}
