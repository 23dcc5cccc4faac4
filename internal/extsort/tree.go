package extsort

import (
	"bytes"
	"context"
)

// tree merges cursors: a tree of losers (Knuth, volume 3, §5.4.1).
// Cursor i is leaf len(cursors)+i; the parent of node n is n/2, and an inner
// node names the cursor that lost there. The winner of all is winner.
type tree struct {
	cursors []*cursor
	losers  []int
	winner  int
}

// newTree sets the cursors to their first rows. There is one at least.
func newTree(ctx context.Context, cursors []*cursor) (*tree, error) {
	first, shared := cursors[0].sample()
	for _, c := range cursors[1:] {
		key, n := c.sample()
		shared = min(shared, n)
		shared = common(first, key, shared)
	}
	for _, c := range cursors {
		c.shared = shared
		if err := c.step(ctx); err != nil {
			return nil, err
		}
	}
	t := &tree{cursors: cursors, losers: make([]int, len(cursors))}
	t.winner = t.play(1)
	return t, nil
}

// play returns the winner below a node.
func (t *tree) play(node int) int {
	if node >= len(t.cursors) {
		return node - len(t.cursors)
	}
	a, b := t.play(2*node), t.play(2*node+1)
	if t.less(b, a) {
		a, b = b, a
	}
	t.losers[node] = b
	return a
}

// top is the cursor at the least row; its current row is nil at the end.
func (t *tree) top() *cursor { return t.cursors[t.winner] }

// step moves the top cursor to its next row.
func (t *tree) step(ctx context.Context) error {
	if err := t.top().step(ctx); err != nil {
		return err
	}
	w := t.winner
	for node := (w + len(t.cursors)) / 2; node > 0; node /= 2 {
		if t.less(t.losers[node], w) {
			t.losers[node], w = w, t.losers[node]
		}
	}
	t.winner = w
	return nil
}

func (t *tree) less(i, j int) bool {
	a, b := t.cursors[i], t.cursors[j]
	switch {
	case a.current == nil:
		return false
	case b.current == nil:
		return true
	case a.prefix != b.prefix:
		return a.prefix < b.prefix
	}
	return bytes.Compare(a.current.key(), b.current.key()) < 0
}
