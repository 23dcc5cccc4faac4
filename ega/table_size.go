package ega

import "github.com/gagg-dev/gagg/internal/cuda"

// TableBytes is the device memory of a Table of so many slots, without a rest.
func TableBytes(l *Layout, slots uint32) cuda.Size {
	rows, tags := (cuda.Size(slots)+1)*l.RowBytes(), 4*l.Tags(slots)
	// no rest, and a word
	return cuda.Allocated(rows, tags, TilesBytes(uint64(slots)+1), RestBytes) + 2*cuda.AllocUnit
}

// TableSlots is how many slots a Table may have in so much memory.
func TableSlots(l *Layout, memory cuda.Size) uint32 {
	low, high := uint32(0), uint32(MaxSlots)
	for low < high {
		if middle := low + (high-low+1)/2; TableBytes(l, middle) <= memory {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
