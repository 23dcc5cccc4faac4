package exec

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/query"
	"github.com/gagg-dev/gagg/streams"
)

// Request is what a caller of the library asks for.
type Request struct {
	From    input.Source // nil: none, which is an error
	Query   query.Query
	Options Options
	// Aggs gives the aggregates of the query once the columns of the input are known; nil: Query
	// has them. It is called again if the input is read again.
	Aggs func(input.Description) []query.Agg

	// of a run within a run (subqueries.go): how the query is resolved; nil: by its texts
	compile func(query.Columns) (*query.Compiled, error)
	input   input.Input // the same: From, which is open; nil: it is not

	likely func(device.Spec) // of any run: see plan.Inputs; nil: the query is only explained
}

// prepared is a query ready to run: its plan, its open input and the temp folder.
type prepared struct {
	opt    Options
	in     input.Input
	scan   input.Scan
	budget *budget.Budget // see newBudget
	plan   *plan.Plan
	alloc  memory.Allocator // of records
	joined *joined          // of a query from states; else nil

	compiled     *query.Compiled // as it was asked, whatever the plan makes of it
	subqueries   []subquery      // that the query is run as; nil: it is one run
	joinedDevice plan.Device     // of all subqueries
}

// prepare opens the input, resolves the query against it and plans it. The caller closes p.in. m is
// nil but for a query from states.
func prepare(ctx context.Context, q Request, l plan.Learnt, temp *temp, m *merging) (_ *prepared, err error) {
	o := q.Options.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if q.From == nil {
		return nil, Usagef("no input: set From")
	}
	if err := q.Query.Validate(); err != nil {
		return nil, err
	}
	p := &prepared{opt: o, budget: newBudget(o.MemoryLimit)}
	if err := p.open(ctx, q, o.input(temp), m); err != nil {
		return nil, whileOpening(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.in.Close())
		}
	}()
	if p.joined != nil { // the states say whether they were made so
		if o.Deterministic && !p.joined.text.Deterministic {
			return nil, Usagef("deterministic: the states were made without it: make them with --deterministic")
		}
		o.Deterministic = p.joined.text.Deterministic
		p.opt = o
	}
	q.Query.Deterministic = o.Deterministic
	p.in.Widen(l.Digits)
	if q.Aggs != nil {
		q.Query.Aggs = q.Aggs(input.Describe(p.in))
	}
	compiled, err := p.compile(q)
	if err != nil {
		return nil, err
	}
	p.compiled = compiled
	if about := input.StatesOf(p.in); about != "" && p.joined == nil {
		o.logger().Warn("the input holds states, not rows: gagg --merge finishes them", slog.String("of", about))
	}
	opt := o.plan()
	if p.scan, err = p.in.Scan(plan.Scan(compiled, opt)); err != nil {
		return nil, whileOpening(err)
	}
	switch {
	case q.Query.Sample.OfGroups() && !p.scan.Rereadable():
		return nil, Usagef("sample: Arrow records have no row groups to choose from: sample by rows")
	case q.Query.Part.Of > 1 && !p.scan.Rereadable():
		return nil, Usagef("part: Arrow records that come by a pipe have no row groups to share: name files")
	}
	p.budget.SetLimit(o.MemoryLimit)
	p.plan, err = plan.Make(plan.Inputs{
		Query: compiled, Input: p.in, Scan: p.scan, Options: opt, Metadata: p.budget.Reserved(), Learnt: l,
		Likely: q.likely,
	})
	if err != nil {
		return nil, err
	}
	p.alloc = o.allocator(p.plan.Memory.Output)
	p.chooseSubqueries(q)
	return p, nil
}

// open opens the input.
func (p *prepared) open(ctx context.Context, q Request, o input.Options, m *merging) (err error) {
	if q.input != nil {
		p.in = q.input
		return nil
	}
	if m == nil {
		if !p.opt.NoPruning {
			o.Excludes = func(in query.Columns) func(func(i int) column.Bounds) bool { return query.Excludes(in, q.Query) }
			o.Folders = query.ByFolders(q.Query)
		}
		p.in, err = q.From.Open(ctx, o, p.budget)
		return err
	}
	if p.joined, err = m.open(ctx, q, o, p.budget); err == nil {
		p.in = &p.joined.input
	}
	return err
}

// compile resolves the query.
func (p *prepared) compile(q Request) (*query.Compiled, error) {
	switch {
	case q.compile != nil:
		return q.compile(p.in)
	case p.joined != nil:
		return p.joined.compile(q.Query)
	}
	return query.Compile(p.in, q.Query)
}

// Explained is a plan, and what looking for devices has added to it.
type Explained struct {
	*plan.Plan
	Subqueries []*plan.Plan // that are runs of their own; none: the query is one run
	Numbers    []int        // of the devices to use; none: the CPU computes
	Groups     float64      // about how many; +Inf: as many as rows
}

// Streams is how many streams each device would have.
func (e *Explained) Streams() int {
	if e.Device.RowsBy == "" {
		return e.Device.Decoding.Streams
	}
	return cmp.Or(e.Options.Streams, streams.DefaultStreams)
}

// Explain plans a query as Run does, and looks for the devices that the plan would use: a small
// query opens no driver. The error is an ErrDevice if they were demanded and cannot be used.
func Explain(ctx context.Context, q Request) (_ *Explained, err error) {
	defer func() { err = Classify(err) }()
	temp := q.Options.openTemp(ctx)
	defer func() { err = errors.Join(err, temp.close()) }()
	p, err := prepare(ctx, q, plan.Learnt{}, temp, newMerging(q))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.in.Close()) }()
	e := &Explained{Plan: p.plan}
	if p.subqueries != nil {
		e.Plan = p.whole()
		for _, s := range p.subqueries {
			e.Subqueries = append(e.Subqueries, s.plan)
		}
	}
	if e.Numbers, err = e.find(ctx); err != nil {
		return nil, err
	}
	p.opt.logger().Debug("device", slog.String("device", device.Names(e.Numbers)), slog.String("reason", e.Device.Reason))
	if len(e.Numbers) > 0 {
		e.Groups = plan.ExpectedGroups(p.plan, p.scan)
	}
	return e, nil
}

// find looks for the devices of the plan, which goes on without them if none was demanded.
func (e *Explained) find(ctx context.Context) ([]int, error) {
	if !e.Device.Use {
		return nil, nil
	}
	spec := e.Device.Facts.Spec
	numbers, err := device.Find(ctx, spec)
	switch {
	case err == nil:
		return numbers, nil
	case context.Cause(ctx) != nil:
		return nil, context.Cause(ctx)
	case spec.Required():
		return nil, spec.Refused(err)
	}
	e.Device = e.Device.Without("no GPU: " + device.Problem(err))
	return nil, nil
}
