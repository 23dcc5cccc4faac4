package expr

import (
	"math"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is times that stand for texts of them: of the times with one text the first of a day,
// an hour or a minute, or the first of another day.

// Told is what rows may be grouped by in place of e, if that is a text of a time: another time,
// for which e has the same text. Different ones have different texts, so that the groups are those
// by e.
func (e *Expr) Told() (time *Expr, ok bool) {
	if !e.root.tells || e.root.single == noColumn {
		return nil, false
	}
	begin := newToldDay(e.root)
	if begin == nil {
		begin = newBegin(e.root)
	}
	if begin != e.root.args[0] {
		begin.coded = true
	}
	return &Expr{begin}, true
}

// newToldDay is the day of the time that stands for n, a date: as a key that is half of a time.
// nil: n is of something else than whole days, or some days are no dates.
func newToldDay(n *bound) *bound {
	x := n.args[0]
	if x.typ.Kind != column.Timestamp || x.typ.Unit <= column.Milli || n.bucket != stepsPerDay(x.typ) {
		return nil
	}
	like := n.like
	if like == nil {
		like = &likeDay{of: func(days int64) int64 { return days }, words: []wordOp{}, every: 1}
	}
	return strict(dateType, n.src, dayKernel(like.of, newDivisor(n.bucket)), x).
		bucketed(n.bucket).onWords(ofDayWords(like.words, n.bucket)...).neverFails(true).ofFew(like.few).changesEvery(like.every * n.bucket)
}

// likeDay is a day that has the same name as another.
type likeDay struct {
	of    func(days int64) int64
	words []wordOp // of the other day
	few   int64    // how many there are; 0: that is not known
	every int64    // days, at least, until there is another one; 0: that is not known
}

var (
	weekdayLike = &likeDay{
		of:    func(days int64) int64 { return days - floorDiv(days, 7)*7 },
		words: []wordOp{{code: CodeFloorRest, constant: 7}}, few: 7,
	}
	monthLike = &likeDay{ // 31 days for each month lead into it from January 1
		of:    func(days int64) int64 { _, m, _ := civilFromDays(days); return (m - 1) * 31 },
		words: []wordOp{{code: CodeCivil, constant: 1}, addWord(-1), {code: CodeMultiply, with: 31}}, few: 12,
	}
	firstOfMonth = &likeDay{of: truncations["month"], words: monthWords, every: leastDays["month"]}
	firstOfYear  = &likeDay{of: truncations["year"], words: yearWords, every: leastDays["year"]}
)

// newLike is the first time of a day with the same text.
func newLike(n *bound) *bound {
	of := dayKernel(n.like.of, newDivisor(n.bucket))
	like := func(f *frame) error {
		if err := of(f); err != nil {
			return err
		}
		for i, day := range f.out.Int {
			f.out.Int[i] = max(day, math.MinInt64/n.bucket) * n.bucket
			if day < math.MinInt64/n.bucket { // the least time is of the same month
				f.out.Int[i] = math.MinInt64
			}
		}
		return nil
	}
	ops := ofDayWords(n.like.words, n.bucket)
	if n.bucket > 1 {
		ops = append(ops, wordOp{code: CodeMultiply, with: uint64(n.bucket)})
	}
	return strict(n.args[0].typ, n.src, like, n.args[0]).
		bucketed(n.bucket).onWords(ops...).neverFails(true).ofFew(n.like.few).changesEvery(n.like.every * n.bucket)
}

// fields are the conversions of strftime that have one width, but for years, by what they tell,
// from the year on: a text of the first of these, and not of others, tells the begin of the last.
var fields = []string{"Y", "mbj", "dj", "H", "M", "S"}

// tellsTime reports whether a format tells the begins of the times that it gives the same text, and
// which days these are; nil: those of the bucket.
func tellsTime(parts []formatPart) (begin *likeDay, ok bool) {
	var has [6]bool
	years, finest := 0, 0
	for _, p := range parts {
		if p.conversion == "" {
			continue
		}
		known := false
		for level, of := range fields {
			if len(p.conversion) == 2 && strings.Contains(of, p.conversion[1:]) {
				has[level], known, finest = true, true, max(finest, level)
			}
		}
		if p.conversion == "%Y" {
			years++
		}
		if !known {
			return nil, false
		}
	}
	if years != 1 || slices.Contains(has[:finest+1], false) {
		return nil, false
	}
	return [...]*likeDay{firstOfYear, firstOfMonth, nil, nil, nil, nil}[finest], true
}
