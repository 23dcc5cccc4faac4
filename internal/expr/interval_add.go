package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// plusInterval is x + interval: first the months, where the day becomes the last one of a shorter
// month; then the days; then the microseconds.
func plusInterval(x, interval *bound, src Node) *bound {
	t := x.typ
	switch {
	case t.Kind == column.Date:
		t = column.TimestampType(column.Micro, false)
	case t.Unit < column.Micro:
		t.Unit = column.Micro
	}
	perMicro := t.Unit.PerSecond() / 1e6
	if t.Kind == column.Time {
		return strict(t, src, addToClock(t.Unit.PerSecond()/x.typ.Unit.PerSecond(), perMicro), x, interval.args[2], interval.args[0], interval.args[1])
	}
	a := adder{perDay: newDivisor(stepsPerDay(x.typ)), steps: stepsPerDay(t), perMicro: perMicro}
	a.times = a.steps / a.perDay.d
	if s, ok := interval.constantSpan(); ok && s.Months == 0 {
		n := strict(t, src, a.addFixed(s), x)
		if by, ok := a.fixed(s); ok {
			n.onWords(wordOp{code: CodeMultiply, with: uint64(a.times)}, addWord(by))
		}
		return n
	}
	return strict(t, src, a.add, x, interval.args[0], interval.args[1], interval.args[2])
}

// adder adds intervals to values that have perDay steps a day. The results have steps a day,
// times as many, and perMicro steps a microsecond.
type adder struct {
	perDay                 divisor
	steps, times, perMicro int64
}

// addFixed adds days and microseconds that are the same for all rows.
func (a adder) addFixed(s Span) kernel {
	by, ok := a.fixed(s)
	if !ok {
		return func(f *frame) error { return f.check(func(int) bool { return true }) }
	}
	most, least := math.MaxInt64/a.times, math.MinInt64/a.times
	return func(f *frame) error {
		out := f.out.Int
		in := f.args[0].Int[:len(out)]
		alarm := false
		for i, v := range in {
			r := v*a.times + by
			alarm = alarm || v > most || v < least || (r > v*a.times) != (by > 0)
			out[i] = r
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool {
			v := in[i]
			_, ok := addChecked(v*a.times, by)
			return v > most || v < least || !ok
		})
	}
}

// fixed is days and microseconds as steps, if these fit an int64.
func (a adder) fixed(s Span) (steps int64, ok bool) {
	if mulOverflows(s.Days, a.steps) || mulOverflows(s.Micros, a.perMicro) {
		return 0, false
	}
	return addChecked(s.Days*a.steps, s.Micros*a.perMicro)
}

// add adds intervals that vary.
func (a adder) add(f *frame) error {
	out := f.out.Int
	in, months, days, micros := f.args[0].Int, f.args[1].Int, f.args[2].Int, f.args[3].Int
	alarm := false
	for i := range out {
		v, ok := a.plus(in[i], months[i], days[i], micros[i])
		out[i], alarm = v, alarm || !ok
	}
	if !alarm {
		return nil
	}
	return f.check(func(i int) bool {
		_, ok := a.plus(in[i], months[i], days[i], micros[i])
		return !ok
	})
}

func (a adder) plus(v, months, days, micros int64) (int64, bool) {
	const most = math.MaxInt64 / 4
	day := a.perDay.floor(v)
	rest := (v - day*a.perDay.d) * a.times
	if months != 0 {
		if max(months, -months) > most || months == math.MinInt64 {
			return 0, false
		}
		day = plusMonths(clampDays(day), months)
	}
	if max(day, days) > most || min(day, days) < -most {
		return 0, false
	}
	if day += days; day < 0 {
		day, rest = day+1, rest-a.steps
	}
	if mulOverflows(day, a.steps) || mulOverflows(micros, a.perMicro) {
		return 0, false
	}
	// Each part fits; a sum that leaves the range on the way may come back. Before 1970 rest counts
	// from the end of the day: the first day of the range begins before the range does.
	start, by := day*a.steps, micros*a.perMicro
	if (start < 0) == (by < 0) {
		start, ok := addChecked(start, by)
		if !ok {
			return 0, false
		}
		return addChecked(start, rest)
	}
	return addChecked(start+by, rest)
}

func addChecked(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (sum > a) == (b > 0)
}

// plusMonths is the same day so many months later, or the last one of that month.
func plusMonths(days, months int64) int64 {
	y, m, d := civilFromDays(days)
	m += months - 1
	years := floorDiv(m, 12)
	y, m = y+years, m-years*12+1
	if y > mostYears || y < -mostYears {
		return math.MaxInt64 / 2
	}
	return daysFromCivil(y, m, min(d, daysIn(y, m)))
}

// mostYears is beyond all dates.
const mostYears = 1 << 40

// addToClock adds to times of day. The results have times as many steps, and perMicro steps a
// microsecond. Months and days, the last arguments, only matter if they are NULL.
func addToClock(times, perMicro int64) kernel {
	perDay := microsPerDay * perMicro
	return func(f *frame) error {
		out := f.out.Int
		in, by := f.args[0].Int[:len(out)], f.args[1].Int[:len(out)]
		for i := range out {
			v := in[i]*times + by[i]%microsPerDay*perMicro
			out[i] = v - floorDiv(v, perDay)*perDay
		}
		return nil
	}
}
