package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// truncations are the parts that date_trunc cuts to: the first day of those
// that are whole days; the others by their seconds, or steps a second.
var truncations = map[string]func(days int64) int64{
	"day":        func(days int64) int64 { return days },
	"week":       func(days int64) int64 { return days - isoWeekday(days) + 1 },
	"month":      func(days int64) int64 { y, m, _ := civilFromDays(days); return daysFromCivil(y, m, 1) },
	"quarter":    func(days int64) int64 { y, m, _ := civilFromDays(days); return daysFromCivil(y, (m-1)/3*3+1, 1) },
	"year":       firstOfYears(1),
	"isoyear":    func(days int64) int64 { y, _ := isoWeek(days); return firstIsoDay(y) },
	"decade":     firstOfYears(10),
	"century":    firstOfYears(100),
	"millennium": firstOfYears(1000),
}

// leastDays is how many days the shortest of a part has.
var leastDays = map[string]int64{"week": 7, "month": 28, "quarter": 90, "year": 365, "decade": 3652}

// truncatable are the parts that date_trunc takes, by all their names.
var truncatable = func() map[string]*datePart {
	m := map[string]*datePart{}
	for name, p := range partsByName {
		if truncations[p.names[0]] != nil || p.wrap != 0 && p.perSecond <= 1e6 {
			m[name] = p
		}
	}
	return m
}()

// firstOfYears cuts to years that are multiples of n, towards year 0 as DuckDB
// does.
func firstOfYears(n int64) func(days int64) int64 {
	return func(days int64) int64 {
		y, _, _ := civilFromDays(days)
		return daysFromCivil(y/n*n, 1, 1)
	}
}

// firstIsoDay is the Monday of the week that holds January 4.
func firstIsoDay(year int64) int64 {
	fourth := daysFromCivil(year, 1, 4)
	return fourth - isoWeekday(fourth) + 1
}

// truncatedType is a timestamp in microseconds.
func truncatedType(args []*bound) column.Type {
	return column.TimestampType(column.Micro, args[1].typ.UTC)
}

// dateTrunc binds date_trunc(part, t).
func dateTrunc(c *call) (*bound, error) {
	p, err := c.partNamed(truncatable)
	if err != nil {
		return nil, err
	}
	x := c.args[1]
	if first := truncations[p.names[0]]; first != nil {
		n := c.strict(truncateDays(first, newDivisor(stepsPerDay(x.typ))), x).bucketed(stepsPerDay(x.typ))
		if ops := ofDayWords(truncatedDayWords[p.names[0]], stepsPerDay(x.typ)); ops != nil {
			n.onWords(append(ops, wordOp{code: CodeMultiply, with: microsPerDay})...)
		}
		return n.changesEvery(max(leastDays[p.names[0]], 1) * stepsPerDay(x.typ)), nil
	}
	step := p.seconds * 1e6
	if p.perSecond > 0 {
		step = 1e6 / p.perSecond
	}
	perDay := stepsPerDay(x.typ)
	n := c.strict(truncateSteps(newDivisor(step), perDay), x).bucketed(p.bucket(perDay / secondsPerDay)).onWords(truncatingWords(step, perDay)...)
	return n.changesEvery(stepsOf(step, perDay)), nil
}

// stepsOf is how many steps, of which there are perDay a day, make so many microseconds, down to
// one.
func stepsOf(micros, perDay int64) int64 {
	if perDay > microsPerDay {
		return micros * (perDay / microsPerDay)
	}
	return max(micros/(microsPerDay/perDay), 1)
}

const (
	microsPerDay = secondsPerDay * 1_000_000
	// whose microseconds fit, with those of a time of day
	mostDays = math.MaxInt64/microsPerDay - 1
	// whose first microsecond fits, after 1970 and before
	mostMidnight = math.MaxInt64 / microsPerDay
)

// truncateDays cuts to a whole day.
func truncateDays(first func(days int64) int64, perDay divisor) kernel {
	days := &ofDays{value: first}
	return func(f *frame) error {
		out := f.out.Int[:f.n]
		days.put(out, f.args[0].Int, perDay)
		alarm := false
		for i, start := range out {
			alarm = alarm || start > mostMidnight || start < -mostMidnight
			out[i] = start * microsPerDay
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool {
			start := first(clampDays(perDay.floor(f.args[0].Int[i])))
			return start > mostMidnight || start < -mostMidnight
		})
	}
}

// truncatingWords is truncateSteps as operations on words. They fail for some values more, near the
// ends of what an int64 holds.
func truncatingWords(step, perDay int64) []wordOp {
	var cut []wordOp
	if step > 1 {
		cut = []wordOp{{code: CodeFloor, constant: uint64(step)}, {code: CodeMultiply, with: uint64(step)}}
	}
	if perDay > microsPerDay {
		return append([]wordOp{{code: CodeFloor, constant: uint64(perDay / microsPerDay)}}, cut...)
	}
	times := microsPerDay / perDay
	within := (math.MaxInt64-step)/times - 1
	return append([]wordOp{{code: CodeWithin, constant: uint64(within)}, {code: CodeMultiply, with: uint64(times)}}, cut...)
}

// truncateSteps cuts values that have perDay steps a day to multiples of step
// microseconds.
func truncateSteps(step divisor, perDay int64) kernel {
	times, by := int64(1), newDivisor(1)
	most, least := int64(math.MaxInt64), int64(math.MinInt64)
	if perDay > microsPerDay {
		by = newDivisor(perDay / microsPerDay)
	} else {
		times = microsPerDay / perDay
		most, least = math.MaxInt64/times, -(math.MaxInt64-step.d)/times
	}
	return func(f *frame) error {
		in, out := f.args[0].Int[:f.n], f.out.Int
		alarm := false
		for i, v := range in {
			alarm = alarm || v > most || v < least
			out[i] = step.floor(by.floor(v)*times) * step.d
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool { return in[i] > most || in[i] < least })
	}
}
