package sink

import (
	"strconv"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

const secondsPerDay = 24 * 60 * 60

// appendDate writes ISO 8601: 2024-01-31. Years have at least four digits and
// are astronomical: 0000 is the year before 0001, -0044 is 45 BC. Years past
// 9999 have as many digits as they need, without a plus sign, which DuckDB
// and most others do not read.
func appendDate(dst []byte, days int64) []byte {
	year, month, day := civil(days)
	if year < 0 {
		dst, year = append(dst, '-'), -year
	}
	for limit := int64(1000); limit > year && limit > 1; limit /= 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, year, 10)
	dst = append(dst, '-', byte('0'+month/10), byte('0'+month%10))
	return append(dst, '-', byte('0'+day/10), byte('0'+day%10))
}

// appendInterval writes 1 year 2 months -3 days 04:05:06.5, without what is zero.
func appendInterval(dst []byte, x decimal256.Num) []byte {
	start := len(dst)
	months, days, micros := column.SplitInterval(x)
	for _, part := range []struct {
		n    int32
		unit string
	}{{months / 12, " year"}, {months % 12, " month"}, {days, " day"}} {
		if part.n == 0 {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(strconv.AppendInt(dst, int64(part.n), 10), part.unit...)
		if part.n != 1 && part.n != -1 {
			dst = append(dst, 's')
		}
	}
	if micros == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	if micros < 0 {
		dst, micros = append(dst, '-'), -micros
	}
	if hours := micros / 3600e6; hours >= 100 {
		dst = strconv.AppendInt(dst, hours/100, 10)
		micros -= hours / 100 * 100 * 3600e6
	}
	return appendTime(dst, micros, column.Micro)
}

// civil turns days since 1970-01-01 into a date of the Gregorian calendar,
// extended both ways. Years are counted from March, so that the leap day is
// the last of its year and months follow a straight line: day 153*m/5 begins
// month m (Fliegel and Van Flandern; the form is Howard Hinnant's).
func civil(days int64) (year, month, day int64) {
	const daysPerEra = 146097 // 400 years
	days += 719468            // since 0000-03-01
	era := days / daysPerEra
	if days%daysPerEra < 0 {
		era--
	}
	doe := days - era*daysPerEra
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	m := (5*doy + 2) / 153
	day = doy - (153*m+2)/5 + 1
	year, month = yoe+era*400, m+3
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// appendTime writes 12:34:56 and, unless it is zero, the fraction of the
// second without trailing zeros.
func appendTime(dst []byte, t int64, unit column.Unit) []byte {
	per := unit.PerSecond()
	s, fraction := t/per, t%per
	dst = append(appendTwo(dst, s/3600), ':')
	dst = append(appendTwo(dst, s/60%60), ':')
	dst = appendTwo(dst, s%60)
	if fraction == 0 {
		return dst
	}
	dst = append(dst, '.')
	for per /= 10; fraction != 0; per /= 10 {
		dst = append(dst, byte('0'+fraction/per))
		fraction %= per
	}
	return dst
}

func appendTwo(dst []byte, x int64) []byte {
	if x >= 100 || x < 0 { // no time of a day, but what the file says
		return strconv.AppendInt(dst, x, 10)
	}
	return append(dst, byte('0'+x/10), byte('0'+x%10))
}

// appendTimestamp writes date and time of day, and +00 for an instant.
func appendTimestamp(dst []byte, ts int64, t column.Type) []byte {
	perDay := t.Unit.PerSecond() * secondsPerDay
	day, rest := ts/perDay, ts%perDay
	if rest < 0 {
		day, rest = day-1, rest+perDay
	}
	dst = append(appendDate(dst, day), ' ')
	dst = appendTime(dst, rest, t.Unit)
	if t.UTC {
		dst = append(dst, "+00"...)
	}
	return dst
}
