package plan

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/partition"
)

// A memory plan has a share for each that needs one, and no more in all than
// the limit, at any time: while reading, and after.
func TestMemoryPlan(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		limit, read int64
		threads     int
		workers     int // 0: the limit is too small
	}{
		{0, 10 * mib, 8, 8},
		{1, 0, 1, 0},
		{4 * mib, 0, 1, 0},
		{16 * mib, 64 << 10, 1, 1},
		{16 * mib, 64 << 10, 8, 1},
		{64 * mib, 30 * mib, 8, 1},
		{64 * mib, 60 * mib, 8, 0},
		{512 * mib, 2 * mib, 2, 2},
		{1 << 40, 10 * mib, 64, 64},
	} {
		for _, ordered := range []bool{false, true} {
			name := fmt.Sprintf("limit %d, read %d, %d threads, ordered %t", c.limit, c.read, c.threads, ordered)
			m, workers, err := defaultNeeds.share(c.limit, c.threads, c.read, 1, groupings{ordered: ordered})
			if workers != c.workers || errors.As(err, new(*NeedError)) != (c.workers == 0) {
				t.Errorf("%s: %d workers, %v", name, workers, err)
			}
			if c.limit == 0 || err != nil {
				continue
			}
			n := int64(workers)
			if (m.Sort > 0) != ordered || m.Merge <= 0 || m.Output <= 0 || m.Worker <= 0 || m.Table <= 0 || m.Pages <= 0 {
				t.Errorf("%s: a share is missing or too much: %+v", name, m)
			}
			if sum := n*(m.Read+m.Worker) + m.HeldBack(workers); sum > m.Limit {
				t.Errorf("%s: %d bytes while reading: %+v", name, sum, m)
			}
			if m.Pages > n*partition.MostOpenBytes {
				t.Errorf("%s: %d bytes of pages that nobody fills", name, m.Pages)
			}
			if m.Later(workers) > m.Limit || m.HeldBack(workers) < 0 || m.Table > m.Worker {
				t.Errorf("%s: shares larger than what they are of: %+v", name, m)
			}
		}
	}
}
