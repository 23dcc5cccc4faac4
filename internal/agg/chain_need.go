package agg

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// How many bytes, as arena.Size counts them, appending values to chains may
// put into the arena.

// need bounds what appending any of the first rows values of x takes: each may
// need a new blob.
func (c *chain) need(x *column.Vector, rows int) int {
	if c.words > 0 {
		n := rows * arena.Size(8*(max(blobWords, firstEntries*c.words)+c.words+trailerWords))
		if c.compacts() {
			n += mostLarge(rows) * arena.Size(8*(largeBlob+trailerWords))
		}
		return n
	}
	n := 0
	for _, s := range x.Span[:rows] {
		n += arena.Size(8 * (max(blobWords, c.value+stringWords(int(s.Len))) + trailerWords))
	}
	return n
}

// smallBlobs is more than the blobs that a chain begins with, which are smaller
// than the others.
const smallBlobs = 8

// needOne is need if all values go to one chain: each but the last of its blobs
// is filled.
func (c *chain) needOne(x *column.Vector, rows int) int {
	if c.words > 0 {
		blobs := rows/(blobWords/c.words) + smallBlobs
		return c.need(x, blobs)
	}
	// What does not fit a blob and what is in it are more than the blob has, so that blobs have at
	// most twice what is put into them, but for the last. A long string has a blob of its own size,
	// and the one behind it begins another.
	n := smallBlobs * arena.Size(8*(blobWords+trailerWords))
	for _, s := range x.Span[:rows] {
		words := c.value + stringWords(int(s.Len))
		n += arena.Size(8 * (words + min(words, blobWords) + 2*trailerWords))
	}
	return n
}
