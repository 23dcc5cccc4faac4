package parquetio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A glob is a pattern with * ? [a-z] {a,b} and ** (any number of folders).
//
// The library's own walk is not used: it passes silently over folders that
// cannot be read and over names that are not UTF-8, and so loses data.
type glob struct {
	base    string   // the folder in front of the first wildcard
	pattern string   // the rest
	lead    []string // leading parts of pattern that match one folder name each
	depth   int      // most slashes that a match can have
	tree    bool     // the pattern ends in **: everything below
}

func isGlob(p string) bool { return strings.ContainsAny(p, "*?[{") }

func newGlob(p string) (*glob, error) {
	if !doublestar.ValidatePattern(p) {
		return nil, &UsageError{fmt.Sprintf("%s: not a valid pattern (an unclosed [ or {)", p)}
	}
	g := &glob{}
	g.base, g.pattern = doublestar.SplitPattern(p)
	g.pattern = path.Clean(g.pattern)
	parts := strings.Split(g.pattern, "/")
	g.tree = parts[len(parts)-1] == "**"
	g.depth = strings.Count(g.pattern, "/")
	if strings.Contains(g.pattern, "**") {
		g.depth = maxWalkDepth
	}
	for _, part := range parts[:len(parts)-1] {
		// Alternatives may span a slash, and ** spans folders: from there
		// on only whole paths can be matched.
		if strings.ContainsAny(part, "{}") || strings.Contains(part, "**") || !doublestar.ValidatePattern(part) {
			break
		}
		g.lead = append(g.lead, part)
	}
	return g, nil
}

// find returns the files and the folders that the pattern matches.
func (g *glob) find(ctx context.Context, mem *account, pruning *Pruning) (files, dirs []string, err error) {
	w := walk{ctx: ctx, mem: mem, pruning: pruning}
	w.file = func(rel string) bool {
		return g.match(rel) && (!g.tree || hasParquetName(rel))
	}
	w.enter = func(rel string) bool {
		if !g.tree && g.match(rel) {
			dirs = append(dirs, joinPath(g.base, rel))
		}
		return g.leads(rel)
	}
	files, err = w.walkBelow(g.base)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // then nothing matches, and that is the better message
	}
	return files, sortedUnique(dirs), err
}

// match reports whether the whole path fits. Hidden names fit only where the
// pattern writes them out.
func (g *glob) match(rel string) bool {
	return !g.hides(path.Base(rel)) && doublestar.MatchUnvalidated(g.pattern, rel)
}

// leads reports whether something below the folder may fit.
func (g *glob) leads(rel string) bool {
	parts := strings.Split(rel, "/")
	if len(parts) > g.depth || g.hides(parts[len(parts)-1]) {
		return false
	}
	if i := len(parts) - 1; i < len(g.lead) {
		return doublestar.MatchUnvalidated(g.lead[i], parts[i])
	}
	return true
}

func (g *glob) hides(name string) bool {
	first := name[:1]
	return isHidden(name) && !strings.HasPrefix(g.pattern, first) && !strings.Contains(g.pattern, "/"+first)
}

func sortedUnique(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}
