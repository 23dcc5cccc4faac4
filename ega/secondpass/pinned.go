package secondpass

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// AddPinned is Add for rows in pinned memory of this context or another. They are not copied to a
// buffer, so they must not change until End or Begin has returned without an error, or Close has
// returned. Small pieces cross one by one, but are aggregated together.
func (b *Pass) AddPinned(rows cuda.PinnedSpan) (taken int, err error) {
	if b.failed != nil {
		return 0, b.failed
	}
	if b.phase == idle {
		return 0, ErrIdle
	}
	row := b.config.Layout.RowBytes()
	if rows.Size()%row != 0 {
		return 0, fmt.Errorf("second pass: %v of pinned memory is no whole rows of %v", rows.Size(), row)
	}
	for n := int(rows.Size() / row); taken < n && b.phase == loading; {
		some, err := b.fillPinned(rows.Slice(cuda.Size(taken)*row, rows.Size()))
		if err != nil {
			return taken, b.fail(err)
		}
		taken += some
	}
	return taken, nil
}

// fillPinned is fill for rows in pinned memory.
func (b *Pass) fillPinned(rows cuda.PinnedSpan) (n int, err error) {
	if b.rounds.left() == 0 {
		if err := b.nextRound(); err != nil || b.phase == full {
			return 0, err
		}
	}
	s, row := &b.stages[b.current], b.config.Layout.RowBytes()
	if err := b.cross(s); err != nil { // those before them
		return 0, err
	}
	n = b.room(int(rows.Size() / row))
	if err := b.copyIn(s, n, rows.Slice(0, cuda.Size(n)*row)); err != nil {
		return 0, err
	}
	b.stats.Pinned += int64(n)
	return n, b.took(n)
}
