package expr

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// like binds x [not] [i]like pattern: % stands for any characters, _ for one.
func (b *binder) like(n *Like) (*bound, error) {
	args, err := b.bindAll(n.X, n.Pattern)
	if err != nil {
		return nil, err
	}
	for _, x := range args {
		if x.typ.Kind != column.String && x.typ.Kind != column.Null {
			return nil, typeErrorf("like needs strings, not %s", x.typ)
		}
		if isNullConst(x) {
			return newNull(boolType), nil
		}
	}
	x := args[0]
	var result *bound
	if p := args[1]; n.Escape != "" {
		if result, err = likeEscaped(n, x, p); err != nil {
			return nil, err
		}
	} else if p.kind == boundConst {
		pattern, by := p.value.Bytes, likeConst
		if n.Fold {
			pattern, by = strings.ToLower(pattern), likeFolded
		}
		result = strict(boolType, n, by(pattern), x)
		if pieces, ok := likePieces(pattern); ok {
			result = result.onMatch(false, n.Fold, pieces...)
		}
		if begins, _, _ := strings.Cut(p.value.Bytes, "%"); !n.Fold && x.kind == boundColumn {
			begins, _, _ = strings.Cut(begins, "_")
			result.skip = skipPrefix(x.col, begins)
		}
	} else {
		result = strict(boolType, n, likeEach(n.Fold), x, p)
	}
	if n.Not {
		result = not(result, n)
	}
	return result, nil
}

// startsWith binds starts_with.
func startsWith(c *call) (*bound, error) {
	n, err := testPieces(bytes.HasPrefix, func(part string) []string { return []string{part, ""} })(c)
	if err == nil && c.args[0].kind == boundColumn && c.args[1].kind == boundConst {
		n.skip = skipPrefix(c.args[0].col, c.args[1].value.Bytes)
	}
	return n, err
}

// likeEscaped matches a pattern with an escape character as a regular expression. After that
// character % and _ stand for themselves.
func likeEscaped(n *Like, x, pattern *bound) (*bound, error) {
	if pattern.kind != boundConst {
		return nil, typeErrorf("the pattern of like with escape must be a constant")
	}
	flags := "(?s)"
	if n.Fold {
		flags = "(?is)"
	}
	var re strings.Builder
	escaped := false
	for _, r := range pattern.value.Bytes {
		switch {
		case escaped:
			re.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case string(r) == n.Escape:
			escaped = true
		case r == '%':
			re.WriteString(".*")
		case r == '_':
			re.WriteString(".")
		default:
			re.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	if escaped {
		return nil, typeErrorf("the pattern '%s' ends with its escape character", oneLine(pattern.value.Bytes))
	}
	whole, err := regexp.Compile(flags + `\A(?:` + re.String() + `)\z`)
	if err != nil {
		return nil, typeErrorf("the pattern '%s' is too long", oneLine(pattern.value.Bytes))
	}
	return strict(boolType, n, testPattern(whole), x), nil
}

// likePieces is the pieces of a pattern between %; false: it has _ too, of which they do not tell.
func likePieces(pattern string) (pieces []string, ok bool) {
	return strings.Split(pattern, "%"), !strings.Contains(pattern, "_")
}

// likeConst matches a known pattern.
func likeConst(pattern string) kernel {
	if pieces, ok := likePieces(pattern); ok && len(pieces) == 3 && pieces[0] == "" && pieces[2] == "" {
		return contains([]byte(pieces[1]))
	}
	return testBytes(likeMatch(pattern))
}

// likeMatch is whether a text is of a pattern.
func likeMatch(pattern string) func(s []byte) bool {
	if pieces, ok := likePieces(pattern); ok {
		return newMatch(pieces).matches
	}
	return func(s []byte) bool { return matchLike([]byte(pattern), s) }
}

// contains is whether each string contains text.
func contains(text []byte) kernel {
	if len(text) > 1 {
		return newNeedle(text).kernel
	}
	return testBytes(func(s []byte) bool { return bytes.Contains(s, text) })
}

func likeEach(fold bool) kernel {
	return func(f *frame) error {
		for i := range f.n {
			s, p := f.args[0].Bytes(i), f.args[1].Bytes(i)
			if fold {
				s, p = bytes.ToLower(s), bytes.ToLower(p)
			}
			f.out.Int[i] = truth(matchLike(p, s))
		}
		return nil
	}
}

// matchLike matches with one point to come back to: the last % seen. That is
// enough, since a later % can do all that an earlier one could.
func matchLike(p, s []byte) bool {
	i, j, back, from := 0, 0, -1, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '%':
			back, from = i+1, j
			i++
			continue
		case i < len(p) && p[i] == '_':
			_, size := utf8.DecodeRune(s[j:])
			i, j = i+1, j+size
			continue
		case i < len(p) && p[i] == s[j]:
			i, j = i+1, j+1
			continue
		case back < 0:
			return false
		}
		_, size := utf8.DecodeRune(s[from:])
		from += size
		i, j = back, from
	}
	for i < len(p) && p[i] == '%' {
		i++
	}
	return i == len(p)
}
