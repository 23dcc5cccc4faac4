package expr

import (
	"cmp"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// An interval that is computed is not a value of a vector at once. Its node is three nodes of
// integers, its months, days and microseconds, and whatever takes an interval takes these three.
// Constants among them are folded like others. A column of intervals is such a node where something
// is computed of it, and such a node becomes a value where it is a key, an argument of an
// aggregate, a result, or what a case gives.

var intervalType = column.IntervalType

const errInterval = typeError("an interval can be added to a date or time or taken from it, compared, multiplied, put out, " +
	"and be an argument of aggregates, epoch, date_part and time_bucket; epoch(x) is its seconds, x::text its text")

func intervalNode(months, days, micros *bound) *bound {
	n := &bound{kind: boundInterval, typ: intervalType, args: []*bound{months, days, micros}}
	n.single = manyColumns
	return n
}

func constantInterval(s Span) *bound {
	return intervalNode(newConst(intValue(s.Months)), newConst(intValue(s.Days)), newConst(intValue(s.Micros)))
}

// constantSpan is the span of an interval that does not vary by row.
func (n *bound) constantSpan() (Span, bool) {
	for _, a := range n.args {
		if a.kind != boundConst || a.value.Null {
			return Span{}, false
		}
	}
	return Span{n.args[0].value.Int, n.args[1].value.Int, n.args[2].value.Int}, true
}

// intervalOf casts to interval, which is for literals and columns of intervals, and from it to
// text.
func intervalOf(x *bound, n *Cast) (*bound, error) {
	switch {
	case n.To == intervalType && x.kind == boundInterval:
		return x, nil
	case n.To == stringType && x.kind == boundInterval:
		return strict(stringType, n, func(f *frame) error {
			return f.eachBytes(func(i int, to []byte) []byte {
				return append(to, Span{f.args[0].Int[i], f.args[1].Int[i], f.args[2].Int[i]}.String()...)
			})
		}, x.args...), nil
	}
	if !isText(x) || n.To != intervalType {
		return nil, typeErrorf("cannot cast %s to %s", x.typ, n.To)
	}
	return literalInterval(x)
}

// splitInterval is the interval of a column of intervals.
func splitInterval(x *bound, src Node) *bound {
	part := func(of func(months, days int32, micros int64) int64) *bound {
		return strict(int64Type, src, func(f *frame) error {
			for i := range f.n {
				f.out.Int[i] = of(column.SplitInterval(f.args[0].Wide[i]))
			}
			return nil
		}, x).neverFails(true)
	}
	return intervalNode(part(func(m, _ int32, _ int64) int64 { return int64(m) }), part(func(_, d int32, _ int64) int64 { return int64(d) }),
		part(func(_, _ int32, micros int64) int64 { return micros }))
}

// joinInterval is the value of an interval that is computed.
func joinInterval(x *bound, src Node) *bound {
	return strict(intervalType, src, func(f *frame) error {
		for i := range f.n {
			f.out.Wide[i] = decimal256.Num{}
			if f.out.IsNull(i) {
				continue
			}
			months, days := f.args[0].Int[i], f.args[1].Int[i]
			if !is32(months) || !is32(days) {
				return errOverflow
			}
			f.out.Wide[i] = column.NewInterval(int32(months), int32(days), f.args[2].Int[i])
		}
		return nil
	}, x.args...)
}

// literalInterval reads a text literal as an interval.
func literalInterval(x *bound) (*bound, error) {
	s, ok := parseSpan(x.value.Bytes)
	if !ok {
		return nil, typeErrorf("'%s' is not an interval such as '1 day 2 hours'", oneLine(x.value.Bytes))
	}
	return constantInterval(s), nil
}

// intervalArithmetic binds + - * with intervals, and the difference of timestamps, which is an
// interval. It returns nil for anything else.
//
//	date ± interval                timestamp[us]
//	timestamp ± interval           timestamp, of microseconds or finer
//	time ± interval                time, likewise; it wraps at midnight
//	interval ± interval, -interval interval, part by part
//	interval * integer             interval
//	timestamp - timestamp or date  interval of days and microseconds, both with the sign of the whole
//	date + time                    timestamp[us]
func intervalArithmetic(op string, l, r *bound, src Node) (*bound, error) {
	left, right := l.kind == boundInterval, r.kind == boundInterval
	switch {
	case op == "-" && familyOf(l.typ) == familyDay && familyOf(r.typ) == familyDay && (l.typ.Kind == column.Timestamp || r.typ.Kind == column.Timestamp):
		return between2(l, r, src), nil
	case op == "+" && l.typ.Kind == column.Date && r.typ.Kind == column.Time:
		return dayAndTime(l, r, src), nil
	case op == "+" && r.typ.Kind == column.Date && l.typ.Kind == column.Time:
		return dayAndTime(r, l, src), nil
	case !left && !right:
		return nil, nil
	case l.typ.Kind == column.Null || r.typ.Kind == column.Null:
		return nullWithInterval(op, l, r), nil
	case op == "*" && left && r.typ.IsInteger():
		return timesInterval(l, r, src), nil
	case op == "*" && right && l.typ.IsInteger():
		return timesInterval(r, l, src), nil
	case op == "+" && left && right, op == "-" && left && right:
		return partwise(op, l, r, src), nil
	case op == "+" && left && isInstant(r.typ):
		return plusInterval(r, l, src), nil
	case op == "+" && isInstant(l.typ):
		return plusInterval(l, r, src), nil
	case op == "-" && isInstant(l.typ):
		return plusInterval(l, negated(r, src), src), nil
	case op == "*":
		return nil, typeErrorf("an interval can be multiplied by an integer, not by %s", other(l, r).typ)
	}
	return nil, typeErrorf("cannot %s %s and %s", verbs[op], l.typ, r.typ)
}

// other is the one of two nodes that is no interval, or the second.
func other(l, r *bound) *bound {
	if l.kind == boundInterval {
		return r
	}
	return l
}

// nullWithInterval is an operation on an interval and NULL.
func nullWithInterval(op string, l, r *bound) *bound {
	if op == "*" {
		n := newNull(int64Type)
		return intervalNode(n, n, n)
	}
	return newNull(column.TimestampType(column.Micro, false))
}

func isInstant(t column.Type) bool {
	f := familyOf(t)
	return f == familyDay || f == familyClock
}

// partwise computes part by part. Months and days have 32 bits in every interval, also in one that
// is only a step on the way.
func partwise(op string, l, r *bound, src Node) *bound {
	var parts [3]*bound
	for i := range parts {
		parts[i] = intArithmetic(op, int64Type, l.args[i], r.args[i], src)
	}
	return intervalNode(within32(parts[0], src), within32(parts[1], src), parts[2])
}

// within32 is x, which overflows beyond 32 bits.
func within32(x *bound, src Node) *bound {
	if x.kind == boundConst && (x.value.Null || is32(x.value.Int)) {
		return x
	}
	return strict(int64Type, src, func(f *frame) error {
		copy(f.out.Int, f.args[0].Int[:f.n])
		if f.check(func(i int) bool { return !is32(f.out.Int[i]) }) != nil {
			return &OverflowError{Text: src.String(), Type: intervalType.String()}
		}
		return nil
	}, x).onWords(wordOp{code: CodeWithin, constant: math.MaxInt32})
}

func is32(n int64) bool { return n == int64(int32(n)) }

func timesInterval(x, n *bound, src Node) *bound {
	if n.typ.Kind == column.Uint64 {
		n = strict(int64Type, src, func(f *frame) error {
			copy(f.out.Int, f.args[0].Int[:f.n])
			return f.check(func(i int) bool { return f.out.Int[i] < 0 })
		}, n)
	}
	return partwise("*", x, intervalNode(n, n, n), src)
}

// negated is -x as a step on the way, whose months and days may have one bit more than those of an
// interval.
func negated(x *bound, src Node) *bound {
	var parts [3]*bound
	for i := range parts {
		parts[i] = intArithmetic("*", int64Type, x.args[i], newConst(intValue(-1)), src)
	}
	return intervalNode(parts[0], parts[1], parts[2])
}

func minusInterval(x *bound, src Node) *bound {
	return timesInterval(x, newConst(intValue(-1)), src)
}

// inMicros is a date or timestamp in microseconds, as an integer; what is finer is cut downwards.
func inMicros(x *bound, src Node) *bound {
	if x.typ.Kind != column.Date && x.typ.Unit == column.Micro {
		return retyped(int64Type, src, x).changesEvery(1)
	}
	perDay := stepsPerDay(x.typ)
	return strict(int64Type, src, truncateSteps(newDivisor(1), perDay), x).onWords(truncatingWords(1, perDay)...).changesEvery(1)
}

// between2 is l - r of timestamps: days, and what is left in microseconds.
func between2(l, r *bound, src Node) *bound {
	all := intArithmetic("-", int64Type, inMicros(l, src), inMicros(r, src), src)
	day := newConst(intValue(microsPerDay))
	days := intArithmetic("//", int64Type, all, day, src)
	rest := intArithmetic("%", int64Type, all, day, src)
	days.split, rest.split = true, true
	return intervalNode(newConst(intValue(0)), days, rest)
}

// dayAndTime is the moment of a day.
func dayAndTime(day, clock *bound, src Node) *bound {
	to := column.TimestampType(column.Micro, clock.typ.UTC)
	sum := intArithmetic("+", int64Type, inMicros(day, src), inMicros(clock, src), src)
	return retyped(to, src, sum)
}

// compareIntervals compares by length, a month being 30 days.
func (b *binder) compareIntervals(op compareOp, l, r *bound, src Node) (*bound, error) {
	var err error
	for _, x := range []**bound{&l, &r} {
		if isText(*x) {
			if *x, err = literalInterval(*x); err != nil {
				return nil, err
			}
		}
	}
	if l.kind != r.kind {
		return nil, typeErrorf("cannot compare %s and %s", l.typ, r.typ)
	}
	if x, y := inNumber(l), inNumber(r); x != nil && y != nil {
		return b.compare(op, x, y, nil, nil, src)
	}
	holds := op.holds()
	return strict(boolType, src, func(f *frame) error {
		for i := range f.out.Int {
			f.out.Int[i] = holds[compareSpans(spanAt(f.args[:3], i), spanAt(f.args[3:], i))+1]
		}
		return nil
	}, slices.Concat(l.args, r.args)...), nil
}

func spanAt(parts []*column.Vector, i int) Span {
	return Span{parts[0].Int[i], parts[1].Int[i], parts[2].Int[i]}
}

// compareSpans is the three-way comparison by length, a month being 30 days. The microseconds
// alone may not fit 64 bits, so whole days are compared first.
func compareSpans(a, b Span) int {
	days := func(s Span) int64 { return s.Months*30 + s.Days + floorDiv(s.Micros, microsPerDay) }
	rest := func(s Span) int64 { return s.Micros - floorDiv(s.Micros, microsPerDay)*microsPerDay }
	return cmp.Or(cmp.Compare(days(a), days(b)), cmp.Compare(rest(a), rest(b)))
}

// inNumber is the length of an interval in microseconds where it certainly fits 64 bits: that of a
// constant, or of a difference of timestamps, of which days and microseconds are made. Devices can
// compare such a number. It is nil of any other interval.
func inNumber(x *bound) *bound {
	if s, ok := x.constantSpan(); ok {
		days := s.Months*30 + s.Days
		by, fits := addChecked(days*microsPerDay, s.Micros)
		if mulOverflows(days, microsPerDay) || !fits {
			return nil
		}
		return newConst(intValue(by))
	}
	days, rest := x.args[1], x.args[2]
	if len(days.args) == 2 && len(rest.args) == 2 && days.args[0] == rest.args[0] && days.args[1] == rest.args[1] {
		return days.args[0] // between2
	}
	return nil
}

// inAll is the length of an interval in microseconds, a month being 30 days.
func inAll(x *bound, src Node) *bound {
	days := intArithmetic("+", int64Type, intArithmetic("*", int64Type, x.args[0], newConst(intValue(30)), src), x.args[1], src)
	return intArithmetic("+", int64Type, intArithmetic("*", int64Type, days, newConst(intValue(microsPerDay)), src), x.args[2], src)
}
