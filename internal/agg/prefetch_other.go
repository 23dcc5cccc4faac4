//go:build !amd64

package agg

import "runtime"

// prefetchRows reads a word of each cache line of the rows of some groups, for Go has no prefetch:
// span words of each row, of which the first group's begin with rows[0]. It does nothing else, so
// that the processor has many lines under way at once.
func prefetchRows(rows []uint64, stride, span int, gids []uint32) {
	const line = 8 // words
	sum := uint64(0)
	for _, g := range gids {
		row := rows[int(g)*stride:][:span]
		for at := 0; at < span; at += line {
			sum += row[at]
		}
		sum += row[span-1]
	}
	runtime.KeepAlive(sum)
}
