package plan

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/query"
)

// The keys of a shared set have no place for what their grouping set leaves out, nor for NULLs that
// no row has: with a value of a word they are two words, or one.
func TestSharedKeys(t *testing.T) {
	t.Parallel()
	p := &planner{Plan: &Plan{
		Query:  &query.Compiled{Groupings: [][]bool{{true, true, false}, {false, false, true}, {false, false, false}}},
		Filled: cpu.Filled{Keys: []bool{true, true, false, true}},
	}}
	for _, kind := range []column.Kind{column.Int32, column.Uint32, column.Int64, column.Uint8} {
		p.KeyColumns = append(p.KeyColumns, key.Column{Type: column.Type{Kind: kind}})
	}
	p.Sets = []Set{{Value: key.Column{Type: column.Type{Kind: column.Float64}, Filled: true}}}
	p.layOut()
	for i, words := range []int{2, 3, 1} {
		s := p.Sets[0].Shared[i]
		if s.Layout.Words != words || s.Columns[len(s.Columns)-1] != 4 {
			t.Errorf("set %d: %d words, columns %v, want %d words and the value as the last column", i, s.Layout.Words, s.Columns, words)
		}
	}
	if n := p.Sets[0].Layout.Words; n != 4 {
		t.Errorf("all keys and the value take %d words, want 4", n)
	}
	p.Query.Mode = query.TakeStates // groups of all sets come
	p.layOut()
	if s := p.Sets[0].Shared; len(s) != 1 || s[0].Layout != p.Sets[0].Layout {
		t.Errorf("of states there are %d shared sets, want one of all keys", len(s))
	}
}
