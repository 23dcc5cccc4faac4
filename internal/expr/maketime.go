package expr

import (
	"fmt"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// failing runs row for each row that is not NULL, up to the first failure.
func (f *frame) failing(row func(i int) error) error {
	for i := range f.n {
		f.out.Int[i] = 0
		if f.out.IsNull(i) {
			continue
		}
		if err := row(i); err != nil {
			return err
		}
	}
	return nil
}

// civilDays is a date as days.
func civilDays(year, month, day int64) (int64, error) {
	if year > math.MaxInt32 || year < math.MinInt32 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, &ValueError{Value: fmt.Sprintf("%d-%d-%d", year, month, day), Type: "date"}
	}
	days := daysFromCivil(year, month, day)
	if days != int64(int32(days)) {
		return 0, errOverflow
	}
	return days, nil
}

// clockMicros is a time of day in microseconds, to which its seconds are rounded.
func clockMicros(hour, minute int64, second float64) (int64, error) {
	micros := math.RoundToEven(second * 1e6)
	if hour >= 0 && hour <= 24 && minute >= 0 && minute < 60 && micros >= 0 && micros <= 60e6 {
		if all := (hour*60+minute)*60e6 + int64(micros); all <= microsPerDay {
			return all, nil
		}
	}
	return 0, &ValueError{Value: fmt.Sprintf("%d:%d:%s", hour, minute, textOf(doubleValue(second))), Type: "time"}
}

// makeDate binds make_date(year, month, day), and make_date(days).
func makeDate(c *call) (*bound, error) {
	switch len(c.args) {
	case 1:
		return c.strict(func(f *frame) error {
			copy(f.out.Int, f.args[0].Int)
			return f.check(func(i int) bool { return f.out.Int[i] != int64(int32(f.out.Int[i])) })
		}, c.args...), nil
	case 2:
		return nil, typeErrorf("make_date takes 1 or 3 arguments, not 2: make_date(year, month, day)")
	}
	return c.strict(func(f *frame) error {
		return f.failing(func(i int) (err error) {
			f.out.Int[i], err = civilDays(f.args[0].Int[i], f.args[1].Int[i], f.args[2].Int[i])
			return err
		})
	}, c.args...), nil
}

// makeTime binds make_time(hour, minute, second).
func makeTime(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		return f.failing(func(i int) (err error) {
			f.out.Int[i], err = clockMicros(f.args[0].Int[i], f.args[1].Int[i], f.args[2].Float[i])
			return err
		})
	}, c.args[0], c.args[1], castTo(c.args[2], doubleType, c.n)), nil
}

// makeTimestamp binds make_timestamp(year, month, day, hour, minute, second), and
// make_timestamp(microseconds).
func makeTimestamp(c *call) (*bound, error) {
	switch len(c.args) {
	case 1:
		return retyped(c.typ, c.n, c.args[0]), nil
	case 6:
	default:
		return nil, typeErrorf("make_timestamp takes 1 or 6 arguments, not %d: make_timestamp(year, month, day, hour, minute, second)", len(c.args))
	}
	args := append(append([]*bound(nil), c.args[:5]...), castTo(c.args[5], doubleType, c.n))
	return c.strict(func(f *frame) error {
		return f.failing(func(i int) error {
			days, err := civilDays(f.args[0].Int[i], f.args[1].Int[i], f.args[2].Int[i])
			if err != nil {
				return err
			}
			clock, err := clockMicros(f.args[3].Int[i], f.args[4].Int[i], f.args[5].Float[i])
			if err == nil && (days > mostDays || days < -mostDays) {
				err = errOverflow
			}
			f.out.Int[i] = days*microsPerDay + clock
			return err
		})
	}, args...), nil
}

// makeTimestampMillis binds make_timestamp_ms(x).
func makeTimestampMillis(c *call) (*bound, error) {
	micros := intArithmetic("*", int64Type, retyped(int64Type, c.n, c.args[0]), newConst(intValue(1000)), c.n)
	return retyped(c.typ, c.n, micros), nil
}

// toTimestamp binds to_timestamp(seconds).
func toTimestamp(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		return f.failing(func(i int) error {
			micros := math.RoundToEven(f.args[0].Float[i] * 1e6)
			if !(math.Abs(micros) < 1<<63) {
				return &DomainError{Why: "there is no timestamp of", Value: f.args[0].Float[i]}
			}
			f.out.Int[i] = int64(micros)
			return nil
		})
	}, castTo(c.args[0], doubleType, c.n)), nil
}

// lastDay binds last_day(t), of its month.
func lastDay(c *call) (*bound, error) {
	last := func(days int64) int64 {
		y, m, _ := civilFromDays(days)
		return daysFromCivil(y, m, daysIn(y, m))
	}
	k := dayKernel(last, newDivisor(stepsPerDay(c.args[0].typ)))
	return c.strict(func(f *frame) error {
		if err := k(f); err != nil {
			return err
		}
		return f.check(func(i int) bool { return f.out.Int[i] != int64(int32(f.out.Int[i])) })
	}, c.args[0]).onWords(append(ofDayWords(lastDayWords, stepsPerDay(c.args[0].typ)), wordOp{code: CodeWithin, constant: math.MaxInt32})...), nil
}

// intervalPart is a part of an interval: years and months of its months, days of its days, and
// all others of its microseconds.
func (c *call) intervalPart(p *datePart, x *bound) (*bound, error) {
	op := func(of *bound, op string, by int64) *bound {
		return intArithmetic(op, int64Type, of, newConst(intValue(by)), c.n)
	}
	months, days, micros := x.args[0], x.args[1], x.args[2]
	switch p.names[0] {
	case "millennium":
		return op(months, "//", 12000), nil
	case "century":
		return op(months, "//", 1200), nil
	case "decade":
		return op(months, "//", 120), nil
	case "year":
		return op(months, "//", 12), nil
	case "quarter":
		return op(op(op(months, "%", 12), "//", 3), "+", 1), nil
	case "month":
		return op(months, "%", 12), nil
	case "day":
		return days, nil
	case "hour":
		return op(micros, "//", 3600e6), nil
	case "minute":
		return op(op(micros, "%", 3600e6), "//", 60e6), nil
	case "second":
		return op(op(micros, "%", 60e6), "//", 1e6), nil
	case "millisecond":
		return op(op(micros, "%", 60e6), "//", 1e3), nil
	case "microsecond":
		return op(micros, "%", 60e6), nil
	case "epoch_ns":
		return op(inAll(x, c.n), "*", 1e3), nil
	case "epoch_us":
		return inAll(x, c.n), nil
	case "epoch_ms":
		whole := intArithmetic("+", int64Type, op(months, "*", 30), days, c.n)
		return intArithmetic("+", int64Type, op(whole, "*", microsPerDay/1e3), op(micros, "//", 1e3), c.n), nil
	case "epoch":
		return strict(doubleType, c.n, intervalSeconds, months, days, micros), nil
	}
	return nil, typeErrorf("an interval has no %s", p.names[0])
}

// intervalSeconds is the length of intervals, a year being 365.25 days and a month beside it 30.
func intervalSeconds(f *frame) error {
	for i, months := range f.args[0].Int[:f.n] {
		years := months / 12
		days := 365*years + 30*(months%12) + f.args[1].Int[i]
		f.out.Float[i] = float64(days)*secondsPerDay + float64(years)*(secondsPerDay/4) + float64(f.args[2].Int[i])/1e6
	}
	return nil
}

var (
	timestampType   = column.TimestampType(column.Micro, false)
	timestamptzType = column.TimestampType(column.Micro, true)
	timeType        = column.Type{Kind: column.Time, Unit: column.Micro}
)
