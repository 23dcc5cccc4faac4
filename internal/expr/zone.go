package expr

import (
	"math"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/internal/column"
)

// zone is a time zone.
type zone struct{ *time.Location }

// zone is the time zone that argument i of c, a constant, names.
func (c *call) zone(i int) (zone, error) {
	text := c.args[i].value.Bytes
	for _, as := range []string{text, capitalized(text), strings.ToUpper(text)} {
		if at, err := time.LoadLocation(as); err == nil && as != "" && !strings.EqualFold(as, "local") {
			return zone{at}, nil
		}
	}
	return zone{}, c.fail(i, "unknown time zone '%s'; names are as Europe/Berlin", oneLine(text))
}

// capitalized writes America/New_York, whatever letters are capital in it.
func capitalized(name string) string {
	out := []byte(strings.ToLower(name))
	for i, c := range out {
		if (i == 0 || out[i-1] == '/' || out[i-1] == '_' || out[i-1] == '-') && c >= 'a' && c <= 'z' {
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out)
}

// timezone binds timezone(zone, t). For a time it is the instant at which clocks of the zone show
// t; for an instant it is what they show then.
func timezone(c *call) (*bound, error) {
	z, err := c.zone(0)
	if err != nil {
		return nil, err
	}
	if x := c.args[1]; x.typ.UTC {
		return z.toLocal(x, c.n), nil
	}
	return z.toInstant(c.args[1], c.n), nil
}

// zonedType is the type of timezone(zone, t).
func zonedType(args []*bound) column.Type {
	t := args[1].typ
	if t.Kind != column.Timestamp {
		return column.TimestampType(column.Micro, true)
	}
	return column.TimestampType(max(t.Unit, column.Micro), !t.UTC)
}

// toLocal is what clocks show at an instant.
func (z zone) toLocal(x *bound, src Node) *bound {
	return z.shifted(x, src, false, func(sec int64) (offset, from, to int64) {
		at := time.Unix(sec, 0).In(z.Location)
		_, off := at.Zone()
		start, end := at.ZoneBounds()
		return int64(off), boundOf(start, math.MinInt64), boundOf(end, math.MaxInt64)
	})
}

// toInstant is the instant at which clocks show x. Where they show it twice it is the later one.
// Where they never do, because clocks were put forward, it is as if they had not been yet.
func (z zone) toInstant(x *bound, src Node) *bound {
	return z.shifted(x, src, true, func(sec int64) (offset, from, to int64) {
		off := z.offsetOfLocal(sec)
		// For a day around a change of clocks each second is asked for by itself.
		const day = secondsPerDay
		at := time.Unix(sec-off, 0).In(z.Location)
		start, end := at.ZoneBounds()
		from, to = boundOf(start, math.MinInt64/2)+off+day, boundOf(end, math.MaxInt64/2)+off-day
		if sec < from || sec >= to {
			from, to = sec, sec+1
		}
		return -off, from, to
	})
}

// offsetOfLocal is the offset from UTC where clocks show sec.
func (z zone) offsetOfLocal(sec int64) int64 {
	_, before := time.Unix(sec-secondsPerDay, 0).In(z.Location).Zone()
	_, after := time.Unix(sec+secondsPerDay, 0).In(z.Location).Zone()
	for _, off := range []int{min(before, after), max(before, after)} { // the later instant first
		if _, there := time.Unix(sec-int64(off), 0).In(z.Location).Zone(); there == off {
			return int64(off)
		}
	}
	return int64(before)
}

func boundOf(t time.Time, otherwise int64) int64 {
	if t.IsZero() {
		return otherwise
	}
	return t.Unix()
}

// shifted adds an offset in seconds. offset returns it together with the seconds from..to in
// which it is the same.
func (z zone) shifted(x *bound, src Node, utc bool, offset func(sec int64) (offset, from, to int64)) *bound {
	unit := column.Micro
	if x.typ.Kind == column.Timestamp {
		unit = max(x.typ.Unit, column.Micro)
	}
	if x.typ.Kind != column.Timestamp || x.typ.Unit != unit {
		x = inMicros(x, src)
	}
	perSecond := unit.PerSecond()
	second := newDivisor(perSecond)
	return strict(column.TimestampType(unit, utc), src, func(f *frame) error {
		in, out := f.args[0].Int[:f.n], f.out.Int
		by, from, to := int64(0), int64(0), int64(0)
		alarm := false
		for i, v := range in {
			if sec := second.floor(v); sec < from || sec >= to {
				by, from, to = offset(sec)
				by *= perSecond
			}
			out[i] = v + by
			alarm = alarm || (out[i] > v) != (by > 0)
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool {
			by, _, _ := offset(second.floor(in[i]))
			_, ok := addChecked(in[i], by*perSecond)
			return !ok
		})
	}, x)
}
