package expr

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gagg-dev/gagg/internal/column"
)

// difference is how date_diff and date_sub count a unit.
type difference struct {
	ofDay func(days int64) int64 // date_diff: the unit that a day lies in
	words []wordOp               // the same as operations on the day
	// units of so many days: date_diff counts days, and takes whole units of them
	days   int64
	micros int64 // of so many microseconds
	months int64 // date_sub: of so many months
}

// differences are the units by their names, and parts of dates whose unit is a day or a week.
var differences = sync.OnceValue(func() map[string]difference {
	month := func(days int64) int64 { y, m, _ := civilFromDays(days); return y*12 + m - 1 }
	units := map[string]difference{
		"microsecond": {micros: 1}, "millisecond": {micros: 1e3}, "second": {micros: 1e6}, "minute": {micros: 60e6}, "hour": {micros: 3600e6},
		"epoch": {micros: 1e6},
		"day":   {days: 1}, "week": {days: 7}, "yearweek": {days: 7}, "dayofweek": {days: 1}, "isodow": {days: 1}, "dayofyear": {days: 1},
		"month":   {ofDay: month, words: monthNumberWords, months: 1},
		"quarter": {ofDay: func(days int64) int64 { return month(days) / 3 }, words: slices.Concat(monthNumberWords, []wordOp{{code: CodeDivide, with: 3}}), months: 3},
		"isoyear": {ofDay: func(days int64) int64 { y, _ := isoWeek(days); return y }, words: dayWords["isoyear"]},
	}
	for name, years := range map[string]int64{"year": 1, "decade": 10, "century": 100, "millennium": 1000} {
		units[name] = difference{
			ofDay: yearPart(func(y int64) int64 { return y / years }), words: []wordOp{{code: CodeCivil}, {code: CodeDivide, with: uint64(years)}}, months: 12 * years,
		}
	}
	return units
})

// differing is the unit that argument 0 of c names.
func (c *call) differing() (difference, error) {
	name := strings.ToLower(c.args[0].value.Bytes)
	unit := name
	if p := partsByName[name]; p != nil {
		unit = p.names[0]
	}
	d, ok := differences()[unit]
	switch {
	case !ok:
		return d, c.fail(0, "%s knows no unit '%s'%s", c.n.Name, oneLine(name), didYouMean(name, slices.Sorted(maps.Keys(differences()))))
	case d.micros == 0 && (familyOf(c.args[1].typ) != familyDay || familyOf(c.args[2].typ) != familyDay):
		return d, c.fail(1, "a %s is no unit of times", name)
	case familyOf(c.args[1].typ) != familyOf(c.args[2].typ):
		return d, c.fail(1, "%s needs two dates or timestamps, or two times, not %s and %s", c.n.Name, c.args[1].typ, c.args[2].typ)
	}
	return d, nil
}

// dateDiff binds date_diff(unit, a, b): how many units begin between a and b.
func dateDiff(c *call) (*bound, error) {
	d, err := c.differing()
	if err != nil {
		return nil, err
	}
	if d.micros > 0 {
		n := c.strict(boundaries(newDivisor(d.micros)), inMicros(c.args[1], c.n), inMicros(c.args[2], c.n))
		floor := func(back int) wordOp { return wordOp{code: CodeFloor, constant: uint64(d.micros), back: back} }
		return n.onWords(floor(1), floor(3), wordOp{code: CodeSubtract, back: 2}), nil
	}
	n := intArithmetic("-", int64Type, d.number(c.args[2], c.n), d.number(c.args[1], c.n), c.n)
	if d.days > 1 {
		n = intArithmetic("//", int64Type, n, newConst(intValue(d.days)), c.n)
	}
	return n, nil
}

// number is the number of the unit that the day of x lies in; of weeks and the like, of the day.
func (d difference) number(x *bound, src Node) *bound {
	part, words, perDay := d.ofDay, d.words, stepsPerDay(x.typ)
	if part == nil {
		part, words = func(days int64) int64 { return days }, []wordOp{}
	}
	return strict(int64Type, src, dayKernel(part, newDivisor(perDay)), x).onWords(ofDayWords(words, perDay)...)
}

// boundaries counts the multiples of step between two numbers. The count overflows only for a
// step of one.
func boundaries(step divisor) kernel {
	return func(f *frame) error {
		a, b, out := f.args[0].Int[:f.n], f.args[1].Int[:f.n], f.out.Int
		alarm := false
		for i, v := range a {
			from, to := step.floor(v), step.floor(b[i])
			out[i] = to - from
			alarm = alarm || (to^from)&(to^out[i]) < 0
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool {
			from, to := step.floor(a[i]), step.floor(b[i])
			return (to^from)&(to^(to-from)) < 0
		})
	}
}

// dateSub binds date_sub(unit, a, b): how many whole units lie between a and b.
func dateSub(c *call) (*bound, error) {
	d, err := c.differing()
	if err != nil {
		return nil, err
	}
	a, b := inMicros(c.args[1], c.n), inMicros(c.args[2], c.n)
	switch {
	case d.months > 0:
		return c.strict(wholeMonths(d.months), a, b), nil
	case d.ofDay != nil:
		return nil, c.fail(0, "%s knows no unit '%s': it has no length of its own", c.n.Name, oneLine(c.args[0].value.Bytes))
	}
	per := max(d.micros, d.days*microsPerDay)
	return intArithmetic("//", int64Type, intArithmetic("-", int64Type, b, a, c.n), newConst(intValue(per)), c.n), nil
}

// wholeMonths counts whole units of so many months between two moments in microseconds.
func wholeMonths(per int64) kernel {
	return func(f *frame) error {
		a, b := f.args[0].Int[:f.n], f.args[1].Int[:f.n]
		for i, v := range a {
			if w := b[i]; v <= w {
				f.out.Int[i] = monthsBetween(v, w) / per
			} else {
				f.out.Int[i] = -(monthsBetween(w, v) / per)
			}
		}
		return nil
	}
}

// monthsBetween counts whole months from a to b, a <= b. A month is complete on its last day even
// if it has no day with the number of a's: January 31 to February 28 is a month.
func monthsBetween(a, b int64) int64 {
	from, to := floorDiv(a, microsPerDay), floorDiv(b, microsPerDay)
	clockA, clockB := a-from*microsPerDay, b-to*microsPerDay
	y, m, d := civilFromDays(from)
	toY, toM, toD := civilFromDays(to)
	months := (toY-y)*12 + toM - m
	if toD == daysIn(toY, toM) {
		d = min(d, toD)
	}
	if d > toD || d == toD && clockA > clockB {
		months--
	}
	return months
}

// dateAdd binds date_add(t, interval).
func dateAdd(c *call) (*bound, error) {
	by, err := c.interval(1)
	if err != nil {
		return nil, err
	}
	return plusInterval(c.args[0], by, c.n), nil
}

// interval is argument i, an interval or the text of one.
func (c *call) interval(i int) (*bound, error) {
	if c.args[i].kind == boundInterval {
		return c.args[i], nil
	}
	if !isText(c.args[i]) {
		return nil, c.fail(i, "%s needs an interval, such as interval '1 day', not %s", c.n.Name, c.args[i].typ)
	}
	x, err := literalInterval(c.args[i])
	if err != nil {
		err = c.fail(i, "%s", err)
	}
	return x, err
}

// addedType is the type of date_add(t, interval).
func addedType(args []*bound) column.Type {
	t := args[0].typ
	if t.Kind == column.Date || t.Kind == column.Null {
		return column.TimestampType(column.Micro, false)
	}
	t.Unit = max(t.Unit, column.Micro)
	return t
}

// The first buckets of time_bucket begin at these: a Monday, and a year.
var (
	firstMonday = daysFromCivil(2000, 1, 3) * microsPerDay
	firstMonth  = int64(2000 * 12)
)

// bucketType is the type of time_bucket(width, t).
func bucketType(args []*bound) column.Type {
	if t := args[1].typ; t.Kind == column.Date {
		return t
	}
	return column.TimestampType(column.Micro, args[1].typ.UTC)
}

// timeBucket binds time_bucket(width, t[, origin]). The origin is a date or timestamp; or an
// interval, by which buckets are moved; or the name of a time zone.
func timeBucket(c *call) (*bound, error) {
	width, err := c.interval(0)
	if err != nil {
		return nil, err
	}
	span, ok := width.constantSpan()
	micros := span.Days*microsPerDay + span.Micros
	switch {
	case !ok:
		return nil, c.fail(0, "the width of %s must be a constant", c.n.Name)
	case span.Months != 0 && micros != 0:
		return nil, c.fail(0, "the width of %s is of months or of days and times, not of both", c.n.Name)
	case span.Days > mostDays || span.Days < -mostDays || span.Months <= 0 && micros <= 0:
		return nil, c.fail(0, "the width of %s must be greater than 0", c.n.Name)
	}
	w := bucket{c: c, span: span, origin: firstMonday, month: firstMonth}
	x, err := w.moved(c.args[1])
	if err == nil && c.typ.Kind == column.Date {
		x, err = explicitCast(x, dateType, c.n)
	}
	return x, err
}

// bucket is the buckets of a time_bucket.
type bucket struct {
	c             *call
	span          Span
	origin, month int64 // where one begins, in microseconds and in months since year 0
}

// moved is the buckets as argument 2 moves them.
func (w *bucket) moved(x *bound) (*bound, error) {
	c := w.c
	if len(c.args) < 3 {
		return w.of(x), nil
	}
	by := c.args[2]
	if by.kind == boundInterval {
		minus := minusInterval(by, c.n)
		return plusInterval(w.of(plusInterval(x, minus, c.n)), by, c.n), nil
	}
	if by.kind != boundConst {
		return nil, c.fail(2, "the origin of %s must be a constant", c.n.Name)
	}
	if isText(by) && x.typ.Kind == column.Timestamp && x.typ.UTC {
		return w.within(x)
	}
	origin := inMicros(by, c.n)
	if familyOf(by.typ) != familyDay || origin.kind != boundConst {
		return nil, c.fail(2, "the origin of %s is a date, a timestamp or an interval, or of an instant with a zone the name of a time zone, not %s", c.n.Name, by.typ)
	}
	w.origin = origin.value.Int
	y, m, _ := civilFromDays(floorDiv(w.origin, microsPerDay))
	w.month = y*12 + m - 1
	return w.of(x), nil
}

// within is the buckets of a time zone's days and months; shorter ones begin at its Monday.
func (w *bucket) within(x *bound) (*bound, error) {
	z, err := w.c.zone(2)
	if err != nil {
		return nil, err
	}
	if w.span.Months == 0 && w.span.Days == 0 {
		w.origin -= z.offsetOfLocal(floorDiv(w.origin, 1e6)) * 1e6
		return w.of(x), nil
	}
	return z.toInstant(w.of(z.toLocal(x, w.c.n)), w.c.n), nil
}

// of is the beginning of the bucket that x lies in.
func (w *bucket) of(x *bound) *bound {
	to := column.TimestampType(column.Micro, x.typ.UTC)
	if w.span.Months > 0 {
		first := func(days int64) int64 {
			y, m, _ := civilFromDays(days)
			n := y*12 + m - 1 - w.month
			n = floorDiv(n, w.span.Months)*w.span.Months + w.month
			years := floorDiv(n, 12)
			return daysFromCivil(years, n-years*12+1, 1)
		}
		return strict(to, w.c.n, truncateDays(first, newDivisor(stepsPerDay(x.typ))), x)
	}
	step := w.span.Days*microsPerDay + w.span.Micros
	n := strict(to, w.c.n, multiples(w.origin, newDivisor(step)), inMicros(x, w.c.n))
	if ops := multipleWords(w.origin, step); ops != nil {
		n.onWords(ops...)
	}
	return n.changesEvery(stepsOf(step, stepsPerDay(x.typ)))
}

// multipleWords is multiples as operations on words. They fail for some values more, near the ends
// of what an int64 holds; nil: there are none.
func multipleWords(origin, step int64) []wordOp {
	far := max(origin, -origin)
	if far < 0 || far > math.MaxInt64-step {
		return nil
	}
	return []wordOp{
		{code: CodeWithin, constant: uint64(math.MaxInt64 - far - step)},
		addWord(-origin),
		{code: CodeFloor, constant: uint64(step)},
		{code: CodeMultiply, with: uint64(step)},
		addWord(origin),
	}
}

// multiples cuts downwards to multiples of step from an origin on.
func multiples(origin int64, step divisor) kernel {
	most, least := math.MaxInt64-max(-origin, 0), math.MinInt64+max(origin, 0)+step.d
	return func(f *frame) error {
		in, out := f.args[0].Int[:f.n], f.out.Int
		alarm := false
		for i, v := range in {
			alarm = alarm || v > most || v < least
			out[i] = step.floor(v-origin)*step.d + origin
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool { return in[i] > most || in[i] < least })
	}
}
