package expr

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

const secondsPerDay = 86400

// parseTemporal reads a date, time, timestamp or timestamptz; word says
// which. A timestamp with a zone is an instant in UTC.
func parseTemporal(word, text string) (column.Value, bool) {
	s := scanner{rest: strings.TrimSpace(text), ok: true}
	switch word {
	case "date":
		days := s.date()
		return column.Value{Type: dateType, Int: days}, s.done()
	case "time":
		sec, nanos := s.clock()
		v, ok := temporalValue(column.Time, sec, nanos, false)
		return v, ok && s.done()
	}
	sec, nanos, zone := s.timestamp()
	if !s.done() {
		return column.Value{}, false
	}
	return temporalValue(column.Timestamp, sec, nanos, zone || word == "timestamptz")
}

// temporalValue makes a time or timestamp in microseconds, unless another
// unit is needed to hold the fraction or the range.
func temporalValue(kind column.Kind, sec, nanos int64, utc bool) (column.Value, bool) {
	units := []column.Unit{column.Micro, column.Milli, column.Second}
	if nanos%1000 != 0 {
		units = []column.Unit{column.Nano}
	}
	for _, u := range units {
		per := u.PerSecond()
		if part := nanos / (1e9 / per); nanos%(1e9/per) == 0 && withinUnits(sec, part, per) {
			return column.Value{Type: column.Type{Kind: kind, Unit: u, UTC: utc}, Int: sec*per + part}, true
		}
	}
	return column.Value{}, false
}

// withinUnits reports whether sec seconds of per units each, and part more of these units, fewer
// than a second, are in the range of int64.
func withinUnits(sec, part, per int64) bool {
	return sec <= (math.MaxInt64-part)/per && sec+1 >= (math.MinInt64+per-part)/per
}

// scanner reads dates and times off the front of rest; ok turns false at
// the first thing that does not fit.
type scanner struct {
	rest string
	ok   bool
}

func (s *scanner) done() bool { return s.ok && s.rest == "" }

// skip takes c off the front if it is there.
func (s *scanner) skip(c byte) bool {
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) want(c byte) {
	if !s.skip(c) {
		s.ok = false
	}
}

// number reads lo to hi digits, a number of at most limit.
func (s *scanner) number(lo, hi int, limit int64) int64 {
	n, i := int64(0), 0
	for i < hi && i < len(s.rest) && isDigit(s.rest[i]) {
		n = n*10 + int64(s.rest[i]-'0')
		i++
	}
	s.rest = s.rest[i:]
	if i < lo || n > limit {
		s.ok = false
	}
	return n
}

// date reads [-]yyyy-mm-dd [(BC)] as days since 1970-01-01. The parts may be
// apart by / instead.
func (s *scanner) date() int64 {
	negative := s.skip('-')
	year := s.number(1, 7, math.MaxInt64)
	between := byte('-')
	if strings.HasPrefix(s.rest, "/") {
		between = '/'
	}
	s.want(between)
	month := s.number(1, 2, 12)
	s.want(between)
	day := s.number(1, 2, 31)
	if negative {
		year = -year
	} else if n := len(" (BC)"); len(s.rest) >= n && strings.EqualFold(s.rest[:n], " (BC)") {
		// The year before 1 is 1 BC, which is 0.
		s.rest, year = s.rest[n:], 1-year
	}
	if month < 1 || day < 1 || s.ok && day > daysIn(year, month) {
		s.ok = false
	}
	return daysFromCivil(year, month, day)
}

// clock reads hh:mm[:ss[.fraction]], of the fraction the nanoseconds. The end
// of the day may be 24:00:00.
func (s *scanner) clock() (sec, nanos int64) {
	defer func() { s.ok = s.ok && (sec < secondsPerDay || sec == secondsPerDay && nanos == 0) }()
	sec = s.number(1, 2, 24) * 3600
	s.want(':')
	sec += s.number(1, 2, 59) * 60
	if !s.skip(':') {
		return sec, 0
	}
	sec += s.number(1, 2, 59)
	if !s.skip('.') {
		return sec, 0
	}
	nanos = s.fraction(9, 9)
	s.rest = strings.TrimLeft(s.rest, "0123456789")
	return sec, nanos
}

// fraction reads at most so many digits behind a point, in units of 10^-places.
func (s *scanner) fraction(digits, places int) int64 {
	before := len(s.rest)
	n := s.number(1, digits, math.MaxInt64)
	for range places - (before - len(s.rest)) {
		n *= 10
	}
	return n
}

// timestamp reads a date, optionally a time after a blank or T, optionally a
// zone: Z, UTC, +hh, +hh:mm, +hhmm.
func (s *scanner) timestamp() (sec, nanos int64, zone bool) {
	sec = s.date() * secondsPerDay
	if s.rest == "" {
		return sec, 0, false
	}
	if !s.skip('T') {
		s.want(' ')
		s.rest = strings.TrimLeft(s.rest, " ")
	}
	clock, nanos := s.clock()
	sec += clock
	s.rest = strings.TrimLeft(s.rest, " ")
	switch {
	case s.rest == "":
		return sec, nanos, false
	case s.rest == "Z", s.rest == "z", strings.EqualFold(s.rest, "utc"):
		s.rest = ""
		return sec, nanos, true
	}
	return sec - s.offset(), nanos, true
}

// offset reads a zone's distance from UTC in seconds.
func (s *scanner) offset() int64 {
	west := s.skip('-')
	if !west {
		s.want('+')
	}
	sec := s.number(2, 2, 18) * 3600
	if s.skip(':') || s.rest != "" && isDigit(s.rest[0]) {
		sec += s.number(2, 2, 59) * 60
	}
	if west {
		return -sec
	}
	return sec
}

func daysIn(year, month int64) int64 {
	if month == 12 {
		return 31
	}
	return daysFromCivil(year, month+1, 1) - daysFromCivil(year, month, 1)
}

// daysFromCivil gives the days from 1970-01-01 to a date of the proleptic
// Gregorian calendar. Years begin in March, so that the leap day is last.
func daysFromCivil(year, month, day int64) int64 {
	if month <= 2 {
		year--
	}
	era := floorDiv(year, 400)
	ofEra := year - era*400
	ofYear := (153*((month+9)%12)+2)/5 + day - 1
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468
}

// civilFromDays is the inverse of daysFromCivil.
func civilFromDays(days int64) (year, month, day int64) {
	days += 719468
	era := floorDiv(days, 146097)
	ofEra := days - era*146097
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	m := (5*ofYear + 2) / 153
	day = ofYear - (153*m+2)/5 + 1
	month = m + 3
	if month > 12 {
		month -= 12
	}
	year = yearOfEra + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// clampDays keeps days where civilFromDays does not overflow. No calendar
// goes further.
func clampDays(days int64) int64 {
	const limit = math.MaxInt64 / 4
	return min(max(days, -limit), limit)
}

// appendDate writes a date.
func appendDate(to []byte, days int64) []byte {
	year, month, day := civilFromDays(clampDays(days))
	if year < 0 {
		to, year = append(to, '-'), -year
	}
	to = append(appendPadded(to, int64(year), 4), '-')
	to = append(appendPadded(to, int64(month), 2), '-')
	return appendPadded(to, int64(day), 2)
}

// appendTime writes a time of day; the fraction has as many digits as needed
// to tell its unit from coarser ones.
func appendTime(to []byte, v int64, u column.Unit) []byte {
	per := u.PerSecond()
	sec := floorDiv(v, per)
	to = append(appendPadded(to, sec/3600, 2), ':')
	to = append(appendPadded(to, sec/60%60, 2), ':')
	to = appendPadded(to, sec%60, 2)
	if frac := v - sec*per; frac != 0 {
		to = bytes.TrimRight(appendPadded(append(to, '.'), frac*(1e9/per), 9), "0")
	}
	return to
}

// appendTimestamp writes a time of a type of timestamps.
func appendTimestamp(to []byte, v int64, t column.Type) []byte {
	perDay := t.Unit.PerSecond() * secondsPerDay
	days := floorDiv(v, perDay)
	to = appendTime(append(appendDate(to, days), ' '), v-days*perDay, t.Unit)
	if t.UTC {
		to = append(to, "+00"...)
	}
	return to
}

// appendPadded writes n with zeros in front of it, if it has fewer digits than width.
func appendPadded(to []byte, n int64, width int) []byte {
	if n < 0 {
		return fmt.Appendf(to, "%0*d", width, n)
	}
	for ; width > 1 && n < powers[width-1]; width-- {
		to = append(to, '0')
	}
	return strconv.AppendInt(to, n, 10)
}
