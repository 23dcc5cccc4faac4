package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// This file is grouping sets. A query with sets has one more output, grouping of all keys, without
// which a row of a subtotal could not be told from one whose key is NULL.

// addSets draws, now and then, sets of the keys. Keys that are the same expression are left alone:
// then a set is there twice, as two rows that nothing tells apart.
func (q *query) addSets(rng *rand.Rand, device bool) {
	seen := map[string]bool{}
	for _, k := range q.keys {
		seen[k.inDuck()] = true
		if !strings.Contains(k.inDuck(), `"`) {
			// A constant: a number is that of a column to DuckDB, and constants elsewhere in the
			// query are the key.
			return
		}
	}
	if n := len(q.keys); device || n == 0 || n > 4 || len(seen) < n || rng.IntN(3) > 0 {
		return
	}
	q.sets = pick(rng, "rollup", "cube", "list", "list")
	if q.sets == "list" {
		for set := 1; set < 1<<len(q.keys); set++ {
			if rng.IntN(2) == 0 {
				q.listed = append(q.listed, set)
			}
		}
		q.listed = append(q.listed, 1<<len(q.keys)-1) // so that no key is in none
		if rng.IntN(2) == 0 {
			q.listed = append(q.listed, 0)
		}
		q.listed = unique(q.listed)
	}
}

func unique(sets []int) (out []int) {
	seen := map[int]bool{}
	for _, s := range sets {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

// outputs is what the query asks for behind its keys.
func (q *query) outputs() []item {
	if q.sets == "" {
		return q.items
	}
	var names, keys []string
	for i, k := range q.keys {
		names, keys = append(names, q.name(i)), append(keys, k.inDuck())
	}
	bits := &expr{kind: integer, gagg: "grouping(" + strings.Join(names, ", ") + ")", duck: "grouping(" + strings.Join(keys, ", ") + ")"}
	return append(q.items[:len(q.items):len(q.items)], item{over: bits})
}

// identity is what tells a row of the answer from all others.
func (q *query) identity(row []cell) string {
	id := keyText(row[:len(q.keys)])
	if q.sets != "" {
		id += " of set " + row[len(q.keys)+len(q.items)].String()
	}
	return id
}

// setsArgs is the sets as gagg's arguments.
func (q *query) setsArgs() []string {
	switch q.sets {
	case "":
		return nil
	case "list":
		return []string{"--sets", q.list(q.name)}
	}
	return []string{"--" + q.sets}
}

// groupBy is the keys for DuckDB.
func (q *query) groupBy() string {
	text := func(i int) string { return q.keys[i].inDuck() }
	var keys []string
	for i := range q.keys {
		if q.sets == "" {
			keys = append(keys, fmt.Sprint(i+1))
		} else {
			keys = append(keys, text(i))
		}
	}
	switch q.sets {
	case "":
		return strings.Join(keys, ", ")
	case "list":
		return "grouping sets (" + q.list(text) + ")"
	}
	return q.sets + "(" + strings.Join(keys, ", ") + ")"
}

// list is the sets that are listed, with a text for each key.
func (q *query) list(text func(key int) string) string {
	var sets []string
	for _, set := range q.listed {
		var keys []string
		for i := range q.keys {
			if set>>i&1 == 1 {
				keys = append(keys, text(i))
			}
		}
		sets = append(sets, "("+strings.Join(keys, ", ")+")")
	}
	return strings.Join(sets, ", ")
}
