package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/query"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/internal/state"
)

// This file is queries from states (query.TakeStates, query.JoinStates). The headers of all states
// are looked at, and must agree. Inputs with rows become states first, in a run of their own, which
// lie in the temp folder.
//
//	states ──headers──▶ one query ──┬──▶ inputs with rows: a run ──▶ states
//	                                └──▶ a plan: keys, states and values are the columns that are read

// merging is a query from states while it is prepared, and what outlives that if it is planned
// anew.
type merging struct {
	source input.MergeSource
	// makes states of rows; nil: they are refused
	run func(ctx context.Context, q Request) (*Rows, error)
	// by the number of a table in the input: its states
	made map[int]*spill.File
}

// joined is the states of a query.
type joined struct {
	input   input.Joined
	headers []*state.Header // by table
	sources state.Union
	moves   []*state.Moved // by table: nil where positions stay
	text    query.Query
	textOf  string // the name of the table whose header has text
	fields  query.Fields
}

// newMerging is what prepares a request from states; nil: it is of rows.
func newMerging(q Request) *merging {
	source, ok := q.From.(input.MergeSource)
	if !ok {
		return nil
	}
	return &merging{source: source, made: map[int]*spill.File{}}
}

// open opens all states.
func (m *merging) open(ctx context.Context, q Request, o input.Options, from *budget.Budget) (_ *joined, err error) {
	out := &joined{}
	if out.input.All, err = input.OpenMerged(ctx, m.source, o, from); err != nil {
		return nil, errors.Join(err, out.input.Close())
	}
	err = out.agree(ctx, o, from)
	if err == nil {
		err = m.makeStates(ctx, q, out, o, from)
	}
	if err == nil {
		err = out.addSources()
	}
	if err != nil {
		return nil, errors.Join(err, out.input.Close())
	}
	out.input.Input = out.input.All[0].States
	return out, nil
}

// stateError is an error of a table of states.
func stateError(name string, err error) error {
	return &kindError{ErrInput, fmt.Errorf("%s: %w", name, err)}
}

// agree reads the headers, which have to be of one query.
func (m *joined) agree(ctx context.Context, o input.Options, from *budget.Budget) error {
	m.headers = make([]*state.Header, len(m.input.All))
	first := -1
	for i, part := range m.input.All {
		if part.States == nil {
			continue
		}
		var err error
		if m.headers[i], err = state.Parse(part.Header, part.Checked); err != nil {
			return stateError(part.Name, err)
		}
		if first < 0 {
			first = i
			m.text, m.textOf = m.headers[i].Text(), part.Name
			if m.fields, err = m.headers[i].Fields(); err != nil {
				return stateError(part.Name, fmt.Errorf("damaged: %w", err))
			}
			continue
		}
		if err := m.headers[i].Same(m.headers[first]); err != nil {
			return stateError(part.Name, fmt.Errorf("these are not the states of one query: %w, as in %s", err, m.input.All[first].Name))
		}
	}
	if first < 0 {
		return m.noStates(ctx, o, from)
	}
	return nil
}

// noStates is the error of inputs that have no states: what is wrong with one of them, if anything
// is, since damaged states may look like something else.
func (m *joined) noStates(ctx context.Context, o input.Options, from *budget.Budget) error {
	for _, part := range m.input.All {
		in, err := part.Rows.Open(ctx, o, from)
		if err == nil {
			err = in.Close()
		}
		if err != nil {
			return err
		}
	}
	return Usagef("none of the inputs has states: --partial writes them")
}

// makeStates makes states of the inputs that have rows.
func (m *merging) makeStates(ctx context.Context, q Request, out *joined, o input.Options, from *budget.Budget) error {
	var first *state.Header
	for _, h := range out.headers {
		if first == nil {
			first = h
		}
	}
	for i := range out.input.All {
		part := &out.input.All[i]
		if part.States != nil {
			continue
		}
		if m.run == nil {
			return Usagef("a plan is of states alone: leave out the inputs with rows")
		}
		const name = "the inputs with rows"
		if m.made[i] == nil {
			own := Request{From: part.Rows, Query: out.text, Options: q.Options}
			own.Query.Mode, own.Options.Deterministic = query.WriteStates, out.text.Deterministic
			own.Options.LastRun, own.Options.Trace, own.Options.Observe = false, nil, nil
			f, err := m.spool(ctx, own, name, spooled{m, i}, o)
			if err != nil {
				return err
			}
			m.made[i] = f
		}
		made, err := input.OpenSpooled(ctx, name, m.made[i], o, from)
		if err != nil {
			return err
		}
		part.Name, part.States, part.Header, part.Checked = name, made.States, made.Header, made.Checked
		if out.headers[i], err = state.Parse(part.Header, part.Checked); err != nil {
			return stateError(name, err)
		}
		if err := out.headers[i].Same(first); err != nil {
			return stateError(name, fmt.Errorf("they do not fit the states: %w", err))
		}
	}
	return nil
}

// spooled identifies states in the temp folder: by the number of the input that they were made of.
type spooled struct {
	of   *merging
	part int
}

// spool runs a query for its states, which go to the temp folder.
func (m *merging) spool(ctx context.Context, q Request, name string, as spooled, o input.Options) (*spill.File, error) {
	rows, err := m.run(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	r, w := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		out := ipc.NewWriter(w, ipc.WithSchema(rows.Schema()))
		var err error
		for err == nil && rows.Next() {
			err = out.Write(rows.Record())
		}
		if err == nil {
			err = rows.Err()
		}
		w.CloseWithError(errors.Join(err, out.Close()))
	}()
	f, err := o.Temp.Spool(ctx, as, name, r, nil)
	r.CloseWithError(context.Canceled) // ends the goroutine
	<-written
	if rows.Err() != nil {
		err = rows.Err()
	}
	return f, err
}

// addSources adds the sources of all states.
func (m *joined) addSources() error {
	for i, h := range m.headers {
		if err := m.sources.Add(m.input.All[i].Name, h.Sources); err != nil {
			return stateError(m.input.All[i].Name, err)
		}
	}
	return nil
}

// place finds where the rows of all states are in the order of rows. Without positions among the
// columns any order does.
func (m *joined) place(cols []query.StateColumn) error {
	if !slices.ContainsFunc(cols, func(c query.StateColumn) bool { return c.Position }) {
		m.moves = make([]*state.Moved, len(m.headers))
		return nil
	}
	if err := m.sources.Order(); err != nil {
		return &kindError{ErrInput, err}
	}
	for i := range m.headers {
		m.moves = append(m.moves, m.sources.Move(i))
	}
	return nil
}

// compile resolves the query: the part of rows is that of the states, which q may name once more.
func (m *joined) compile(q query.Query) (_ *query.Compiled, err error) {
	if len(q.By) > 0 || len(q.Aggs) > 0 || q.Sets != "" || q.Totals || q.Where != "" || q.Sample != (query.Sample{}) {
		own, _, err := query.Canonical(m.fields, q)
		if err == nil {
			err = own.Same(m.text) // STATES-CANONICAL
		}
		if err != nil {
			return nil, Usagef("the states are of another query: %w", err)
		}
	}
	if q.Part != (query.Part{}) {
		return nil, Usagef("part: states have no row groups to share")
	}
	text := m.text
	text.Params, text.Now, text.Having, text.OrderBy, text.Pivot, text.Limit, text.Offset = q.Params, q.Now, q.Having, q.OrderBy, q.Pivot, q.Limit, q.Offset
	if text.Mode = query.TakeStates; q.Mode.Writes() {
		text.Mode = query.JoinStates
	}
	if err := m.checkText(); err != nil {
		return nil, err
	}
	whole, err := query.Compile(m.fields, text)
	if err != nil {
		return nil, err
	}
	var out *query.Compiled
	// of the first at last: its columns are those of the scan
	for i := len(m.input.All) - 1; i >= 0; i-- {
		if out, err = whole.FromStates(m.input.All[i].States); err != nil {
			return nil, m.lacks(whole, i, err)
		}
	}
	return out, m.place(out.StateColumns())
}

// checkText checks that the text of the states' query is one.
func (m *joined) checkText() error {
	text := m.text
	text.Mode = query.TakeStates
	if _, err := query.Compile(m.fields, text); err != nil {
		return stateError(m.textOf, fmt.Errorf("damaged: the query that the states are of: %w", err))
	}
	return nil
}

// lacks is the error for states of a table that lack the column that err names.
func (m *joined) lacks(q *query.Compiled, table int, err error) error {
	for _, text := range q.CallTexts {
		if has := m.headers[table].Aggregates; !slices.Contains(has, text) {
			return Usagef("%s: the states are of %s, and %s cannot be told of these: make states with it", m.input.All[table].Name, strings.Join(has, ", "), text)
		}
	}
	return stateError(m.input.All[table].Name, fmt.Errorf("damaged: %w", err))
}

// header is that of the states that come out.
func (m *joined) header(c *query.Compiled) *state.Header {
	return state.NewHeader(m.text, m.fields, c, m.sources.Sources)
}

// takeReader checks the states that a reader gives, and moves their positions.
type takeReader struct {
	cpu.Reader
	reader *input.JoinedReader
	from   *joined
	layout stateChecker
	cols   []query.StateColumn
	states int // number of the first of cols that is a state

	vectors []*column.Vector
	bufs    []column.Buffer
	moved   [][]int64
	bytes   [][]byte
}

// stateChecker checks columns of states; a layout implements it.
type stateChecker interface {
	CheckStates(cols []*column.Vector, n int) error
	MovePositions(col int, b []byte, move func(pos int64) int64)
}

// taken has readers check the states that the query takes.
func (r *run) taken(states stateChecker, open func() cpu.Reader) func() cpu.Reader {
	if r.joined == nil {
		return open
	}
	cols := r.plan.Query.StateColumns()
	first, n := len(r.plan.Query.Keys), 0
	for _, c := range cols {
		if c.Role == "state" {
			n++
		}
	}
	return func() cpu.Reader {
		reader := open()
		return &takeReader{
			Reader: reader, reader: reader.(*input.JoinedReader), from: r.joined, layout: states, cols: cols, states: first,
			vectors: make([]*column.Vector, n), bufs: make([]column.Buffer, len(cols)), moved: make([][]int64, len(cols)), bytes: make([][]byte, len(cols)),
		}
	}
}

// Next reads a batch.
func (t *takeReader) Next(b *column.Batch) (bool, error) {
	ok, err := t.Reader.Next(b)
	if err != nil || !ok {
		return ok, err
	}
	part, name := t.reader.Part()
	for i := range t.cols {
		v := &b.Cols[i]
		v.Type = t.cols[i].Type
		if k := i - t.states; k >= 0 && k < len(t.vectors) {
			if v.Dict != nil {
				*v = column.Flatten(v, &t.bufs[i])
			}
			t.vectors[k] = v
		}
	}
	if err := t.layout.CheckStates(t.vectors, b.Rows); err != nil {
		return false, stateError(name, err)
	}
	if to := t.from.moves[part]; to != nil {
		for k, v := range t.vectors {
			if t.cols[t.states+k].Position {
				t.move(k, v, to)
			}
		}
	}
	return true, nil
}

// move moves the positions in column k of the states, which are not the reader's to change.
func (t *takeReader) move(k int, v *column.Vector, to *state.Moved) {
	if v.Type.Rep() == column.RepInt64 {
		t.moved[k] = append(t.moved[k][:0], v.Int[:v.Len]...)
		for i, pos := range t.moved[k] {
			if pos >= 0 && pos < state.MostPositions {
				t.moved[k][i] = to.Position(pos)
			}
		}
		v.Int = t.moved[k]
		return
	}
	b := t.bytes[k][:0]
	spans := make([]column.Span, v.Len)
	for i := range spans {
		from := len(b)
		b = append(b, v.Bytes(i)...)
		spans[i] = column.Span{Off: uint32(from), Len: uint32(len(b) - from)}
		t.layout.MovePositions(k, b[from:], to.Position)
	}
	b = append(b, make([]byte, column.SpanPadding)...)
	v.Span, v.Data, t.bytes[k] = spans, b[:len(b)-column.SpanPadding], b
}
