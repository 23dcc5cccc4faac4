package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/gagg-dev/gagg/internal/column"
)

// Span is the length of an interval. Months and days have no fixed length: it depends on the date
// that they are added to. They fit 32 bits.
type Span struct {
	Months, Days, Micros int64
}

// spanOf is the length of an interval that is a value.
func spanOf(v column.Value) Span {
	months, days, micros := column.SplitInterval(v.Wide)
	return Span{int64(months), int64(days), micros}
}

// spanUnits are the units of intervals, by all their names. A fraction of a month or a longer
// unit has to come to whole months.
var spanUnits = sync.OnceValue(func() map[string]Span {
	units := map[string]Span{}
	for names, span := range map[string]Span{
		"us usec usecs usecond useconds microsecond microseconds": {Micros: 1},
		"ms msec msecs msecond mseconds millisecond milliseconds": {Micros: 1e3},
		"s sec secs second seconds":                               {Micros: 1e6},
		"m min mins minute minutes":                               {Micros: 60e6},
		"h hr hrs hour hours":                                     {Micros: 3600e6},
		"d day days":                                              {Days: 1},
		"w week weeks":                                            {Days: 7},
		"mon mons month months":                                   {Months: 1},
		"quarter quarters":                                        {Months: 3},
		"y yr yrs year years":                                     {Months: 12},
		"dec decs decade decades":                                 {Months: 120},
		"c cent century centuries":                                {Months: 1200},
		"mil mils millennium millennia millenniums":               {Months: 12000},
	} {
		for _, name := range strings.Fields(names) {
			units[name] = span
		}
	}
	return units
})

// spanWords are the units that may stand behind the text of an interval: interval '1' day.
var spanWords = []string{
	"microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century", "millennium",
}

// parseSpan reads numbers with units, `2 days 3 hours`, and times of day, `2 days 03:00:00`. A
// number without a unit is seconds, if there is nothing else. An @ may stand before all.
func parseSpan(text string) (Span, bool) {
	var all Span
	s := scanner{rest: strings.ToLower(strings.TrimSpace(strings.TrimPrefix(text, "@"))), ok: text != ""}
	for first := true; s.ok && (s.rest != "" || first); first = false {
		if s.rest == "ago" && !first {
			return Span{-all.Months, -all.Days, -all.Micros}, is32(-all.Months) && is32(-all.Days) && all.Micros != math.MinInt64
		}
		one := s.span(first)
		s.ok = s.ok && all.add(one)
		s.rest = strings.TrimLeft(s.rest, " ")
	}
	return all, s.ok
}

// span reads a number and its unit, or a time of day. Only the first number may be without a unit.
func (s *scanner) span(first bool) Span {
	sign := int64(1)
	if s.skip('-') {
		sign = -1
	}
	digits := len(s.rest) - len(strings.TrimLeft(s.rest, "0123456789"))
	if digits < len(s.rest) && digits > 0 && s.rest[digits] == ':' {
		sec, nanos := s.longClock()
		s.ok = s.ok && sec < math.MaxInt64/1_000_000
		return Span{Micros: sign * (sec*1e6 + nanos/1e3)}
	}
	whole := s.signed(sign)
	fraction := int64(0) // in millionths
	if s.skip('.') {
		fraction = s.fraction(6, 6)
		s.rest = strings.TrimLeft(s.rest, "0123456789")
	}
	s.rest = strings.TrimLeft(s.rest, " ")
	name := s.rest[:len(s.rest)-len(strings.TrimLeft(s.rest, "abcdefghijklmnopqrstuvwxyz"))]
	unit, ok := spanUnits()[name]
	if name == "" && s.rest == "" && first {
		unit, ok = spanUnits()["second"], true
	}
	s.rest = s.rest[len(name):]
	out, fits := unit.times(whole)
	part, exact := unit.part(sign * fraction)
	s.ok = s.ok && ok && fits && exact && out.add(part)
	return out
}

// signed reads a whole number of 64 bits, whose sign has been read.
func (s *scanner) signed(sign int64) int64 {
	digits := s.rest[:len(s.rest)-len(strings.TrimLeft(s.rest, "0123456789"))]
	s.rest = s.rest[len(digits):]
	if sign < 0 {
		digits = "-" + digits
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	s.ok = s.ok && err == nil
	return n
}

// longClock is clock for hours of any number.
func (s *scanner) longClock() (sec, nanos int64) {
	hours := s.number(1, 10, math.MaxInt64)
	s.rest = "00" + s.rest
	sec, nanos = s.clock()
	return hours*3600 + sec, nanos
}

// times is so many spans.
func (a Span) times(n int64) (Span, bool) {
	fits := !mulOverflows(a.Months, n) && !mulOverflows(a.Days, n) && !mulOverflows(a.Micros, n)
	out := Span{a.Months * n, a.Days * n, a.Micros * n}
	return out, fits && is32(out.Months) && is32(out.Days)
}

// part is so many millionths of the span, which is less than one: of months only whole ones; of
// days what is less than one in microseconds, cut. A microsecond is rounded.
func (a Span) part(millionths int64) (Span, bool) {
	months, days := a.Months*millionths, a.Days*millionths
	out := Span{Months: months / 1e6, Days: days / 1e6, Micros: days%1e6*(microsPerDay/1e6) + a.Micros*millionths/1e6}
	if a == (Span{Micros: 1}) {
		out.Micros = millionths / 5e5
	}
	return out, months%1e6 == 0
}

// add adds b; it is not ok if a part overflows.
func (a *Span) add(b Span) bool {
	sum := Span{a.Months + b.Months, a.Days + b.Days, a.Micros + b.Micros}
	fits := (sum.Months > a.Months) == (b.Months > 0) && (sum.Days > a.Days) == (b.Days > 0) && (sum.Micros > a.Micros) == (b.Micros > 0)
	*a = sum
	return fits && is32(sum.Months) && is32(sum.Days)
}

// String is the text that reads as the span.
func (a Span) String() string {
	var parts []string
	add := func(n int64, unit string) {
		if n != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, unit+"s"[:truth(n != 1 && n != -1)]))
		}
	}
	add(a.Months/12, "year")
	add(a.Months%12, "month")
	add(a.Days, "day")
	if a.Micros != 0 || len(parts) == 0 {
		sign, n := "", magnitude(a.Micros)
		if a.Micros < 0 {
			sign = "-"
		}
		clock := fmt.Sprintf("%s%02d:%02d:%02d.%06d", sign, n/3600e6, n/60e6%60, n/1e6%60, n%1e6)
		parts = append(parts, strings.TrimSuffix(strings.TrimRight(clock, "0"), "."))
	}
	return strings.Join(parts, " ")
}
