// Package spelling proposes the names that a misspelt one may stand for.
package spelling

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate that name is most likely a misspelling of, the first of several;
// "" if none is near.
func Nearest(name string, candidates []string) string {
	if near := Similar(name, candidates, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Similar returns the candidates that name may be a misspelling of, the nearest first, and most
// of them at most. A candidate is near if at most a third of the name's characters differ, or one
// where it or the name is short, and no more than mostEdits. Two short names of one length with
// different first letters are not near: who writes pos does not mean cos. Letter case is no
// difference.
func Similar(name string, candidates []string, most int) (names []string) {
	type candidate struct {
		name  string
		edits int
	}
	want := strings.ToLower(name)
	limit := min(max(utf8.RuneCountInString(want)/3, 1), mostEdits)
	var near []candidate
	for _, c := range candidates {
		lower, limit := strings.ToLower(c), limit
		if utf8.RuneCountInString(lower) < short {
			limit = 1
		}
		if d := edits(want, lower, limit); d <= limit && !otherInitial(want, lower) {
			near = append(near, candidate{c, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.edits, b.edits) })
	for _, c := range near[:min(len(near), most)] {
		names = append(names, c.name)
	}
	return names
}

const (
	mostEdits = 8
	short     = 6 // names below so many characters are short
)

// otherInitial reports whether two short names differ by their first letters, which are not
// exchanged with the second ones.
func otherInitial(a, b string) bool {
	x, y := []rune(a), []rune(b)
	return len(x) == len(y) && len(x) < short && x[0] != y[0] && (len(x) == 1 || x[0] != y[1])
}

// edits is how many characters to insert, delete or replace to make b of a. Two neighbours
// exchanged count once (the distance of optimal string alignment). Beyond limit it may be any
// greater number.
func edits(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	before, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			replaced := prev[j]
			if x[i] != y[j] {
				replaced++
			}
			row[j+1] = min(replaced, prev[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(y)]
}
