package evict

import (
	"math/bits"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/partition/ondevice"
)

// LeastMemory is the least device memory that Config.Memory may give a lane, for appends of that
// many rows.
func LeastMemory(l *ega.Layout, rows int) cuda.Size { return leastPool(l, rows) + leastSendBytes(l) }

// share divides the memory of a lane: for its chains, and for the pieces in which their rows leave.
func share(l *ega.Layout, memory cuda.Size, rows int) (pages, pieces cuda.Size) {
	spare := memory - min(memory, leastPool(l, rows))
	pieces = sendBytes(l, min(memory/sendShare, spare))
	return memory - pieces, pieces
}

// sendBytes is the device memory that a sender takes of so much: for pieces of pieceBytes if there
// is enough.
func sendBytes(l *ega.Layout, memory cuda.Size) cuda.Size {
	return max(min(sendPieces*pieceBytes, memory), leastSendBytes(l))
}

// leastSendBytes is the least of sendBytes.
func leastSendBytes(l *ega.Layout) cuda.Size { return sendPieces * cuda.Allocated(l.RowBytes()) }

// poolPlan is the shape of a lane's chains.
type poolPlan struct {
	page  cuda.Size // bytes
	pages uint32
	bits  uint // 2^bits chains
}

// planSets is how many sets of chains a lane may have in so much memory, and their plan. There are
// two at least, so that one is filled while the other leaves, unless each would be too small for
// an append.
func planSets(l *ega.Layout, memory cuda.Size, rows int) (sets int, each poolPlan) {
	enough := max(setBytes, setAppends*cuda.Size(rows)*l.RowBytes())
	for sets = int(min(max(memory/enough, 2), mostSets)); sets > 1; sets-- {
		if each = planPool(l, min(memory/cuda.Size(sets), enough), rows); each.pages >= each.least(l, rows) {
			return sets, each
		}
	}
	return 1, planPool(l, min(memory, enough), rows)
}

// planPool plans the chains of one set in so much memory, for appends of that many rows.
func planPool(l *ega.Layout, memory cuda.Size, rows int) poolPlan {
	p := poolPlan{page: leastPage(l), bits: MaxChainBits}
	for p.page < poolPage && memory/(2*p.page) >= poolPages || memory/p.page > poolMost {
		p.page *= 2
	}
	for {
		fixed := p.fixed(l, rows)
		p.pages = uint32((memory - min(memory, fixed)) / (p.page + poolPerPage))
		if p.bits == 1 || p.pages >= max(poolChain<<p.bits, p.least(l, rows)) {
			return p
		}
		p.bits--
	}
}

// fixed is the memory beside the pages.
func (p poolPlan) fixed(l *ega.Layout, rows int) cuda.Size {
	bits := cuda.Size(rows)/8 + 8
	return poolFixed + bits + poolPerPage*cuda.Size(rows/p.pageRows(l)+1) + poolPerChain<<p.bits
}

// pageRows is how many rows a page holds.
func (p poolPlan) pageRows(l *ega.Layout) int { return int(p.page / l.RowBytes()) }

// bound is the most pages that chains with that many rows have: each chain has at most one page
// that is not full.
func (p poolPlan) bound(l *ega.Layout, rows uint64) uint64 {
	return rows/uint64(p.pageRows(l)) + 1<<p.bits
}

// room says whether there are pages for that many rows, however they are divided among the chains.
func (p poolPlan) room(l *ega.Layout, rows uint64) bool { return p.bound(l, rows) <= uint64(p.pages) }

// least is how many pages there have to be for one append.
func (p poolPlan) least(l *ega.Layout, rows int) uint32 { return uint32(p.bound(l, uint64(rows))) }

func leastPage(l *ega.Layout) cuda.Size {
	return max(cuda.Size(1)<<bits.Len64(uint64(poolPageRows*l.RowBytes()-1)), 1<<5)
}

// leastPool is the least memory for chains.
func leastPool(l *ega.Layout, rows int) cuda.Size {
	p := poolPlan{page: leastPage(l), bits: 1}
	return p.fixed(l, rows) + cuda.Size(p.least(l, rows)+1)*(p.page+poolPerPage)
}

// config is the shape of the pool.
func (p poolPlan) config() gpumem.Config { return gpumem.Config{Pages: p.pages, PageBytes: p.page} }

// device is how the chains divide rows.
func (p poolPlan) device(l *ega.Layout) ondevice.Rows {
	return ondevice.Rows{Stride: l.Stride(), Bits: p.bits}
}
