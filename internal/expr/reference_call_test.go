package expr

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Functions in the reference: text as slices of characters, dates by package
// time, numbers of any size.

func (r reference) call(n *Call) (refValue, error) {
	var args []refValue
	null := false
	for _, a := range n.Args {
		x, err := r.eval(a)
		if err != nil {
			return x, err
		}
		args = append(args, x)
		null = null || x.kind == refNull
	}
	switch n.Name {
	case "greatest", "least":
		return refExtreme(n, args), nil
	case "concat":
		all := refValue{kind: refString}
		for _, a := range args {
			all.s += a.s
		}
		return all, nil
	}
	if null {
		return refValue{}, nil
	}
	switch n.Name {
	case "abs":
		if args[0].isFloat() {
			args[0].f = math.Abs(args[0].f)
		} else {
			args[0].rat = new(big.Rat).Abs(args[0].rat)
		}
		return args[0], nil
	case "sign":
		sign := 0
		if args[0].isFloat() {
			sign = int(truth(args[0].f > 0) - truth(args[0].f < 0))
		} else {
			sign = args[0].rat.Sign()
		}
		return refNumber(int64(sign)), nil
	case "round", "floor", "ceil", "trunc":
		return refRound(n, args), nil
	case "date_part":
		return refNumber(refPart(args[0].s, refClock(args[1]))), nil
	case "date_trunc":
		at := refTrunc(args[0].s, refClock(args[1]))
		return refValue{kind: refTime, rat: new(big.Rat).Add(big.NewRat(at.Unix(), 1), big.NewRat(int64(at.Nanosecond()), 1e9))}, nil
	}
	return refText(n.Name, args), nil
}

func refNumber(n int64) refValue {
	return refValue{kind: refInt, rat: new(big.Rat).SetInt64(n)}
}

func refExtreme(n *Call, args []refValue) refValue {
	var best refValue
	for _, a := range args {
		if a.kind == refNull {
			continue
		}
		if a.kind != refString && a.kind != refTime {
			a = a.as(n)
		}
		if c := 0; best.kind != refNull {
			if c = refCompare(a, best); n.Name == "least" {
				c = -c
			}
			if c <= 0 {
				continue
			}
		}
		best = a
	}
	return best
}

func refRound(n *Call, args []refValue) refValue {
	x, digits := args[0], 0
	if len(args) > 1 {
		d, _ := args[1].rat.Float64()
		digits = int(d)
	}
	if x.isFloat() {
		power := math.Pow10(digits)
		if digits < 0 {
			power = math.Pow10(-digits)
		}
		of := map[string]func(float64) float64{"round": math.Round, "floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc}[n.Name]
		switch {
		case math.IsInf(x.f, 0):
		case digits < 0:
			x.f = of(x.f/power) * power
		default:
			x.f = of(x.f*power) / power
		}
		if x.kind == refFloat {
			x.f = float64(float32(x.f))
		}
		return x
	}
	unit := new(big.Rat).SetFrac(pow10(max(-digits, 0)), pow10(max(digits, 0)))
	q := new(big.Rat).Quo(x.rat, unit)
	whole := new(big.Int).Div(q.Num(), q.Denom()) // floor
	rest := new(big.Rat).Sub(q, new(big.Rat).SetInt(whole))
	half := rest.Cmp(big.NewRat(1, 2))
	up := n.Name == "ceil" || n.Name == "trunc" && q.Sign() < 0 || n.Name == "round" && (half > 0 || half == 0 && q.Sign() > 0)
	if rest.Sign() != 0 && up {
		whole.Add(whole, big.NewInt(1))
	}
	x.rat = unit.Mul(unit, new(big.Rat).SetInt(whole))
	return x
}

// refClock is an instant as package time has it.
func refClock(x refValue) time.Time {
	nanos := new(big.Rat).Mul(x.rat, big.NewRat(1e9, 1)).Num()
	sec, rest := new(big.Int).DivMod(nanos, big.NewInt(1e9), new(big.Int))
	return time.Unix(sec.Int64(), rest.Int64()).UTC()
}

func refPart(part string, t time.Time) int64 {
	isoYear, week := t.ISOWeek()
	switch part {
	case "year":
		return int64(t.Year())
	case "quarter":
		return int64(t.Month()-1)/3 + 1
	case "month":
		return int64(t.Month())
	case "day":
		return int64(t.Day())
	case "dayofyear":
		return int64(t.YearDay())
	case "dayofweek":
		return int64(t.Weekday())
	case "week":
		return int64(week)
	case "isoyear":
		return int64(isoYear)
	case "hour":
		return int64(t.Hour())
	case "minute":
		return int64(t.Minute())
	case "second":
		return int64(t.Second())
	case "millisecond":
		return int64(t.Second())*1e3 + int64(t.Nanosecond())/1e6
	case "microsecond":
		return int64(t.Second())*1e6 + int64(t.Nanosecond())/1e3
	}
	panic("reference: " + part)
}

func refTrunc(part string, t time.Time) time.Time {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch part {
	case "year":
		return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	case "quarter":
		return time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "month":
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	case "week":
		return day.AddDate(0, 0, -(int(t.Weekday())+6)%7)
	case "day":
		return day
	case "hour":
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), 0, 0, 0, time.UTC)
	case "minute":
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
	case "second":
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	case "millisecond":
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond()/1e6*1e6, time.UTC)
	}
	panic("reference: " + part)
}

func refText(name string, args []refValue) refValue {
	s := args[0].s
	number := func(i int) int {
		n, _ := args[i].rat.Float64()
		return int(n)
	}
	part := func(lo, hi int) refValue {
		chars := []rune(s)
		lo, hi = max(lo, 0), min(max(hi, 0), len(chars))
		if lo >= hi {
			return refValue{kind: refString}
		}
		return refValue{kind: refString, s: string(chars[lo:hi])}
	}
	text := func(s string) refValue { return refValue{kind: refString, s: s} }
	is := func(b bool) refValue { return refValue{kind: refBool, b: b} }
	chars := utf8.RuneCountInString(s)
	switch name {
	case "length":
		return refNumber(int64(chars))
	case "strlen":
		return refNumber(int64(len(s)))
	case "strpos":
		i := strings.Index(s, args[1].s)
		if i < 0 {
			return refNumber(0)
		}
		return refNumber(int64(utf8.RuneCountInString(s[:i])) + 1)
	case "upper":
		return text(strings.Map(unicode.ToUpper, s))
	case "lower":
		return text(strings.ToLower(s))
	case "trim":
		return text(strings.Trim(s, args[1].s))
	case "ltrim":
		return text(strings.TrimLeft(s, args[1].s))
	case "rtrim":
		return text(strings.TrimRight(s, args[1].s))
	case "replace":
		if args[1].s == "" {
			return text(s)
		}
		return text(strings.ReplaceAll(s, args[1].s, args[2].s))
	case "contains":
		return is(strings.Contains(s, args[1].s))
	case "starts_with":
		return is(strings.HasPrefix(s, args[1].s))
	case "ends_with":
		return is(strings.HasSuffix(s, args[1].s))
	case "regexp_matches":
		return is(regexp.MustCompile(args[1].s).MatchString(s))
	case "regexp_replace":
		re, n := regexp.MustCompile(args[1].s), 0
		return text(re.ReplaceAllStringFunc(s, func(m string) string {
			if n++; n > 1 && len(args) < 4 {
				return m
			}
			return args[2].s
		}))
	case "reverse":
		letters := []rune(s)
		slices.Reverse(letters)
		return text(string(letters))
	case "lpad", "rpad":
		n := max(number(1), 0)
		fill := strings.Repeat(args[2].s, max(n-chars, 0))
		fill = string([]rune(fill)[:max(n-chars, 0)])
		if name == "lpad" {
			return text(string([]rune(fill + s)[:n]))
		}
		return text(string([]rune(s + fill)[:n]))
	case "split_part":
		parts, n := strings.Split(s, args[1].s), number(2)
		if n < 0 {
			n += len(parts) + 1
		}
		if n < 1 || n > len(parts) {
			return text("")
		}
		return text(parts[n-1])
	case "left":
		if n := number(1); n >= 0 {
			return part(0, n)
		}
		return part(0, chars+number(1))
	case "right":
		if n := number(1); n >= 0 {
			return part(chars-n, chars)
		}
		return part(-number(1), chars)
	case "substring":
		start := number(1) - 1
		if start < -1 {
			start += chars + 1
		}
		end := chars
		if len(args) > 2 {
			end = start + number(2)
		}
		return part(min(start, end), max(start, end))
	}
	panic("reference: " + name)
}

// randomFunction writes a call that gives a number.
func randomFunction(r *rand.Rand, depth int) string {
	a, b := randomNumber(r, depth-1), randomNumber(r, depth-1)
	switch r.IntN(7) {
	case 0:
		return "abs(" + a + ")"
	case 1:
		return fmt.Sprintf("%s(%s, %s)", pick(r, "greatest", "least"), a, b)
	case 2:
		return fmt.Sprintf("%s(%s)", pick(r, "floor", "ceil", "sign", "round"), a)
	case 3:
		return fmt.Sprintf("%s(%s, %d)", pick(r, "round", "trunc"), pick(r, "i", "j", "d", "f", "p", "w", "u", "i * 7", "p * 3"), r.IntN(5)-2)
	case 4:
		return fmt.Sprintf("%s(%s)", pick(r, "length", "strlen"), randomText(r, depth))
	case 5:
		return fmt.Sprintf("strpos(%s, %s)", randomText(r, depth), randomText(r, 0))
	}
	part := pick(r, "year", "quarter", "month", "day", "dayofyear", "dayofweek", "week", "isoyear", "hour", "minute", "second", "millisecond", "microsecond")
	return fmt.Sprintf("extract(%s from %s)", part, randomInstant(r, depth-1))
}

func randomInstant(r *rand.Rand, depth int) string {
	if depth <= 0 || r.IntN(2) == 0 {
		return pick(r, "day", "ms", "ns", "date '1969-12-29'", "timestamp '2024-02-29 23:59:59.999999'")
	}
	return fmt.Sprintf("date_trunc('%s', %s)", pick(r, "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"), pick(r, "day", "ms", "ns"))
}

func randomText(r *rand.Rand, depth int) string {
	if depth <= 0 || r.IntN(3) == 0 {
		return pick(r, "s", "s", "s", "'a'", "'b'", "''", "'aéba'")
	}
	s := randomText(r, depth-1)
	small := func() int { return r.IntN(7) - 3 }
	switch r.IntN(9) {
	case 7:
		return fmt.Sprintf("%s(%s, %d, %s)", pick(r, "lpad", "rpad"), s, small()+2, pick(r, "'a'", "'éb'"))
	case 0:
		return fmt.Sprintf("substring(%s, %d)", s, small())
	case 1:
		return fmt.Sprintf("substring(%s, %d, %s)", s, small(), pick(r, "2", "-1", "j", "0"))
	case 2:
		return fmt.Sprintf("%s(%s, %s)", pick(r, "left", "right"), s, pick(r, "1", "-1", "0", "j"))
	case 3:
		return fmt.Sprintf("%s(%s, '%s')", pick(r, "trim", "ltrim", "rtrim"), s, pick(r, "a", "ab", "é", ""))
	case 4:
		return fmt.Sprintf("replace(%s, %s, %s)", s, randomText(r, 0), randomText(r, 0))
	case 5:
		return fmt.Sprintf("%s(%s, %s)", pick(r, "concat", "greatest", "least"), s, randomText(r, 0))
	case 6:
		return fmt.Sprintf("split_part(%s, '%s', %s)", s, pick(r, "a", "é"), pick(r, "1", "2", "-1", "j"))
	}
	return fmt.Sprintf("%s(%s)", pick(r, "upper", "lower", "reverse"), s)
}

func randomTest(r *rand.Rand, depth int) string {
	s := randomText(r, depth)
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("regexp_matches(%s, '%s')", s, pick(r, "a", "^a", "a|b$", "é", "[ab]+"))
	case 1:
		return fmt.Sprintf("(regexp_replace(%s, '%s', 'x'%s) = %s)", s, pick(r, "a", "^.", "[ab]", "é$"), pick(r, "", ", 'g'"), randomText(r, depth))
	}
	return fmt.Sprintf("%s(%s, %s)", pick(r, "contains", "starts_with", "ends_with"), s, randomText(r, 0))
}
