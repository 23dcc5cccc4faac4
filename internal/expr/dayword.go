package expr

import "slices"

// This file is parts of days, and the days on which weeks, months and years begin, as operations on
// words: a day is a number of days since 1970. They give what the functions of datepart.go give.

// addWord adds a number to what the operation before gave.
func addWord(n int64) wordOp { return wordOp{code: CodeAdd, with: uint64(n)} }

// Operations on a day, which is what the one before them gave.
var (
	// the Thursday of its week, in whose year the week is: as 1970-01-01 was one, a multiple of 7
	thursdayWords = []wordOp{addWord(3), {code: CodeFloor, constant: 7}, {code: CodeMultiply, with: 7}}
	// the Monday of its week
	mondayWords = append(slices.Clone(thursdayWords), addWord(-3))
	// the first of its month
	monthWords = []wordOp{{code: CodeCivil, constant: 2}, {code: CodeSubtract, back: 2}, addWord(1)}
	// the last of its month: the day before the first of the next one
	lastDayWords = slices.Concat(monthWords, []wordOp{addWord(31)}, monthWords, []wordOp{addWord(-1)})
	// the first of its quarter and of its year
	quarterWords = monthsBefore(wordOp{code: CodeFloorRest, constant: 3})
	yearWords    = monthsBefore()
	// the number of the day in its year
	ofYearWords = slices.Concat(yearWords, []wordOp{{code: CodeSubtract, back: len(yearWords) + 1}, addWord(1)})
	// the number of its month, from January of year 0 on
	monthNumberWords = []wordOp{
		{code: CodeCivil}, {code: CodeMultiply, with: 12}, {code: CodeCivil, constant: 1, back: 3}, {code: CodeAdd, back: 2}, addWord(-1),
	}
)

// monthsBefore is the first of the month that lies before a day's: by as many months as the
// operations make of its month less 1, which are few enough. 28 days for each lead there: the
// eleven from December lead to January 27.
func monthsBefore(of ...wordOp) []wordOp {
	count := append([]wordOp{{code: CodeCivil, constant: 1}, addWord(-1)}, of...)
	count = append(count, wordOp{code: CodeMultiply, with: 28})
	back := wordOp{code: CodeSubtract, back: len(count) + 1}
	return slices.Concat(monthWords, count, []wordOp{back}, monthWords)
}

// dayWords is parts of a day as operations on it.
var dayWords = map[string][]wordOp{
	"year":      {{code: CodeCivil}},
	"decade":    {{code: CodeCivil}, {code: CodeDivide, with: 10}},
	"month":     {{code: CodeCivil, constant: 1}},
	"day":       {{code: CodeCivil, constant: 2}},
	"quarter":   {{code: CodeCivil, constant: 1}, addWord(2), {code: CodeFloor, constant: 3}},
	"dayofweek": {{code: CodeFloorRest, constant: 7}, addWord(4), {code: CodeFloorRest, constant: 7}},
	"isodow":    {addWord(3), {code: CodeFloorRest, constant: 7}, addWord(1)},
	"dayofyear": ofYearWords,
	"week":      slices.Concat(thursdayWords, ofYearWords, []wordOp{addWord(-1), {code: CodeFloor, constant: 7}, addWord(1)}),
	"isoyear":   append(slices.Clone(thursdayWords), wordOp{code: CodeCivil}),
}

// truncatedDayWords is the days on which parts begin as operations on any of their days.
var truncatedDayWords = map[string][]wordOp{
	"day": {}, "week": mondayWords, "month": monthWords, "quarter": quarterWords, "year": yearWords,
}

// ofDayWords has operations on a day take a value that has perDay steps a day; nil: there are none.
func ofDayWords(ops []wordOp, perDay int64) []wordOp {
	if ops == nil {
		return nil
	}
	return append([]wordOp{{code: CodeFloor, constant: uint64(perDay)}}, ops...)
}
