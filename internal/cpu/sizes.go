package cpu

import "github.com/gagg-dev/gagg/feedback"

// sizes counts the rows of some groups of a table, up to a few: how many groups have one row, and
// how many two, says how many have none yet (feedback.Observation).
type sizes struct {
	rows []uint8 // by group / sampleGroups: those of groups that sampleGroups divides
	ends bool    // rows came that were not counted: nothing is known of the groups from then on
}

// end stops counting: rows have come that cannot be counted.
func (s *sizes) end() { s.rows, s.ends = nil, true }

const (
	// sampleGroups is of how many groups the rows of one are counted: groups are numbered as they
	// come.
	sampleGroups = 32
	// mostCounted rows of a group are told apart.
	mostCounted = 3
)

// add counts the rows of a batch, by their groups, of which the table has n now.
func (s *sizes) add(groups []uint32, n uint32) {
	if s.ends {
		return
	}
	for len(s.rows)*sampleGroups < int(n) {
		s.rows = append(s.rows, 0)
	}
	for _, g := range groups {
		if g%sampleGroups == 0 {
			if r := &s.rows[g/sampleGroups]; *r < mostCounted {
				*r++
			}
		}
	}
}

// observe is the observation of rows that have made n groups; before is what was expected earlier.
func (s *sizes) observe(rows int64, n uint32, before float64) feedback.Observation {
	var having [mostCounted + 1]int
	for _, r := range s.rows {
		having[r]++
	}
	all := float64(max(len(s.rows), 1))
	return feedback.Observation{Rows: rows, Groups: int64(n), Once: float64(having[1]) / all, Twice: float64(having[2]) / all, Counted: len(s.rows), Before: before}
}
