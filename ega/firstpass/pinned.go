package firstpass

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// SubmitPinned hands in whole rows in pinned memory, at most as many as a slot has room for. They
// must not change until Finish or Close has returned. It waits while many such inputs are under
// way. It fails if there are too many rows or a part of one, or with streams.ErrStopped and the
// cause.
func (m *Pass) SubmitPinned(input cuda.PinnedSpan) error {
	row := m.plan.layout.RowBytes()
	rows := input.Size() / row
	if input.Size()%row != 0 || rows > cuda.Size(m.plan.rows) {
		return fmt.Errorf("first pass: an input of %v is not up to %d whole rows of %v", input.Size(), m.plan.rows, row)
	}
	if rows == 0 {
		return nil
	}
	if err := m.pipeline.SubmitPinned(&tile{pass: m, rows: uint64(rows)}, input); err != nil {
		return err
	}
	m.rows.Add(uint64(rows))
	return nil
}
