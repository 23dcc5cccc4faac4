package extsort

import (
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// pool is the memory that a sorter has drawn from Config.Budget.
type pool struct {
	from      budget.Lender
	share     int64 // bytes that it may keep without using them; 0: all
	pageBytes int
	held      int64
	free      [][]byte // pages that are not in use
}

// draw draws memory, and drops free pages where it is refused.
func (p *pool) draw(bytes int64) error {
	err := p.from.Draw(bytes)
	for err != nil && len(p.free) > 0 {
		p.drop()
		err = p.from.Draw(bytes)
	}
	if err == nil {
		p.held += bytes
	}
	return err
}

// release releases memory.
func (p *pool) release(bytes int64) {
	p.from.Release(bytes)
	p.held -= bytes
}

// page returns an empty page with room for n bytes.
func (p *pool) page(n int) ([]byte, error) {
	if k := len(p.free); k > 0 && n <= p.pageBytes {
		page := p.free[k-1]
		p.free = p.free[:k-1]
		return page[:0], nil
	}
	n = max(n, p.pageBytes)
	if err := p.draw(int64(n)); err != nil {
		return nil, err
	}
	return hostmem.Make[byte](n)[:0], nil
}

// put takes pages back.
func (p *pool) put(pages ...[]byte) {
	for _, page := range pages {
		if cap(page) != p.pageBytes || p.share > 0 && p.held > p.share {
			p.release(int64(cap(page)))
			hostmem.Free(page)
			continue
		}
		p.free = append(p.free, page)
	}
}

// drop gives a free page back.
func (p *pool) drop() {
	k := len(p.free) - 1
	p.release(int64(cap(p.free[k])))
	hostmem.Free(p.free[k])
	p.free = p.free[:k]
}

// trim gives all free pages back.
func (p *pool) trim() {
	for len(p.free) > 0 {
		p.drop()
	}
}
