package expr

import (
	"errors"
	"math"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// Eval evaluates an expression batch by batch. It belongs to one goroutine.
type Eval struct {
	*machine
	root      *step
	conjuncts []*conjunct // of the root; nil: Filter was not called yet
	grouped   bool        // the machine is a Group's
	narrow    bool        // Eval may give a narrow vector
}

// machine is the steps of one Eval or of several.
type machine struct {
	batch *column.Batch
	gen   uint64 // counts batches: a step with this gen has its result
	steps map[*bound]*step
	zeros []int32 // codes of constants
	nulls []bool  // all true
}

func newEval(n *bound) *Eval {
	m := &machine{steps: map[*bound]*step{}}
	return &Eval{machine: m, root: m.newStep(n)}
}

// Group is Evals of expressions bound by one Binder. They see the same batches, and what their
// expressions share is computed once. It belongs to one goroutine.
type Group struct{ machine }

// NewGroup makes a group without Evals.
func NewGroup() *Group { return &Group{machine{steps: map[*bound]*step{}}} }

// NewEval adds an Eval to the group. Begin is called before it is used. Its results are valid
// until the next Begin.
func (g *Group) NewEval(e *Expr) *Eval {
	return &Eval{machine: &g.machine, root: g.newStep(e.root), grouped: true}
}

// NewKey is NewEval for what alone rows are grouped by, which is the faster for codes.
func (g *Group) NewKey(e *Expr) *Eval {
	v := g.NewEval(e)
	v.root.keyed = true
	return v
}

// Begin tells that the next calls of Eval are for the rows of b.
func (g *Group) Begin(b *column.Batch) { g.begin(b) }

// Eval computes the expression on the rows of b. out stays valid until the
// next call. Its memory is the Eval's, or, for a plain column and for bytes
// that are a part of one, that of the batch. It may be dictionary-coded.
func (v *Eval) Eval(b *column.Batch, out *column.Vector) error {
	if !v.grouped {
		v.begin(b)
	}
	r, err := v.root.run()
	if err == nil && r.Narrow && !v.narrow {
		r, err = v.root.flat()
	}
	if err != nil {
		return err
	}
	*out = *r
	return nil
}

// TakeNarrow has Eval give narrow vectors from now on (NARROW-ASKED of package column).
func (v *Eval) TakeNarrow() { v.narrow = true }

func (m *machine) begin(b *column.Batch) {
	m.batch = b
	m.gen++
}

// step computes one bound node. Its memory is used again for every batch.
type step struct {
	node *bound
	eval *machine
	args []*step

	gen     uint64 // batch of res
	res     column.Vector
	flatGen uint64 // batch of decoded
	decoded column.Vector

	narrowed column.Vector // a constant, for kernels that take narrow vectors

	keyed bool // rows are grouped by res: codes for it are as good as texts

	f       frame
	entries *entryCache
	branch  *branches
	buckets *buckets

	combined *combined
}

func (m *machine) newStep(n *bound) *step {
	if s := m.steps[n]; s != nil {
		return s
	}
	s := &step{node: n, eval: m}
	m.steps[n] = s
	if n.constants != nil {
		s.args = []*step{m.newStep(n.constants.number)}
		return s
	}
	if n.kind == boundChoose && n.kernel == nil && n.masked == 0 {
		s.branch = newBranches(n)
		return s
	}
	for _, a := range n.args {
		s.args = append(s.args, m.newStep(a))
	}
	s.f.args = make([]*column.Vector, len(s.args))
	return s
}

// run gives the result for the current batch, computing it once.
func (s *step) run() (*column.Vector, error) {
	if s.gen == s.eval.gen {
		return &s.res, nil
	}
	if err := s.compute(); err != nil {
		return nil, err
	}
	s.gen = s.eval.gen
	return &s.res, nil
}

func (s *step) compute() error {
	b := s.eval.batch
	switch s.node.kind {
	case boundColumn:
		s.res = b.Cols[s.node.col]
		return nil
	case boundConst:
		s.constant(b.Rows)
		return nil
	}
	if done, err := s.byEntry(); done || err != nil {
		return err
	}
	if s.node.kind == boundChoose {
		if s.node.constants != nil {
			return s.chooseConstant()
		}
		if s.branch != nil {
			return s.choose()
		}
		if s.node.masked > 0 {
			return s.mask()
		}
		return s.byRow()
	}
	if s.node.bucket > 0 && (s.keyed || s.node.coded || s.node.typ.Rep() == column.RepBytes) {
		if done, err := s.byBucket(); done || err != nil {
			return err
		}
	}
	if len(s.args) > 1 && s.node.kind == boundStrict && s.node.typ.Rep() == column.RepBytes {
		if done, err := s.byCombination(); done || err != nil {
			return err
		}
	}
	return s.byRow()
}

// byRow computes the rows from the flat arguments.
func (s *step) byRow() error {
	n := s.eval.batch.Rows
	for i, a := range s.args {
		v, err := a.operand(s.node.narrow)
		if err != nil {
			return err
		}
		s.f.args[i] = v
	}
	s.f.reset(n, s.node)
	switch s.node.kind {
	case boundIsNull:
		s.f.isNull(s.node.negate)
	case boundLax, boundChoose:
		if err := s.node.kernel(&s.f); err != nil {
			return s.located(err)
		}
	case boundStrict:
		s.f.mergeNulls()
		if err := s.node.kernel(&s.f); err != nil {
			return s.located(err)
		}
	case boundAnd, boundOr:
		if err := s.node.kernel(&s.f); err != nil {
			return err
		}
	}
	s.res = s.f.out
	return nil
}

// located gives a kernel's error the text that it came from.
func (s *step) located(err error) error {
	if errors.Is(err, errOverflow) {
		return &OverflowError{Text: s.node.src.String(), Type: s.node.typ.String()}
	}
	var bad *ValueError
	var outside *DomainError
	switch {
	case errors.As(err, &bad):
		bad.Text = s.node.src.String()
	case errors.As(err, &outside):
		outside.Text = s.node.src.String()
	}
	return err
}

// constant makes a dictionary of one entry, or a column of NULLs.
func (s *step) constant(n int) {
	v := s.node.value
	if s.res.Dict == nil {
		s.res = column.Vector{Dict: &column.Dict{Values: vectorOf(v)}}
	}
	if len(s.eval.zeros) < n {
		s.eval.zeros = make([]int32, n)
	}
	s.res = column.Constant(s.res.Dict, n, s.eval.zeros)
	s.res.Type = v.Type
	if v.Null {
		s.res.Null = s.eval.allNull(n)
	}
}

func (m *machine) allNull(n int) []bool {
	for len(m.nulls) < n {
		m.nulls = append(m.nulls, true)
	}
	return m.nulls[:n]
}

// vectorOf makes a flat vector of one row, without NULL.
func vectorOf(v column.Value) column.Vector {
	out := column.Vector{Type: v.Type}
	v.Null = false
	out.Append(v)
	return out
}

// operand is flat, or what run has given if that is a narrow vector, which the kernel takes.
func (s *step) operand(narrow bool) (*column.Vector, error) {
	v, err := s.run()
	switch {
	case err != nil:
		return nil, err
	case narrow && s.node.kind == boundConst && v.Type.Rep() == column.RepWide:
		if x, ok := int64Of(s.node.value.Wide); ok {
			return s.narrowConstant(x, v), nil
		}
	case narrow && v.Narrow:
		return v, nil
	}
	return s.flat()
}

// narrowConstant is a constant of wide decimals as a narrow vector.
func (s *step) narrowConstant(x int64, v *column.Vector) *column.Vector {
	c := &s.narrowed
	if len(c.Int) < v.Len {
		c.Int = make([]int64, v.Len)
		fill(c.Int, x)
	}
	c.Type, c.Len, c.Null, c.Narrow = v.Type, v.Len, v.Null, true
	return c
}

// flat is run with the dictionary resolved, and not narrow.
func (s *step) flat() (*column.Vector, error) {
	v, err := s.run()
	if err != nil || v.Dict == nil && !v.Narrow {
		return v, err
	}
	if s.flatGen == s.eval.gen {
		return &s.decoded, nil
	}
	s.flatGen = s.eval.gen
	switch {
	case v.Narrow:
		widen(v, &s.decoded)
	case s.node.kind == boundConst:
		s.repeat(v)
	default:
		decode(v, &s.decoded)
	}
	return &s.decoded, nil
}

// widen is a narrow vector as another one that is not; the memory of out is used again.
func widen(v, out *column.Vector) {
	out.Type, out.Len, out.Null = v.Type, v.Len, v.Null
	out.Wide = sized(out.Wide, v.Len)
	for i, x := range v.Int[:v.Len] {
		out.Wide[i] = decimal256.FromI64(x)
	}
}

// repeat is decode for a constant: what is there from a longer batch is
// right already.
func (s *step) repeat(v *column.Vector) {
	d, n := &s.decoded, v.Len
	if max(cap(d.Int), cap(d.Float), cap(d.Wide), cap(d.Span)) < n {
		decode(v, d)
	}
	d.Len, d.Null = n, v.Null
	switch d.Type.Rep() {
	case column.RepInt64:
		d.Int = d.Int[:n]
	case column.RepFloat64:
		d.Float = d.Float[:n]
	case column.RepWide:
		d.Wide = d.Wide[:n]
	case column.RepBytes:
		d.Span = d.Span[:n]
	}
}

// decode resolves the dictionary of v into out, whose memory is used again.
// Bytes stay where they are, in the dictionary.
func decode(v, out *column.Vector) {
	from := &v.Dict.Values
	out.Type, out.Len, out.Null = v.Type, v.Len, v.Null
	switch v.Type.Rep() {
	case column.RepInt64:
		out.Int = gather(out.Int, from.Int, v.Codes)
	case column.RepFloat64:
		out.Float = gather(out.Float, from.Float, v.Codes)
	case column.RepWide:
		out.Wide = gather(out.Wide, from.Wide, v.Codes)
	case column.RepBytes:
		out.Span = gather(out.Span, from.Span, v.Codes)
		out.Data = from.Data
	}
}

// gather sets dst to from[codes[i]].
func gather[T any](dst, from []T, codes []int32) []T {
	dst = sized(dst, len(codes))
	for i, c := range codes {
		dst[i] = from[c]
	}
	return dst
}

// sized gives s with length n, keeping its memory if it is large enough.
// What it holds is unspecified.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// maxData is how many bytes the spans of one vector reach.
const maxData = math.MaxUint32 - column.SpanPadding
