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
	Units int   // row groups to read of at most, spread over the input
	Rows  int   // of each, the first ones; more of fewer
	// Share: of fewer row groups where their pages, of which one may be all that a row group has of
	// a column and is read as a whole, are more than one of so many parts of the input; 0: they may
	Share int64
}

// leastSampledUnits is of how many row groups there is to be something in a sample.
const leastSampledUnits = 2

var defaultSampling = Sampling{From: 1 << 20, Units: 8, Rows: 4 << 10, Share: 32}

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
	// computing is the seconds of a core that filter, keys and arguments take for a row, and
	// byParts those where what makes groups is computed in place of the keys
	computing, byParts float64
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
	var computing, byParts []float64
	for i := range parts {
		part := &parts[i]
		rows, passed = rows+part.rows, passed+part.passed
		if part.rows > 0 {
			of := max(p.Facts.Rows/int64(p.scan.RowGroups()), part.rows)
			computing = append(computing, part.seconds(of, func(t *took) float64 { return t.keyed }))
			byParts = append(byParts, part.seconds(of, func(t *took) float64 { return t.byParts }))
		}
	}
	if rows == 0 {
		return s
	}
	slices.Sort(computing)
	slices.Sort(byParts)
	const usual = 4 // the least quarter: others may have waited for a core
	s.ok, s.computing, s.byParts = true, computing[len(computing)/usual], byParts[len(byParts)/usual]
	s.selectivity = max(float64(passed), .5) / float64(rows)
	all := float64(p.Facts.Rows) * s.selectivity // that pass
	s.groups, s.keyed = all, all
	if passed > 0 {
		groups := observe(parts, func(s *part) []uint64 { return s.groups })
		s.groups = expectedOf(groups, passed, all)
		s.together = groups.Rows < passed*3/4 && groups.Groups > groups.Rows*9/10
		s.keyed = expectedOf(observe(parts, func(s *part) []uint64 { return s.keyed }), passed, all)
	}
	return s
}

// observe is what the parts show of groups: each group of a part is a draw.
func observe(parts []part, of func(*part) []uint64) feedback.Observation {
	half := drawn(parts[:(len(parts)+1)/2], of)
	o := drawn(parts, of)
	o.Before = half.AtRandom(math.MaxInt64)
	return o
}

func drawn(parts []part, of func(*part) []uint64) (o feedback.Observation) {
	var all []uint64
	for i := range parts {
		all = append(all, of(&parts[i])...)
	}
	slices.Sort(all)
	once, twice := 0, 0
	for at := 0; at < len(all); {
		n := 1
		for at+n < len(all) && all[at+n] == all[at] {
			n++
		}
		switch n {
		case 1:
			once++
		case 2:
			twice++
		}
		at += n
		o.Groups++
	}
	o.Rows, o.Counted = int64(len(all)), int(o.Groups)
	o.Once, o.Twice = float64(once)/float64(max(o.Groups, 1)), float64(twice)/float64(max(o.Groups, 1))
	return o
}

// expectedOf is how many groups there are of all rows that pass, by those of the sample.
func expectedOf(o feedback.Observation, passed int64, all float64) float64 {
	draws := max(int64(all*float64(o.Rows)/float64(passed)), o.Rows)
	return min(o.Expected(draws), float64(draws))
}

// draw reads the sample.
func (p *planner) draw(by []*expr.Expr) ([]part, error) {
	how := &p.Options.Tuning.Sampling
	d := drawing{by: by, keys: p.Query.Keys, where: p.Query.Where}
	for _, e := range p.Query.Args {
		if e != nil && e.Operations() > 0 {
			d.args = append(d.args, e)
		}
	}
	for _, e := range slices.Concat(by, d.keys, d.args, []*expr.Expr{d.where}) {
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
	n := how.Units
	if how.Share > 0 {
		room := scan.Facts().Plain / (how.Share * max(scan.WorkerBytes(), 1))
		n = int(min(max(room, leastSampledUnits), int64(n)))
	}
	d.most = int64(how.Rows * how.Units / n)
	units := spread(n, scan.Units())
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
	args     []*expr.Expr // those that are no columns
	where    *expr.Expr   // nil: there is no filter
	columns  []int        // of the query, which the scan has
	most     int64        // rows of a unit
}

// part is the part of a sample that one row group has.
type part struct {
	rows, passed  int64
	groups, keyed []uint64 // hashes of the groups of those that passed, and of those by the keys

	// twice is when a dictionary is new, and when it has come again and its entries are computed;
	// again is after that
	twice, again took
}

// took is the seconds that the filter took, and, of all rows, the keys and arguments, and what
// makes groups and the arguments.
type took struct{ where, keyed, byParts float64 }

// seconds is what filter and others take for a row, where a row group has so many.
func (s *part) seconds(rows int64, others func(*took) float64) float64 {
	share := float64(s.passed) / float64(s.rows)
	again, twice := s.again.where+share*others(&s.again), s.twice.where+share*others(&s.twice)
	return again/float64(s.rows) + max(twice-2*again, 0)/float64(rows)
}

// read reads the first rows of a unit of a scan.
func (d *drawing) read(scan input.Scan, unit int, s *part) (err error) {
	defer invariant.Recovered(&err)
	reader := scan.Reader()
	defer reader.Close()
	if err := reader.Open(unit); err != nil {
		return err
	}
	keyed := newHasher(d.keys, d.args)
	byParts := keyed
	if !slices.Equal(d.by, d.keys) {
		byParts = newHasher(d.by, d.args)
	}
	var where *expr.Eval
	if d.where != nil {
		where = d.where.NewEval()
	}
	batch := column.Batch{Cols: make([]column.Vector, slices.Max(append(d.columns, -1))+1)}
	var passed []int32
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
		for _, took := range []*took{&s.twice, &s.twice, &s.again} {
			start := time.Now()
			if passed = passed[:0]; where != nil {
				if passed, err = where.Filter(&batch, passed); err != nil {
					return err
				}
			}
			took.where += time.Since(start).Seconds()
			if err := keyed.compute(&batch, &took.keyed); err != nil {
				return err
			}
			if byParts == keyed {
				took.byParts = took.keyed
			} else if err := byParts.compute(&batch, &took.byParts); err != nil {
				return err
			}
		}
		if where == nil {
			for row := range int32(b.Rows) {
				passed = append(passed, row)
			}
		}
		s.rows, s.passed = s.rows+int64(b.Rows), s.passed+int64(len(passed))
		if s.keyed, err = keyed.of(&batch, passed, s.keyed); err != nil {
			return err
		}
		if byParts == keyed {
			continue
		}
		if s.groups, err = byParts.of(&batch, passed, s.groups); err != nil {
			return err
		}
	}
	s.keyed = different(s.keyed)
	if s.groups = different(s.groups); byParts == keyed {
		s.groups = s.keyed
	}
	return nil
}

// hasher computes keys and arguments, and hashes the keys.
type hasher struct {
	group   *expr.Group
	evals   []*expr.Eval
	values  []column.Vector // of them
	keys    int             // how many are keys: the first ones
	encoder *key.Encoder
}

func newHasher(keys, args []*expr.Expr) *hasher {
	h := &hasher{group: expr.NewGroup(), values: make([]column.Vector, len(keys)+len(args)), keys: len(keys)}
	fields := make([]key.Column, len(keys))
	for i, e := range keys {
		fields[i].Type = e.Type()
		if len(keys) == 1 {
			h.evals = append(h.evals, h.group.NewKey(e))
		} else {
			h.evals = append(h.evals, h.group.NewEval(e))
		}
	}
	for _, e := range args {
		h.evals = append(h.evals, h.group.NewEval(e))
	}
	h.encoder = key.NewEncoder(key.NewLayout(fields), nil)
	return h
}

// compute computes them, and adds how many seconds it took.
func (h *hasher) compute(b *column.Batch, took *float64) error {
	start := time.Now()
	h.group.Begin(b)
	for i, e := range h.evals {
		if err := e.Eval(b, &h.values[i]); err != nil {
			return err
		}
	}
	*took += time.Since(start).Seconds()
	return nil
}

// of appends the hashes of some rows of the batch that was computed last.
func (h *hasher) of(b *column.Batch, rows []int32, hashes []uint64) ([]uint64, error) {
	h.encoder.Encode(h.values[:h.keys], b.Rows)
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
