package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

var (
	monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// moment is a date and time, as formats take it apart.
type moment struct {
	days       int64
	year       int64
	month, day int64
	sec, nanos int64 // of the day
	utc        bool
}

// momentKernel gives fill the moments of args[0], which is of type t.
func momentKernel(t column.Type, row func(f *frame, i int, m *moment, to []byte) []byte) kernel {
	perDay := stepsPerDay(t)
	day, second := newDivisor(perDay), newDivisor(max(perDay/secondsPerDay, 1))
	toNanos := 1e9 / second.d
	return func(f *frame) error {
		m := moment{utc: t.UTC}
		m.year, m.month, m.day = civilFromDays(0)
		return f.eachBytes(func(i int, to []byte) []byte {
			v := f.args[0].Int[i]
			if days := day.floor(v); days != m.days {
				m.days = days
				m.year, m.month, m.day = civilFromDays(clampDays(days))
			}
			if perDay > 1 {
				rest := v - m.days*perDay
				m.sec = second.floor(rest)
				m.nanos = (rest - m.sec*second.d) * toNanos
			}
			return row(f, i, &m, to)
		})
	}
}

// named binds dayname and monthname.
func named(name func(m *moment) string, like *likeDay) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		n := c.strict(momentKernel(c.args[0].typ, func(_ *frame, _ int, m *moment, to []byte) []byte { return append(to, name(m)...) }), c.args[0])
		n.like, n.tells = like, true
		return n.bucketed(stepsPerDay(c.args[0].typ)).ofFew(like.few), nil
	}
}

// conversion is a part of a format: % and a letter, or %- and a letter.
type conversion func(m *moment, to []byte) []byte

// number is a conversion to so many digits.
func number(digits int, of func(m *moment) int64) conversion {
	return func(m *moment, to []byte) []byte { return appendNumber(to, of(m), digits) }
}

func appendNumber(to []byte, n int64, digits int) []byte {
	if n < 0 {
		return strconv.AppendInt(to, n, 10)
	}
	for limit := int64(math.Pow10(digits - 1)); n < limit && limit > 1; limit /= 10 {
		to = append(to, '0')
	}
	return strconv.AppendInt(to, n, 10)
}

func hour12(m *moment) int64 { return (m.sec/3600+11)%12 + 1 }

// weekOfYear counts weeks that begin on the day first, 0 being Sunday. The days before the first
// such day are week 0.
func weekOfYear(first int64) func(m *moment) int64 {
	return func(m *moment) int64 {
		weekday := (isoWeekday(m.days) - first + 7) % 7
		return (dayOfYear(m.days) + 6 - weekday) / 7
	}
}

// conversions are those that strftime knows, as DuckDB has them.
var conversions = map[string]conversion{
	"%a":  func(m *moment, to []byte) []byte { return append(to, dayNames[isoWeekday(m.days)%7][:3]...) },
	"%A":  func(m *moment, to []byte) []byte { return append(to, dayNames[isoWeekday(m.days)%7]...) },
	"%b":  func(m *moment, to []byte) []byte { return append(to, monthNames[m.month-1][:3]...) },
	"%B":  func(m *moment, to []byte) []byte { return append(to, monthNames[m.month-1]...) },
	"%d":  number(2, func(m *moment) int64 { return m.day }),
	"%-d": number(1, func(m *moment) int64 { return m.day }),
	"%f":  number(6, func(m *moment) int64 { return m.nanos / 1e3 }),
	"%g":  number(3, func(m *moment) int64 { return m.nanos / 1e6 }),
	"%n":  number(9, func(m *moment) int64 { return m.nanos }),
	"%G":  number(4, func(m *moment) int64 { y, _ := isoWeek(m.days); return y }),
	"%H":  number(2, func(m *moment) int64 { return m.sec / 3600 }),
	"%-H": number(1, func(m *moment) int64 { return m.sec / 3600 }),
	"%I":  number(2, hour12),
	"%-I": number(1, hour12),
	"%j":  number(3, func(m *moment) int64 { return dayOfYear(m.days) }),
	"%-j": number(1, func(m *moment) int64 { return dayOfYear(m.days) }),
	"%m":  number(2, func(m *moment) int64 { return m.month }),
	"%-m": number(1, func(m *moment) int64 { return m.month }),
	"%M":  number(2, func(m *moment) int64 { return m.sec / 60 % 60 }),
	"%-M": number(1, func(m *moment) int64 { return m.sec / 60 % 60 }),
	"%p": func(m *moment, to []byte) []byte {
		return append(to, [2]string{"AM", "PM"}[truth(m.sec >= 12*3600)]...)
	},
	"%S":  number(2, func(m *moment) int64 { return m.sec % 60 }),
	"%-S": number(1, func(m *moment) int64 { return m.sec % 60 }),
	"%u":  number(1, func(m *moment) int64 { return isoWeekday(m.days) }),
	"%U":  number(2, weekOfYear(0)),
	"%V":  number(2, func(m *moment) int64 { _, w := isoWeek(m.days); return w }),
	"%w":  number(1, func(m *moment) int64 { return isoWeekday(m.days) % 7 }),
	"%W":  number(2, weekOfYear(1)),
	"%y":  number(2, func(m *moment) int64 { return max(m.year, -m.year) % 100 }),
	"%-y": number(1, func(m *moment) int64 { return max(m.year, -m.year) % 100 }),
	"%Y":  number(4, func(m *moment) int64 { return m.year }),
	"%z":  func(_ *moment, to []byte) []byte { return append(to, "+00"...) },
	"%Z": func(m *moment, to []byte) []byte {
		if m.utc {
			return append(to, "UTC"...)
		}
		return to
	},
	"%%": func(_ *moment, to []byte) []byte { return append(to, '%') },
}

// composed are conversions that stand for several.
var composed = strings.NewReplacer("%%", "%%", "%c", "%Y-%m-%d %H:%M:%S", "%x", "%Y-%m-%d", "%X", "%H:%M:%S", "%T", "%H:%M:%S", "%h", "%b")

// formatPart is a conversion, or text.
type formatPart struct {
	conversion string // "": text
	text       string
}

// cutFormat takes the format, argument i of c, apart.
func (c *call) cutFormat(i int, known func(conversion string) bool) ([]formatPart, error) {
	var parts []formatPart
	rest := composed.Replace(c.args[i].value.Bytes)
	for rest != "" {
		text, _, found := strings.Cut(rest, "%")
		if text != "" {
			parts = append(parts, formatPart{text: text})
		}
		if rest = rest[len(text):]; !found {
			break
		}
		n := 2
		if strings.HasPrefix(rest, "%-") {
			n = 3
		}
		n = min(n, len(rest))
		if !known(rest[:n]) {
			return nil, c.fail(i, "%s knows no '%s'; a percent sign is %%%%", c.n.Name, oneLine(rest[:n]))
		}
		parts = append(parts, formatPart{conversion: rest[:n]})
		rest = rest[n:]
	}
	if len(parts) == 0 {
		return nil, c.fail(i, "the format of %s is empty", c.n.Name)
	}
	return parts, nil
}

// strftime binds strftime(t, format).
func strftime(c *call) (*bound, error) {
	parts, err := c.cutFormat(1, func(name string) bool { return conversions[name] != nil })
	if err != nil {
		return nil, err
	}
	var write []conversion
	seconds := int64(secondsPerDay) // of the times that have the same text; 0: not one
	for _, p := range parts {
		if p.conversion != "" {
			write = append(write, conversions[p.conversion])
			seconds = min(seconds, secondsOf(p.conversion))
			continue
		}
		write = append(write, func(_ *moment, to []byte) []byte { return append(to, p.text...) })
	}
	n := c.strict(momentKernel(c.args[0].typ, func(_ *frame, _ int, m *moment, to []byte) []byte {
		for _, w := range write {
			to = w(m, to)
		}
		return to
	}), c.args[0])
	n.like, n.tells = tellsTime(parts)
	if perDay := stepsPerDay(c.args[0].typ); perDay > 1 {
		return n.bucketed(perDay / secondsPerDay * seconds), nil
	}
	return n.bucketed(1), nil
}

// secondsOf is how many seconds, from a multiple of as many on, a conversion writes the same for;
// 0: fewer than one.
func secondsOf(conversion string) int64 {
	switch conversion[len(conversion)-1] {
	case 'f', 'g', 'n':
		return 0
	case 'S':
		return 1
	case 'M':
		return 60
	case 'H', 'I', 'p':
		return 3600
	}
	return secondsPerDay
}

// read is what strptime has read of a text.
type read struct {
	scanner
	year, month, day, ofYear int64
	sec, nanos, offset       int64
	hour                     int64
	half                     int64 // 0: not said; 1: am; 2: pm
}

// word reads one of the words, or its first letters, in any letter case.
func (r *read) word(words []string, short bool) int64 {
	for i, w := range words {
		if short {
			w = w[:3]
		}
		if len(r.rest) >= len(w) && strings.EqualFold(r.rest[:len(w)], w) {
			r.rest = r.rest[len(w):]
			return int64(i)
		}
	}
	r.ok = false
	return 0
}

// readers are the conversions that strptime knows.
var readers = map[string]func(r *read){
	"%a": func(r *read) { r.word(dayNames, true) },
	"%A": func(r *read) { r.word(dayNames, false) },
	"%b": func(r *read) { r.month = r.word(monthNames, true) + 1 },
	"%B": func(r *read) { r.month = r.word(monthNames, false) + 1 },
	"%d": func(r *read) { r.day = r.number(1, 2, 31) },
	"%f": func(r *read) { r.nanos = r.fraction(6, 9) },
	"%g": func(r *read) { r.nanos = r.fraction(3, 9) },
	"%H": func(r *read) { r.hour = r.number(1, 2, 23) },
	"%I": func(r *read) {
		r.hour = r.number(1, 2, 12)
		r.ok = r.ok && r.hour > 0
		r.half = max(r.half, 1)
		r.hour %= 12
	},
	"%j": func(r *read) { r.ofYear = r.number(1, 3, 366); r.ok = r.ok && r.ofYear > 0 },
	"%m": func(r *read) { r.month = r.number(1, 2, 12) },
	"%M": func(r *read) { r.sec += r.number(1, 2, 59) * 60 },
	"%p": func(r *read) { r.half = r.word([]string{"am", "pm"}, false) + 1 },
	"%S": func(r *read) { r.sec += r.number(1, 2, 59) },
	"%y": func(r *read) {
		r.year = r.number(1, 2, 99) + 1900
		if r.year < 1969 {
			r.year += 100
		}
	},
	"%Y": func(r *read) { r.year = r.number(1, 4, math.MaxInt64) },
	"%z": func(r *read) { r.offset = r.zoneOffset() },
	"%%": func(r *read) { r.want('%') },
}

// text reads the text of a format; a blank stands for one or several.
func (r *read) text(want string) {
	for i := range len(want) {
		r.want(want[i])
		if want[i] == ' ' {
			r.rest = strings.TrimLeft(r.rest, " ")
		}
	}
}

// zoneOffset reads Z or the distance of a zone from UTC in seconds.
func (r *read) zoneOffset() int64 {
	if r.skip('Z') {
		return 0
	}
	return r.scanner.offset()
}

// strptime binds strptime(text, format), and try_strptime, which gives NULL for a text that does
// not have the format.
func strptime(try bool) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		reader := func(name string) func(*read) { return readers["%"+strings.TrimPrefix(name[1:], "-")] }
		parts, err := c.cutFormat(1, func(name string) bool { return reader(name) != nil })
		if err != nil {
			return nil, err
		}
		var format momentFormat
		for _, p := range parts {
			if p.conversion == "" {
				format.read = append(format.read, func(r *read) { r.text(p.text) })
				continue
			}
			format.read = append(format.read, reader(p.conversion))
			format.day = format.day || strings.TrimLeft(p.conversion, "%-") == "d"
		}
		shown := oneLine(c.args[1].value.Bytes)
		return c.strict(func(f *frame) error {
			return f.failing(func(i int) error {
				text := string(f.args[0].Bytes(i))
				v, ok := format.moment(text)
				switch {
				case ok:
					f.out.Int[i] = v
				case try:
					f.setNull(i)
				default:
					return &ValueError{Value: text, Type: fmt.Sprintf("a timestamp by the format '%s'", shown)}
				}
				return nil
			})
		}, c.args[0]), nil
	}
}

// readType is the type of strptime(text, format): an instant if the format has a zone.
func readType(args []*bound) column.Type {
	return column.TimestampType(column.Micro, strings.Contains(strings.ReplaceAll(args[1].value.Bytes, "%%", ""), "%z"))
}

// momentFormat is a format as strptime reads by it.
type momentFormat struct {
	read []func(*read)
	day  bool // it has a day of the month
}

// moment reads a text, in microseconds.
func (m *momentFormat) moment(text string) (int64, bool) {
	r := read{scanner: scanner{rest: strings.TrimSpace(text), ok: true}, year: 1900, month: 1, day: 1}
	for _, read := range m.read {
		read(&r)
	}
	if r.half == 2 {
		r.hour += 12
	}
	if !r.done() || r.hour > 23 || r.day < 1 || r.month < 1 || r.day > daysIn(r.year, r.month) {
		return 0, false
	}
	days := daysFromCivil(r.year, r.month, r.day)
	if r.ofYear > 0 && !m.day {
		days = daysFromCivil(r.year, 1, 1) + r.ofYear - 1
	}
	if days > mostDays || days < -mostDays {
		return 0, false
	}
	return (days*secondsPerDay+r.hour*3600+r.sec-r.offset)*1e6 + r.nanos/1e3, true
}
