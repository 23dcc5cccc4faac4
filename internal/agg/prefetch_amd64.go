package agg

// prefetchRows prefetches the cache lines of the rows of some groups: span words of each row, of
// which the first group's begin with rows[0].
//
//go:noescape
func prefetchRows(rows []uint64, stride, span int, gids []uint32)
