package plan

import (
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file is what some rows show: how many pass the filter, how many groups they make, and how
// long their expressions take. Footers seldom tell any of it: a column that is not dictionary-coded
// may have as many values as rows, or two (docs/decisions/0039).

// Sampling says which rows.
type Sampling struct {
	From  int64 // the least number of rows of an input
	Units int   // row groups to read of, spread over the input
	Rows  int   // of each, the first ones
}

var defaultSampling = Sampling{From: 1 << 20, Units: 8, Rows: 4 << 10}

// sampled is what a sample tells of all rows. The zero value tells nothing.
type sampled struct {
	by     []*expr.Expr // what makes groups
	ok     bool
	groups float64 // about how many
	keyed  float64 // about how many the keys of the query make
	// together: rows of a group follow each other, and it has hardly any elsewhere
	together bool
	// selectivity is the part of the rows that pass the filter; if none does, less than one of them
	selectivity float64
	// computing is the seconds of a core that filter, keys and arguments take for a row
	computing float64
}

// sample is what the first rows of some row groups tell, of the groups that some expressions make.
// It is not ok if they cannot be read or computed, which the run will tell, or if there are few
// rows in all.
func (p *planner) sample(by []*expr.Expr) sampled {
	if !p.Rereadable || p.Facts.Rows < p.Options.Tuning.Sampling.From || p.Query.Texts.Sample.OfRows() {
		return sampled{}
	}
	if p.sampled.by == nil || !slices.Equal(p.sampled.by, by) {
		p.sampled = p.newSample(by)
	}
	return p.sampled
}

// newSample takes a sample. Rows of the same group often come together. So what a row group shows
// of groups is one draw of each of its groups, and not of its rows.
func (p *planner) newSample(by []*expr.Expr) sampled {
	s := sampled{by: by}
	parts, err := p.draw(by)
	if err != nil {
		return s
	}
	var rows, passed int64
	perRow := make([]float64, 0, len(parts))
	for i := range parts {
		part := &parts[i]
		rows, passed = rows+part.rows, passed+part.passed
		if part.rows > 0 {
			perRow = append(perRow, part.seconds(p.Facts.Rows/int64(p.scan.RowGroups())))
		}
	}
	if rows == 0 {
		return s
	}
	slices.Sort(perRow)
	s.ok, s.computing = true, perRow[len(perRow)/4] // others may have waited for a core
	s.selectivity = max(float64(passed), .5) / float64(rows)
	all := float64(p.Facts.Rows) * s.selectivity // that pass
	s.groups, s.keyed = all, all
	if passed > 0 {
		drawn, seen := drawnOf(parts, func(s *part) []uint64 { return s.groups })
		s.groups = feedback.ExpectedGroups(drawn, seen, max(int64(all*float64(drawn)/float64(passed)), drawn))
		s.together = drawn < passed*3/4 && seen > drawn*9/10
		drawn, seen = drawnOf(parts, func(s *part) []uint64 { return s.keyed })
		s.keyed = feedback.ExpectedGroups(drawn, seen, max(int64(all*float64(drawn)/float64(passed)), drawn))
	}
	return s
}

// drawnOf is how many groups the parts have, one by one and together.
func drawnOf(parts []part, of func(*part) []uint64) (drawn, seen int64) {
	var all []uint64
	for i := range parts {
		all = append(all, of(&parts[i])...)
	}
	return int64(len(all)), int64(len(different(all)))
}

// draw reads the sample.
func (p *planner) draw(by []*expr.Expr) ([]part, error) {
	how := &p.Options.Tuning.Sampling
	d := drawing{by: by, keys: p.Query.Keys, where: p.Query.Where, most: int64(how.Rows)}
	for _, e := range slices.Concat(p.Query.Keys, p.Query.Args) {
		if e != nil && e.Operations() > 0 {
			d.computed = append(d.computed, e)
		}
	}
	for _, e := range slices.Concat(by, d.keys, d.computed, []*expr.Expr{d.where}) {
		if e != nil {
			d.columns = append(d.columns, e.Columns()...)
		}
	}
	slices.Sort(d.columns)
	d.columns = slices.Compact(d.columns)
	o := Scan(p.Query, p.Options)
	o.BatchRows, o.Extremes, o.Repeat, o.Columns = how.Rows, nil, false, nil
	for _, c := range d.columns {
		o.Columns = append(o.Columns, p.Query.Cols[c])
	}
	if skip := o.Skip; skip != nil {
		o.SkipColumns = nil
		o.Skip = func(bounds func(int) column.Bounds) bool {
			return skip(func(c int) column.Bounds { return bounds(slices.Index(d.columns, c)) })
		}
	}
	scan, err := p.in.Scan(o)
	if err != nil {
		return nil, err
	}
	units := spread(how.Units, scan.Units())
	parts, errs := make([]part, len(units)), make([]error, len(units))
	var all sync.WaitGroup
	turns := make(chan struct{}, max(p.Options.threads()/2, 1)) // so that the time of each is its own
	for i, unit := range units {
		all.Go(func() {
			turns <- struct{}{}
			errs[i] = d.read(scan, unit, &parts[i])
			<-turns
		})
	}
	all.Wait()
	return parts, errors.Join(errs...)
}

// spread is at most so many numbers below n, each once. They lie at multiples of the golden ratio:
// no period of the input, as of files that are much alike, has several of them at the same place.
func spread(units, n int) (at []int) {
	for i := range min(units, n) {
		_, part := math.Modf(float64(i) * math.Phi)
		at = append(at, int(part*float64(n)))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// drawing is how the rows of a sample are read.
type drawing struct {
	by, keys []*expr.Expr
	computed []*expr.Expr // keys and arguments that are no columns
	where    *expr.Expr   // nil: there is no filter
	columns  []int        // of the query, which the scan has
	most     int64        // rows of a unit
}

// part is the part of a sample that one row group has.
type part struct {
	rows, passed  int64
	groups, keyed []uint64 // hashes of the groups of those that passed, and of those by the keys

	// seconds that the filter took, and keys and arguments of all rows: the first time, when
	// dictionaries are new, and once more
	first, again struct{ where, others float64 }
}

// seconds is what a row takes where a row group has so many.
func (s *part) seconds(rows int64) float64 {
	share := float64(s.passed) / float64(s.rows)
	again, first := s.again.where+share*s.again.others, s.first.where+share*s.first.others
	return again/float64(s.rows) + max(first-again, 0)/float64(max(rows, s.rows))
}

// read reads the first rows of a unit of a scan.
func (d *drawing) read(scan input.Scan, unit int, s *part) (err error) {
	defer invariant.Recovered(&err)
	reader := scan.Reader()
	defer reader.Close()
	if err := reader.Open(unit); err != nil {
		return err
	}
	group := expr.NewGroup()
	evals := func(exprs []*expr.Expr) (out []*expr.Eval) {
		for _, e := range exprs {
			if len(d.keys) == 1 && e == d.keys[0] {
				out = append(out, group.NewKey(e))
			} else {
				out = append(out, group.NewEval(e))
			}
		}
		return out
	}
	computed, by, keys := evals(d.computed), newHasher(d.by, evals(d.by)), newHasher(d.keys, evals(d.keys))
	var where *expr.Eval
	if d.where != nil {
		where = d.where.NewEval()
	}
	batch := column.Batch{Cols: make([]column.Vector, slices.Max(append(d.columns, -1))+1)}
	passed, value := []int32{}, column.Vector{}
	for s.rows < d.most {
		var b column.Batch
		if more, err := reader.Next(&b); err != nil {
			return err
		} else if !more {
			break
		}
		batch.Rows, batch.First = b.Rows, b.First
		for i, c := range d.columns {
			batch.Cols[c] = b.Cols[i]
		}
		for _, took := range []*struct{ where, others float64 }{&s.first, &s.again} {
			start := time.Now()
			if passed = passed[:0]; where != nil {
				if passed, err = where.Filter(&batch, passed); err != nil {
					return err
				}
			}
			filtered := time.Now()
			group.Begin(&batch)
			for _, e := range computed {
				if err := e.Eval(&batch, &value); err != nil {
					return err
				}
			}
			took.where, took.others = took.where+filtered.Sub(start).Seconds(), took.others+time.Since(filtered).Seconds()
		}
		if where == nil {
			for row := range int32(b.Rows) {
				passed = append(passed, row)
			}
		}
		s.rows, s.passed = s.rows+int64(b.Rows), s.passed+int64(len(passed))
		if s.groups, err = by.of(&batch, passed, s.groups); err != nil {
			return err
		}
		if s.keyed, err = keys.of(&batch, passed, s.keyed); err != nil {
			return err
		}
	}
	s.groups, s.keyed = different(s.groups), different(s.keyed)
	return nil
}

// hasher hashes what some expressions give.
type hasher struct {
	evals   []*expr.Eval
	values  []column.Vector
	encoder *key.Encoder
}

func newHasher(exprs []*expr.Expr, evals []*expr.Eval) *hasher {
	fields := make([]key.Column, len(exprs))
	for i, e := range exprs {
		fields[i].Type = e.Type()
	}
	return &hasher{evals: evals, values: make([]column.Vector, len(exprs)), encoder: key.NewEncoder(key.NewLayout(fields), nil)}
}

// of appends the hashes of some rows of a batch.
func (h *hasher) of(b *column.Batch, rows []int32, hashes []uint64) ([]uint64, error) {
	for i, e := range h.evals {
		if err := e.Eval(b, &h.values[i]); err != nil {
			return nil, err
		}
	}
	h.encoder.Encode(h.values, b.Rows)
	for _, row := range rows {
		hashes = append(hashes, h.encoder.Hash[row])
	}
	return hashes, h.encoder.Err()
}

// different is the values that are in hashes, each once.
func different(hashes []uint64) []uint64 {
	slices.Sort(hashes)
	return slices.Compact(hashes)
}
