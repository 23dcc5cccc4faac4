package plan

import (
	"errors"
	"fmt"
	"strings"
)

// NeedError says that a query cannot begin within its memory limit or, with Result set, that a
// group cannot be put out. It is an error of the budget.
type NeedError struct {
	Limit int64 // bytes
	// Need: bytes of the least limit under which it runs, with one thread; or that are enough for
	// the group
	Need    int64
	Columns int    // that are read
	Result  string // the values of the group that are too large, and their size
}

func (e *NeedError) Error() string {
	if e.Result != "" {
		return fmt.Sprintf("memory limit too small: %s; %s are enough, it has %s", e.Result, MiB(e.Need), MiB(e.Limit))
	}
	columns := "column"
	if e.Columns != 1 {
		columns = "columns"
	}
	return fmt.Sprintf("memory limit too small: needs at least %s for %d %s and 1 thread, has %s",
		MiB(e.Need), e.Columns, columns, MiB(e.Limit))
}

// MiB is bytes in MiB, rounded up, so that a need that is shown is enough.
func MiB(bytes int64) string {
	tenths := (bytes*10 + 1<<20 - 1) >> 20
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0") + " MiB"
}

// beside adds the metadata of the input to what a query needs.
func (p *planner) beside(err error) error {
	var need *NeedError
	if errors.As(err, &need) {
		return &NeedError{Limit: p.Options.MemoryLimit, Need: need.Need + p.metadata, Columns: need.Columns}
	}
	return err
}
