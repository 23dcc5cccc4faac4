package exec

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/query"
	"github.com/gagg-dev/gagg/internal/state"
	"github.com/gagg-dev/gagg/merge"
)

// This file is results that are states (query.Mode.Writes): the columns of query.StateColumns, and
// the checksums of their rows, of all groups, and behind them the distinct values of each set,
// which cpu.Config.KeepDistinct has kept. The ranges of partitions of all of these are numbered as
// those of one run are.

// stateShare is how many bytes of keys a record of states has at most, about.
const stateShare = 2 << 20

// writtenHeader is the header of the states that come out.
func (r *run) writtenHeader() (*state.Header, error) {
	if r.joined != nil {
		return r.joined.header(r.plan.Query), nil
	}
	text, fields, err := query.Canonical(r.in, r.plan.Query.Texts)
	if err != nil {
		return nil, err
	}
	id, err := input.Digest(r.in)
	if err != nil {
		return nil, err
	}
	part := r.plan.Query.Texts.Part
	source := state.Source{ID: id, Name: input.Label(r.in), Rows: input.Rows(r.in)}
	if source.Rows >= 0 {
		source.Shares = state.Share(source.Rows, part.Number, part.Of)
	}
	return state.NewHeader(text, fields, r.plan.Query, []state.Source{source}), nil
}

// stateSchema is the Arrow schema of the states that come out.
func (r *run) stateSchema() (*arrow.Schema, error) {
	h, err := r.writtenHeader()
	if err != nil {
		return nil, err
	}
	text, err := h.Encode()
	if err != nil {
		return nil, err
	}
	var fields []arrow.Field
	for _, c := range r.plan.Query.StateColumns() {
		fields = append(fields, column.ArrowField(c.Name, c.Type, true))
	}
	fields = append(fields, column.ArrowField(state.CheckColumn, state.CheckType, false))
	meta := arrow.NewMetadata([]string{input.StateKey, input.StateCheckKey}, []string{text, state.HeaderCheck(text)})
	return arrow.NewSchema(fields, &meta), nil
}

// addInnerStates appends the ranges of the groups of inner runs, and notes of which set each range
// is.
func (r *run) addInnerStates() {
	inner := r.current.Load().groups.Inner
	if len(inner) == 0 {
		return
	}
	r.setOf = make([]int, len(r.ranges))
	for set := range inner {
		for _, rng := range merge.Buddies(inner[set].Groups.Sizes(), -1) {
			r.ranges, r.setOf = append(r.ranges, rng), append(r.setOf, set+1)
		}
	}
}

// stateMaker makes records of states, for one producer.
type stateMaker struct {
	p      *producer
	cols   []query.StateColumn
	keys   int // of cols
	states int // behind them
	made   []column.Vector
	size   int

	row     []column.Vector  // of the record that is made
	checked []*column.Vector // row's
	checker state.Checker
	sums    []int64

	nothing     []column.Vector // by column: states of nothing, and values that are NULL
	nothingRows int

	set    int // grouping set of merger and decoder; 0: there are no sets
	merger *cpu.Merger
	values key.Decoder
}

func newStateMaker(p *producer) *stateMaker {
	m := &stateMaker{p: p, cols: p.r.plan.Query.StateColumns(), size: resultRows}
	for _, c := range m.cols {
		switch c.Role {
		case "key":
			m.keys++
		case "state":
			m.states++
		}
	}
	m.made, m.nothing = make([]column.Vector, len(m.cols)), make([]column.Vector, len(m.cols))
	m.row = make([]column.Vector, len(m.cols))
	for i := range m.row {
		m.checked = append(m.checked, &m.row[i])
	}
	return m
}

// putFunc takes records.
type putFunc func([]arrow.Record) error

// partition calls put with the records of range n.
func (m *stateMaker) partition(ctx context.Context, n int, put putFunc) error {
	p := m.p
	set := 0
	if p.r.setOf != nil {
		set = p.r.setOf[n]
	}
	if set > 0 {
		return m.innerPartition(ctx, set, p.r.ranges[n], put)
	}
	if err := p.attach(); err != nil {
		return err
	}
	return p.merger.Merge(ctx, p.r.ranges[n], func(rows []uint64) error {
		for len(rows) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			k, err := m.next(ctx, n, rows, put)
			if err != nil {
				return err
			}
			rows = rows[k*p.from.cfg.Stride:]
		}
		return nil
	})
}

// next puts out the first of the rows: as many as last time, or twice that, unless they are too
// long. It tells how many.
func (m *stateMaker) next(ctx context.Context, n int, rows []uint64, put putFunc) (k int, err error) {
	p, stride := m.p, m.p.from.cfg.Stride
	m.size = min(2*m.size, resultRows)
	k = min(len(rows)/stride, m.size)
	p.keys.Begin(rows[:k*stride])
	k = fitting(&p.keys, p.r.plan.Layout, rows, k)
	for err = m.batch(rows[:k*stride], put); errors.Is(err, agg.ErrBatchFull) && k > 1; err = m.batch(rows[:k*stride], put) {
		k /= 2
		m.size = k
	}
	if errors.Is(err, agg.ErrBatchFull) {
		err = p.makeLarge(n, rows[:stride], func(*column.LargeRow) error { return m.batch(rows[:stride], put) })
		clear(m.made) // their memory is gone
	}
	if err != nil || !p.from.cfg.States.HasChains() {
		return k, err
	}
	for i := range k {
		if err := m.pieces(ctx, rows[i*stride:(i+1)*stride], put); err != nil {
			return k, err
		}
	}
	return k, nil
}

// fitting is how many of the first n rows have keys of no more than stateShare bytes: one at least.
func fitting(d *key.Decoder, layout *key.Layout, rows []uint64, n int) int {
	if !d.HasLong() {
		return n
	}
	bytes := 0
	for i := range n {
		if bytes += layout.LongBytes(rows[i*d.Stride:], d.Base); bytes > stateShare && i > 0 {
			return i
		}
	}
	return n
}

// batch puts out the states of groups.
func (m *stateMaker) batch(rows []uint64, put putFunc) error {
	p := m.p
	cfg := p.from.cfg
	n := len(rows) / cfg.Stride
	for i := range m.keys {
		p.keys.Decode(i, rows, &m.made[i])
	}
	for i := range m.states {
		if err := cfg.States.State(i, rows, cfg.Stride, cfg.Arenas, p.large, &m.made[m.keys+i]); err != nil {
			return err
		}
	}
	if err := m.fillNothing(n); err != nil {
		return err
	}
	return m.put(n, put, func(i int) column.Vector {
		if i < m.keys+m.states {
			return m.made[i]
		}
		return m.nothing[i].Slice(0, n)
	})
}

// put puts out a record of n rows, whose columns are given.
func (m *stateMaker) put(n int, put putFunc, col func(i int) column.Vector) error {
	p := m.p
	for i := range m.row {
		m.row[i] = col(i)
	}
	defer clear(m.row)
	m.sums = m.checker.Append(m.sums[:0], m.checked, n)
	set := func(i int, v *column.Vector) error {
		if *v = (column.Vector{Type: state.CheckType, Len: n, Int: m.sums}); i < len(m.row) {
			*v = m.row[i]
		}
		return nil
	}
	if p.large != nil {
		recs, err := p.r.largeRecord(p.r.written, n, p.large, set)
		if err != nil {
			return err
		}
		return put(recs)
	}
	rec, err := p.r.record(p.r.written, n, p.r.alloc, set)
	if err != nil {
		return err
	}
	return put([]arrow.Record{rec})
}

// pieces puts out chains that are too long for the row of their group, in pieces: the row of a
// piece has the key, and for the rest the states of a group without rows.
func (m *stateMaker) pieces(ctx context.Context, row []uint64, put putFunc) error {
	p := m.p
	return p.from.cfg.States.LongStates(row, p.from.cfg.Arenas, func(col int, piece []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.keys.Begin(row)
		for i := range m.keys {
			p.keys.Decode(i, row, &m.made[i])
		}
		if err := m.fillNothing(1); err != nil {
			return err
		}
		return m.put(1, put, func(i int) column.Vector {
			switch {
			case i < m.keys:
				return m.made[i]
			case i == m.keys+col:
				v := column.Vector{Type: m.cols[i].Type, Len: 1, Span: []column.Span{{Len: uint32(len(piece))}}}
				v.Data = append(piece, make([]byte, column.SpanPadding)...)[:len(piece)]
				return v
			}
			return m.nothing[i].Slice(0, 1)
		})
	})
}

// fillNothing makes n rows or more of the states of nothing.
func (m *stateMaker) fillNothing(n int) error {
	if n <= m.nothingRows {
		return nil
	}
	cfg := &m.p.r.current.Load().cfg
	rows := make([]uint64, n*cfg.Stride)
	for i := range n {
		cfg.States.InitEmpty(rows[i*cfg.Stride : (i+1)*cfg.Stride])
	}
	for i := m.keys; i < len(m.cols); i++ {
		if i < m.keys+m.states {
			if err := cfg.States.State(i-m.keys, rows, cfg.Stride, cfg.Arenas, nil, &m.nothing[i]); err != nil {
				return err
			}
			continue
		}
		v := column.Vector{Type: m.cols[i].Type}
		for range n {
			v.Append(column.Value{Null: true})
		}
		m.nothing[i] = v
	}
	m.nothingRows = n
	return nil
}

// innerPartition puts out the values of a set.
func (m *stateMaker) innerPartition(ctx context.Context, set int, rng merge.Range, put putFunc) error {
	inner := &m.p.r.current.Load().groups.Inner[set-1]
	if m.set != set {
		if err := m.close(); err != nil {
			return err
		}
		m.set, m.merger = set, inner.Run.NewMerger(inner.Groups.Buckets)
		c := inner.Config
		m.values = key.Decoder{Layout: c.Keys, Intern: c.Intern, Arenas: c.Arenas, Base: c.Keys.Base(), Stride: c.Keys.Base() + c.Keys.Words}
	}
	value := m.keys + m.states + set - 1
	return m.merger.Merge(ctx, rng, func(rows []uint64) error {
		for len(rows) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(rows)/m.values.Stride, resultRows)
			m.values.Begin(rows[:n*m.values.Stride])
			n = fitting(&m.values, m.values.Layout, rows, n)
			some := rows[:n*m.values.Stride]
			for i := range m.keys {
				m.values.Decode(i, some, &m.made[i])
			}
			m.values.Decode(m.keys, some, &m.made[value])
			if err := m.fillNothing(n); err != nil {
				return err
			}
			err := m.put(n, put, func(i int) column.Vector {
				if i < m.keys || i == value {
					return m.made[i]
				}
				return m.nothing[i].Slice(0, n)
			})
			if err != nil {
				return err
			}
			rows = rows[len(some):]
		}
		return nil
	})
}

// close lets go of the merger of values.
func (m *stateMaker) close() error {
	if m == nil || m.merger == nil {
		return nil
	}
	merger := m.merger
	m.set, m.merger = 0, nil
	return merger.Close()
}
