package expr

import (
	"github.com/gagg-dev/gagg/internal/column"
)

// dateFunctions are the functions of dates and times, beside those of their parts.
var dateFunctions = []function{
	{
		name: "date_add", section: sectionDate, params: []param{arg("t", aClock), arg("by", anInterval)},
		result: result{"as of t + by", addedType}, bind: dateAdd, doc: "t + by, an interval",
	},
	{
		name: "date_diff", also: []string{"datediff"}, section: sectionDate, alike: true,
		params: []param{fixed("unit", aString), arg("a", aClock), arg("b", aClock)},
		result: gives(int64Type), bind: dateDiff,
		doc: "how many units begin between a and b: hours, days, months …; weeks are counted as seven days from a on",
	},
	{
		name: "date_part", also: []string{"datepart"}, section: sectionDate,
		params: []param{fixed("part", aString), arg("t", aClockOrSpan)},
		result: result{"as of that part", partType}, bind: datePartOf,
		doc: "the part of that name: year, quarter, month, week, day, dow, doy, hour, minute, second, epoch and others; `extract(part from t)` is the same",
	},
	{
		name: "date_sub", also: []string{"datesub"}, section: sectionDate, alike: true,
		params: []param{fixed("unit", aString), arg("a", aClock), arg("b", aClock)},
		result: gives(int64Type), bind: dateSub, doc: "how many whole units lie between a and b",
	},
	{
		name: "date_trunc", also: []string{"datetrunc"}, section: sectionDate,
		params: []param{fixed("part", aString), arg("t", aDay)},
		result: result{"timestamp[us]", truncatedType}, bind: dateTrunc,
		doc: "the beginning of the hour, day, month … that t lies in",
	},
	{
		name: "dayname", section: sectionDate, params: []param{arg("t", aDay)},
		result: gives(stringType), bind: named(func(m *moment) string { return dayNames[isoWeekday(m.days)%7] }, weekdayLike), doc: "Monday to Sunday",
	},
	{
		name: "last_day", section: sectionDate, params: []param{arg("t", aDay)},
		result: gives(dateType), bind: lastDay, doc: "the last day of the month",
	},
	{
		name: "make_date", section: sectionDate, params: []param{arg("year", aCount), arg("month", aCount), arg("day", aCount)}, least: 1,
		shown:  "make_date(year, month, day)",
		result: gives(dateType), bind: makeDate, doc: "the date; of one integer the day so many days after 1970-01-01",
	},
	{
		name: "make_time", section: sectionDate, params: []param{arg("hour", aCount), arg("minute", aCount), arg("second", aNumber)},
		result: gives(timeType), bind: makeTime, doc: "the time of day; seconds may have a fraction",
	},
	{
		name: "make_timestamp", section: sectionDate, least: 1, shown: "make_timestamp(year, month, day, hour, minute, second)",
		params: []param{arg("year", aCount), arg("month", aCount), arg("day", aCount), arg("hour", aCount), arg("minute", aCount), arg("second", aNumber)},
		result: gives(timestampType), bind: makeTimestamp, doc: "the timestamp; of one integer that of so many microseconds after 1970-01-01",
	},
	{
		name: "make_timestamp_ms", section: sectionDate, params: []param{arg("n", aCount)},
		result: gives(timestampType), bind: makeTimestampMillis, doc: "the timestamp n milliseconds after 1970-01-01",
	},
	{
		name: "make_timestamp_ns", section: sectionDate, params: []param{arg("n", aCount)},
		result: gives(column.TimestampType(column.Nano, false)),
		bind:   func(c *call) (*bound, error) { return retyped(c.typ, c.n, c.args[0]), nil }, doc: "the timestamp n nanoseconds after 1970-01-01",
	},
	{
		name: "monthname", section: sectionDate, params: []param{arg("t", aDay)},
		result: gives(stringType), bind: named(func(m *moment) string { return monthNames[m.month-1] }, monthLike), doc: "January to December",
	},
	{
		name: "strftime", section: sectionDate, params: []param{arg("t", aDay), fixed("format", aString)},
		result: gives(stringType), bind: strftime, doc: "t as text, by a format such as `'%Y-%m-%d %H:%M:%S'`; also `%b` (Jan), `%a` (Mon), `%j` (day of the year), `%f` (microseconds) and others",
	},
	{
		name: "strptime", section: sectionDate, params: []param{arg("s", aString), fixed("format", aString)},
		result: result{"timestamp[us]; with `%z` in UTC", readType}, bind: strptime(false), doc: "the timestamp that a text says, read by a format; an error if it is not so",
	},
	{
		name: "time_bucket", section: sectionDate, params: []param{arg("width", anInterval), arg("t", aDay), arg("origin", anOrigin)}, least: 2,
		result: result{"timestamp[us]; of a date that", bucketType}, bind: timeBucket,
		doc: "the beginning of the interval that t lies in, of intervals of that width from 2000-01-03 or, of months, 2000-01-01 on, or from an origin, or moved by an interval; the name of a time zone: of its days and months",
	},
	{
		name: "timezone", section: sectionDate, params: []param{fixed("zone", aString), arg("t", aDay)},
		result: result{"timestamp[us, UTC]; of an instant timestamp[us]", zonedType}, bind: timezone,
		doc: "the instant at which clocks of the zone show t, or what they show at that instant; `t at time zone 'Europe/Berlin'` is the same",
	},
	{
		name: "to_timestamp", section: sectionDate, params: []param{arg("seconds", aNumber)},
		result: gives(timestamptzType), bind: toTimestamp, doc: "the instant so many seconds after 1970-01-01, to the microsecond",
	},
	{
		name: "try_strptime", section: sectionDate, params: []param{arg("s", aString), fixed("format", aString)},
		result: result{"likewise", readType}, bind: strptime(true), doc: "likewise, NULL where it is not so",
	},
}
