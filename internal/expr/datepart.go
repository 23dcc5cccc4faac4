package expr

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// datePart is a part of a date or time: year(t), date_part('year', t) and
// extract(year from t) are the same.
type datePart struct {
	names []string // the function's names; all are names of the part
	alias []string // other names of the part
	doc   string

	ofDay  func(days int64) int64 // a part of the calendar day; nil: one of those below
	values int64                  // of a part of the calendar day, at most; 0: any number

	// A part of the time of day counts steps of 1/perSecond seconds, or of
	// seconds, within a time of wrap seconds. 0: not one of these.
	wrap, seconds, perSecond int64

	perEpoch int64 // steps a second since 1970; 0: none of these
}

// dateParts are all parts.
var dateParts = []datePart{
	{names: []string{"century"}, alias: []string{"centuries"}, ofDay: yearPart(century), doc: "2001 is the first year of the 21st"},
	{names: []string{"day", "dayofmonth"}, alias: []string{"days", "d"}, values: 31, ofDay: func(days int64) int64 { _, _, d := civilFromDays(days); return d }, doc: "1 to 31"},
	{names: []string{"dayofweek", "weekday"}, alias: []string{"dow"}, values: 7, ofDay: func(days int64) int64 { return isoWeekday(days) % 7 }, doc: "0 (Sunday) to 6"},
	{names: []string{"dayofyear"}, alias: []string{"doy"}, values: 366, ofDay: dayOfYear, doc: "1 to 366"},
	{names: []string{"decade"}, alias: []string{"decades"}, ofDay: yearPart(func(y int64) int64 { return y / 10 }), doc: "the year / 10"},
	{names: []string{"epoch"}, doc: "seconds since 1970-01-01, or since midnight, with their fraction"},
	{names: []string{"epoch_ms"}, perEpoch: 1e3, doc: "whole milliseconds since then"},
	{names: []string{"epoch_ns"}, perEpoch: 1e9, doc: "nanoseconds since then"},
	{names: []string{"epoch_us"}, perEpoch: 1e6, doc: "whole microseconds since then"},
	{names: []string{"era"}, ofDay: yearPart(func(y int64) int64 { return truth(y > 0) }), doc: "1, and 0 before year 1"},
	{names: []string{"hour"}, alias: []string{"hours", "hr", "h"}, wrap: secondsPerDay, seconds: 3600, doc: "0 to 23; of the time 24:00:00 24"},
	{names: []string{"isodow"}, values: 7, ofDay: isoWeekday, doc: "1 (Monday) to 7"},
	{names: []string{"isoyear"}, ofDay: func(days int64) int64 { y, _ := isoWeek(days); return y }, doc: "the year that the week belongs to"},
	{names: []string{"microsecond"}, alias: []string{"microseconds", "us"}, wrap: 60, perSecond: 1e6, doc: "of the minute: 0 to 59999999"},
	{names: []string{"millennium"}, alias: []string{"millennia"}, ofDay: yearPart(millennium), doc: "2001 is the first year of the third"},
	{names: []string{"millisecond"}, alias: []string{"milliseconds", "ms"}, wrap: 60, perSecond: 1e3, doc: "of the minute: 0 to 59999"},
	{names: []string{"minute"}, alias: []string{"minutes", "min", "m"}, wrap: 3600, seconds: 60, doc: "0 to 59"},
	{names: []string{"month"}, alias: []string{"months", "mon"}, values: 12, ofDay: func(days int64) int64 { _, m, _ := civilFromDays(days); return m }, doc: "1 to 12"},
	{names: []string{"nanosecond"}, wrap: 60, perSecond: 1e9, doc: "of the minute"},
	{names: []string{"quarter"}, alias: []string{"quarters"}, values: 4, ofDay: func(days int64) int64 { _, m, _ := civilFromDays(days); return (m + 2) / 3 }, doc: "1 to 4"},
	{names: []string{"second"}, alias: []string{"seconds", "sec", "s"}, wrap: 60, seconds: 1, doc: "0 to 59"},
	{names: []string{"week", "weekofyear"}, alias: []string{"weeks", "w"}, values: 53, ofDay: func(days int64) int64 { _, w := isoWeek(days); return w }, doc: "1 to 53, by ISO 8601"},
	{names: []string{"year"}, alias: []string{"years", "y"}, ofDay: yearPart(func(y int64) int64 { return y }), doc: "0 is the year before 1"},
	{names: []string{"yearweek"}, ofDay: yearWeek, doc: "isoyear · 100 + week"},
}

// partsByName finds a part by any of its names.
var partsByName = func() map[string]*datePart {
	m := map[string]*datePart{}
	for i := range dateParts {
		p := &dateParts[i]
		for _, name := range append(append([]string{}, p.names...), p.alias...) {
			m[name] = p
		}
	}
	return m
}()

// typ is the type of the part's values.
func (p *datePart) typ() column.Type {
	if p.names[0] == "epoch" {
		return doubleType
	}
	return int64Type
}

// partFunctions are the rows of the function table that parts are.
func partFunctions() []function {
	var list []function
	for i := range dateParts {
		p := &dateParts[i]
		takes := aClock
		if p.ofDay != nil {
			takes = aDay
		}
		takes.intervals = true
		f := function{
			name: p.names[0], also: p.names[1:], section: sectionDate, params: []param{arg("t", takes)},
			result: gives(p.typ()), doc: p.doc, bind: func(c *call) (*bound, error) { return c.datePart(p, c.args[0]) },
		}
		if f.name == "epoch_ms" {
			f.params[0].takes, f.result, f.bind = aClockOrCount, result{"int64; of an integer timestamp[us]", millisType}, millis(f.bind)
			f.doc += "; of an integer the timestamp of so many"
		}
		list = append(list, f)
	}
	return list
}

// millisType is the type of epoch_ms(t).
func millisType(args []*bound) column.Type {
	if args[0].typ.IsInteger() {
		return timestampType
	}
	return int64Type
}

// millis binds epoch_ms(t), of which part is for times.
func millis(part func(*call) (*bound, error)) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		if c.args[0].typ.IsInteger() {
			return makeTimestampMillis(c)
		}
		return part(c)
	}
}

// partNamed is the part that argument 0 of c names.
func (c *call) partNamed(among map[string]*datePart) (*datePart, error) {
	name := strings.ToLower(c.args[0].value.Bytes)
	if p := among[name]; p != nil {
		return p, nil
	}
	return nil, c.fail(0, "%s knows no part '%s'%s", c.n.Name, oneLine(name), didYouMean(name, slices.Sorted(maps.Keys(among))))
}

// firstParts is the names of parts that the first argument of f takes; none: it is another one.
func firstParts(f *function) []string {
	switch {
	case f.section != sectionDate || len(f.params) == 0 || f.params[0].name != "part" && f.params[0].name != "unit":
		return nil
	case f.name == "date_trunc":
		return partNames(truncatable)
	}
	return partNames(partsByName)
}

// partNames is the names of parts, each part by its first one, in the order of their table.
func partNames(among map[string]*datePart) (names []string) {
	for i := range dateParts {
		if name := dateParts[i].names[0]; among[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// partType is the type of date_part(part, t).
func partType(args []*bound) column.Type {
	if p := partsByName[strings.ToLower(args[0].value.Bytes)]; p != nil {
		return p.typ()
	}
	return int64Type
}

// datePartOf binds date_part(part, t).
func datePartOf(c *call) (*bound, error) {
	p, err := c.partNamed(partsByName)
	if err != nil {
		return nil, err
	}
	if x := c.args[1]; x.kind != boundInterval && p.ofDay != nil && !aDay.holds(x.typ) {
		return nil, c.fail(1, "the %s is part of %s, not of a %s", p.names[0], aDay.name, x.typ)
	}
	return c.datePart(p, c.args[1])
}

// datePart binds a part of x.
func (c *call) datePart(p *datePart, x *bound) (*bound, error) {
	if x.kind == boundInterval {
		return c.intervalPart(p, x)
	}
	perSecond := int64(0) // of a date: its one step a day is none a second
	if x.typ.Kind != column.Date {
		perSecond = x.typ.Unit.PerSecond()
	}
	switch {
	case p.ofDay != nil:
		n := c.strict(dayKernel(p.ofDay, newDivisor(stepsPerDay(x.typ))), x).bucketed(stepsPerDay(x.typ))
		if ops := ofDayWords(dayWords[p.names[0]], stepsPerDay(x.typ)); ops != nil {
			n.onWords(ops...)
		}
		if p.values > 0 {
			return n.ofFew(p.values), nil
		}
		return n.changesEvery(max(leastDays[p.names[0]], 1) * stepsPerDay(x.typ)), nil
	case p.perEpoch != 0:
		times, by := epochSteps(p.perEpoch, perSecond)
		return c.strict(epochKernel(times, by), x).onWords(wordOp{code: CodeDivide, with: uint64(by)}, wordOp{code: CodeMultiply, with: uint64(times)}), nil
	case p.wrap == 0:
		n := c.strict(epochSecondsKernel(perSecond), x)
		if perSecond == 0 {
			return n.onWords(wordOp{code: CodeToDouble}, wordOp{code: CodeMultiplyDouble, with: math.Float64bits(secondsPerDay)}), nil
		}
		return n.onWords(wordOp{code: CodeToDouble}, wordOp{code: CodeDivideDouble, with: math.Float64bits(float64(perSecond))}), nil
	case perSecond == 0:
		return c.strict(func(f *frame) error { fill(f.out.Int, 0); return nil }, x), nil
	}
	wrap := p.wrap
	if wrap == secondsPerDay && x.typ.Kind == column.Time {
		wrap += secondsPerDay // 24:00:00 is a time of day
	}
	whole, by, times := p.clockSteps(wrap, perSecond)
	return c.strict(clockKernel(newDivisor(whole), newDivisor(by), times), x).bucketed(p.bucket(perSecond)).onWords(
		wordOp{code: CodeFloorRest, constant: uint64(whole)}, wordOp{code: CodeFloor, constant: uint64(by)},
		wordOp{code: CodeMultiply, with: uint64(times)}).ofFew(whole / by), nil
}

// dayKernel computes a part of the day.
func dayKernel(part func(days int64) int64, perDay divisor) kernel {
	days := &ofDays{value: part}
	return func(f *frame) error {
		days.put(f.out.Int, f.args[0].Int, perDay)
		return nil
	}
}

// bucket is the bucket of times of the same part of a time of day, in steps; 0: they are too many.
func (p *datePart) bucket(perSecond int64) int64 {
	if p.seconds < 60 {
		return 0
	}
	return p.seconds * perSecond
}

// clockSteps says how a part of a time of wrap seconds is made of values that have perSecond steps
// a second: within whole steps, divided by by and times times.
func (p *datePart) clockSteps(wrap, perSecond int64) (whole, by, times int64) {
	whole, by, times = wrap*perSecond, p.seconds*perSecond, 1
	switch {
	case p.perSecond > perSecond:
		times, by = p.perSecond/perSecond, 1
	case p.perSecond > 0:
		by = perSecond / p.perSecond
	}
	return whole, by, times
}

// clockKernel computes a part of a time by clockSteps.
func clockKernel(whole, by divisor, times int64) kernel {
	return func(f *frame) error {
		out := f.out.Int
		for i, v := range f.args[0].Int[:len(out)] {
			out[i] = by.floor(v-whole.floor(v)*whole.d) * times
		}
		return nil
	}
}

// epochSecondsKernel gives seconds with their fraction.
func epochSecondsKernel(perSecond int64) kernel {
	return func(f *frame) error {
		out := f.out.Float
		for i, v := range f.args[0].Int[:len(out)] {
			if perSecond == 0 {
				out[i] = float64(v) * secondsPerDay
			} else {
				out[i] = float64(v) / float64(perSecond)
			}
		}
		return nil
	}
}

// epochSteps says how steps of which there are want a second are made of those of which there are
// perSecond, or one a day: divided by by, and times times.
func epochSteps(want, perSecond int64) (times, by int64) {
	switch {
	case perSecond > want:
		return 1, perSecond / want
	case perSecond > 0:
		return want / perSecond, 1
	}
	return want * secondsPerDay, 1
}

// epochKernel makes steps by epochSteps, cut towards zero as DuckDB does.
func epochKernel(times, by int64) kernel {
	most := math.MaxInt64 / times
	return func(f *frame) error {
		in, out := f.args[0].Int[:f.n], f.out.Int
		alarm := false
		for i, v := range in {
			out[i] = v / by * times
			alarm = alarm || v > most || v < -most
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool { return times > 1 && (in[i] > most || in[i] < -most) })
	}
}

func yearPart(part func(year int64) int64) func(days int64) int64 {
	return func(days int64) int64 {
		y, _, _ := civilFromDays(days)
		return part(y)
	}
}

// century counts from 1, and from -1 downwards before year 1.
func century(year int64) int64 {
	if year > 0 {
		return (year-1)/100 + 1
	}
	return year/100 - 1
}

func millennium(year int64) int64 {
	if year > 0 {
		return (year-1)/1000 + 1
	}
	return year/1000 - 1
}

func dayOfYear(days int64) int64 {
	y, _, _ := civilFromDays(days)
	return days - daysFromCivil(y, 1, 1) + 1
}

// isoWeekday is 1 for Monday to 7 for Sunday. 1970-01-01 was a Thursday.
func isoWeekday(days int64) int64 { return days + 3 - floorDiv(days+3, 7)*7 + 1 }

// isoWeek gives the week and the year that it belongs to: that of its
// Thursday.
func isoWeek(days int64) (year, week int64) {
	thursday := days - isoWeekday(days) + 4
	year, _, _ = civilFromDays(thursday)
	return year, (thursday-daysFromCivil(year, 1, 1))/7 + 1
}

func yearWeek(days int64) int64 {
	year, week := isoWeek(days)
	if year <= 0 {
		week = -week
	}
	return year*100 + week
}
