package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// finding is a difference: a query, a way of running it, and what is wrong. The minimiser keeps a
// smaller one as long as anything is wrong with it.
type finding struct {
	query  *query
	config config
	wrong  error
	// before is the configuration whose order of rows differs; nil: the answer itself is wrong.
	before *config
}

// attempts is how many smaller queries are tried at most.
const attempts = 400

// shows reports whether a query in a configuration still goes wrong.
func (f *fuzzer) shows(ctx context.Context, d finding) (finding, bool) {
	want, err := expect(f.duck, d.query)
	if err != nil {
		return d, false
	}
	if want.err != nil && strings.Contains(want.err.Error(), "Binder") && d.wrong != nil && !strings.Contains(d.wrong.Error(), "Binder") {
		return d, false // a smaller query that makes no sense
	}
	var first []string
	if d.before != nil {
		o, err := f.runner.run(ctx, d.query, *d.before)
		if err != nil {
			return d, false
		}
		if first, err = want.check(f.runner, o, *d.before); err != nil || first == nil {
			return d, false
		}
	}
	o, err := f.runner.run(ctx, d.query, d.config)
	if err != nil || o.status == 2 && !strings.HasPrefix(fmt.Sprint(d.wrong), "status 2") {
		return d, false
	}
	order, wrong := want.check(f.runner, o, d.config)
	if wrong == nil && first != nil && order != nil && !slices.Equal(first, order) {
		wrong = errOrder
	}
	d.wrong = wrong
	return d, wrong != nil
}

// report makes a difference smaller and prints it as two commands, on files that stay.
func (f *fuzzer) report(ctx context.Context, seed uint64, d finding) error {
	fmt.Printf("DIFFERENCE in seed %d: %v\n  on %s\n", seed, d.wrong, strings.Join(d.query.table.wrote, "; "))
	folder := filepath.Join(f.kept, fmt.Sprintf("seed%d-%d", seed, f.found))
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	if !errors.Is(d.wrong, errLate) {
		d = f.minimize(ctx, d, folder)
	}
	t := *d.query.table
	t.files = nil
	for _, file := range d.query.table.files {
		kept := filepath.Join(folder, filepath.Base(file))
		if kept != file {
			data, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(kept, data, 0o666)
			}
			if err != nil {
				return err
			}
		}
		t.files = append(t.files, kept)
	}
	q := *d.query
	q.table = &t
	d.query = &q
	if d.before != nil {
		o, err := f.runner.run(ctx, d.query, *d.before)
		if err != nil {
			return err
		}
		fmt.Println("  ", f.runner.command(o, &t, *d.before))
	}
	o, err := f.runner.run(ctx, d.query, d.config)
	if err != nil {
		return err
	}
	fmt.Printf("   %s\n   %s\n   %v\n", f.runner.command(o, &t, d.config),
		shell([]string{f.duck.program, "select columns(*)::varchar from (" + q.sql() + ")"}), d.wrong)
	return nil
}

// minimize takes away what the difference does not need: parts of the query, then options, then
// rows.
func (f *fuzzer) minimize(ctx context.Context, d finding, folder string) finding {
	left := attempts
	try := func(smaller finding) bool {
		if left--; left < 0 || ctx.Err() != nil {
			return false
		}
		smaller, wrong := f.shows(ctx, smaller)
		if wrong {
			d = smaller
		}
		return wrong
	}
	for again := true; again; {
		again = false
		for _, q := range d.query.smaller() {
			if try(finding{q, d.config, d.wrong, d.before}) {
				again = true
				break
			}
		}
		for i := 0; ; i++ {
			c, ok := d.config.without(i)
			if !ok && i >= len(d.config.options)+3 {
				break
			}
			if ok && try(finding{d.query, c, d.wrong, d.before}) {
				again = true
				break
			}
		}
	}
	f.fewerRows(d, folder, try)
	return d
}

// smaller is the query with one thing less.
func (q *query) smaller() (out []*query) {
	change := func(edit func(*query)) {
		c := *q
		c.keys, c.items, c.order = slices.Clone(q.keys), slices.Clone(q.items), slices.Clone(q.order)
		edit(&c)
		if len(c.keys)+len(c.items) > 0 {
			out = append(out, &c)
		}
	}
	if q.sets != "" {
		change(func(c *query) { c.sets, c.listed, c.order = "", nil, nil })
	}
	for i := range q.listed {
		if i > 0 && q.listed[i] != 1<<len(q.keys)-1 {
			change(func(c *query) { c.listed = slices.Delete(slices.Clone(c.listed), i, i+1) })
		}
	}
	if q.having != nil {
		change(func(c *query) { c.having = nil })
	}
	if q.where != nil {
		change(func(c *query) { c.where = nil })
	}
	if q.limit >= 0 {
		change(func(c *query) { c.limit = -1 })
	}
	if len(q.order) > 0 {
		change(func(c *query) { c.order = nil })
	}
	for i := range q.items {
		change(func(c *query) { c.items, c.order = slices.Delete(c.items, i, i+1), nil })
	}
	for i := range q.keys {
		if q.sets != "list" && (q.sets == "" || len(q.keys) > 1) {
			change(func(c *query) { c.keys, c.order = slices.Delete(c.keys, i, i+1), nil })
		}
	}
	simpler := func(e *expr, set func(*query, *expr)) {
		for _, s := range e.smaller() {
			change(func(c *query) { set(c, s) })
		}
	}
	if q.where != nil {
		simpler(q.where, func(c *query, e *expr) { c.where = e })
	}
	if q.having != nil {
		simpler(q.having, func(c *query, e *expr) { c.having = e })
	}
	for i, k := range q.keys {
		simpler(k, func(c *query, e *expr) { c.keys[i] = e })
	}
	for i, it := range q.items {
		if it.over != nil {
			simpler(it.over, func(c *query, e *expr) { c.items[i].over = e })
			continue
		}
		for _, o := range it.agg.smaller() {
			change(func(c *query) { c.items[i].agg = o })
		}
	}
	return out
}

func (o *output) smaller() (out []*output) {
	if o.where != nil {
		c := *o
		c.where = nil
		out = append(out, &c)
		for _, s := range o.where.smaller() {
			c := *o
			c.where = s
			out = append(out, &c)
		}
	}
	for i, a := range o.args {
		for _, s := range a.smaller() {
			c := *o
			c.args = slices.Clone(o.args)
			c.args[i] = s
			out = append(out, &c)
		}
	}
	return out
}

// fewerRows halves the table as long as the difference shows, in a file that DuckDB writes. If it
// shows only in the original files, these stay.
func (f *fuzzer) fewerRows(d finding, folder string, try func(finding) bool) {
	rows := d.query.table.rows
	from, n := 0, rows
	attempt := func(first, count int) bool {
		t := *d.query.table
		t.files = []string{filepath.Join(folder, fmt.Sprintf("rows%d-%d.parquet", first, count))}
		_, err := f.duck.rows(fmt.Sprintf("copy (select * from %s limit %d offset %d) to %s (format parquet)", d.query.table.from(), count, first, quote(t.files[0])))
		if err != nil {
			return false
		}
		q := *d.query
		q.table = &t
		if try(finding{&q, d.config, d.wrong, d.before}) {
			return true
		}
		_ = os.Remove(t.files[0]) // one that shows nothing
		return false
	}
	if !attempt(0, rows) {
		return
	}
	for n > 1 {
		half := n / 2
		switch {
		case attempt(from, half):
			n = half
		case attempt(from+half, n-half):
			from, n = from+half, n-half
		default:
			return
		}
	}
}
