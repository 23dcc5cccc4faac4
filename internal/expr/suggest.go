package expr

import "strings"

// Nearest returns the candidate that name is most likely a misspelling of,
// "" if none is near. Case does not count as a difference.
func Nearest(name string, candidates []string) string {
	best, limit := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(c), limit); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// didYouMean is the end of a message about an unknown name.
func didYouMean(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return " (did you mean \"" + near + "\"?)"
	}
	return ""
}

// editDistance counts the bytes to insert, delete or replace to make b of a;
// two neighbours exchanged count once. Distances of limit and more are
// given as limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := int(truth(a[i] != b[j]))
			row[j+1] = min(prev[j]+cost, prev[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return min(prev[len(b)], limit)
}
