package expr

import "math"

// Divide divides the computing of expressions in two, for an engine that computes operations on
// words (OnWords) and makes groups of what it has computed: rows with the same parts have the same
// expressions, so rest is computed once for a group of parts and not for each row.
//
// Each of parts is a column or operations on words, and rest makes the expressions of a batch
// whose columns are the parts. A part fails for no row for which the expressions do not. A time of
// which only the day matters, or the hour or minute, becomes the begin of that as a part
// (bound.bucket); one of which the day of the week or the month matters, that of another with the
// same (bound.like). An expression that is whole becomes a part as it is, and so does what taken
// holds of: parts of texts that the engine takes (Cut).
//
// ok is false where a part has values that differ and are equal as keys, as floats do (-0 and 0):
// rest may tell them apart.
func Divide(exprs []*Expr, whole, taken func(*Expr) bool) (parts, rest []*Expr, ok bool) {
	d := divider{taken: taken, read: map[*bound]*bound{}, made: map[*bound]*bound{}, columns: map[int]*bound{}, begins: map[bucketOf]*bound{}}
	for _, e := range exprs {
		n := (*bound)(nil)
		if whole(e) {
			n = d.part(e.root)
		} else {
			n = d.divide(e.root, true)
		}
		rest = append(rest, &Expr{n})
	}
	return d.parts, rest, !d.alike
}

// divider makes the parts of some expressions.
type divider struct {
	taken   func(*Expr) bool
	parts   []*Expr
	read    map[*bound]*bound // the node that reads a part
	made    map[*bound]*bound // the node over parts that stands for one that is none
	columns map[int]*bound    // the node that is the part, of those of a column
	begins  map[bucketOf]*bound
	alike   bool // values of a part may be equal as keys, and differ
}

// part returns the node that reads n, which is a part.
func (d *divider) part(n *bound) *bound {
	if n.kind == boundColumn {
		if d.columns[n.col] == nil {
			d.columns[n.col] = n
		}
		n = d.columns[n.col]
	}
	if d.read[n] == nil {
		d.alike = d.alike || n.typ.IsFloat()
		d.read[n] = newColumn(len(d.parts), n.typ)
		d.parts = append(d.parts, &Expr{n})
	}
	return d.read[n]
}

// divide returns the node that stands for n. always: it is computed of every row.
func (d *divider) divide(n *bound, always bool) *bound {
	if made := d.made[n]; made != nil {
		return made
	}
	made := n
	switch {
	case n.kind == boundConst:
	case n.isPart(always), n.cut != nil && d.taken(&Expr{n}):
		return d.part(n)
	case (n.bucket > 1 || n.like != nil) && n.args[0].isPart(always):
		made = n.over([]*bound{d.part(d.beginOf(n))})
	case n.choose != nil:
		c := &choice{els: d.divide(n.choose.els, false)}
		for i, cond := range n.choose.conds {
			c.conds, c.thens = append(c.conds, d.divide(cond, false)), append(c.thens, d.divide(n.choose.thens[i], false))
		}
		made = newChoice(n.typ, c)
	default:
		always = always && n.kind != boundAnd && n.kind != boundOr
		args := make([]*bound, len(n.args))
		for i, a := range n.args {
			args[i] = d.divide(a, always)
		}
		made = n.over(args)
	}
	d.made[n] = made
	return made
}

// isPart reports whether n is operations on words that an engine may compute of each row. What may
// fail it computes only if the row needs it always: else it would fail for rows that do not.
func (n *bound) isPart(always bool) bool {
	return n.kind == boundColumn || n.single != noColumn && !n.split && (always || !n.mayFail()) && (&Expr{n}).OnWords()
}

// over is the same node over other arguments of the same types.
func (n *bound) over(args []*bound) *bound {
	if len(args) == 0 {
		return n
	}
	o := *n
	o.args, o.lengths, o.characters, o.match, o.cut, o.lowers = args, nil, false, nil, nil, false
	return o.finish()
}

// bucketOf is the buckets of so many steps of a time, or days that are alike.
type bucketOf struct {
	time  *bound
	steps int64
	like  *likeDay
}

// beginOf is the first time of the bucket of times for which n has the same text, or the first time
// of a day that has the same text.
func (d *divider) beginOf(n *bound) *bound {
	of := bucketOf{n.args[0], n.bucket, n.like}
	if d.begins[of] == nil {
		d.begins[of] = newBegin(n)
	}
	return d.begins[of]
}

func newBegin(n *bound) *bound {
	switch {
	case n.like != nil:
		return newLike(n)
	case n.bucket == 1:
		return n.args[0]
	}
	by := newDivisor(n.bucket)
	begin := func(f *frame) error {
		for i, v := range f.args[0].Int[:f.n] {
			first := by.floor(v) * by.d
			if first > v { // the least time is of the same bucket
				first = math.MinInt64
			}
			f.out.Int[i] = first
		}
		return nil
	}
	step := uint64(n.bucket)
	return strict(n.args[0].typ, n.src, begin, n.args[0]).bucketed(n.bucket).
		onWords(wordOp{code: CodeFloor, constant: step}, wordOp{code: CodeMultiply, with: step}).neverFails(true)
}
