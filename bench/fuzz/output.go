package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// onDevices is aggregates that devices compute, of numbers at least.
var onDevices = []string{
	"count(*)", "count(x)", "sum", "mean", "avg", "min", "max", "var_samp", "var_pop", "stddev", "bool_and", "bit_or",
}

// listsOnDevices is the aggregates for which devices keep all values. Few others may stand beside
// them there.
var listsOnDevices = []string{"median", "quantile(x,p)", "quantile_disc(x,p)", "count(distinct x)"}

// output is an aggregate as a query asks for it.
type output struct {
	of    *aggregate
	args  []*expr
	where *expr // of its filter; nil: none
	gagg  string
	duck  string
	large string
	other string
	scale int    // of rule scaled: how many digits
	gives string // the SQL type of gagg's, where DuckDB's is another
}

// output draws an aggregate and its arguments, nil if none was found.
func (g *generator) output() *output {
	for range 5 * tries {
		a := &aggregates[g.rng.IntN(len(aggregates))]
		if g.device && !slices.Contains(onDevices, a.name) && (!g.lists || !slices.Contains(listsOnDevices, a.name)) {
			continue
		}
		o := &output{of: a, gagg: a.gagg, duck: a.duck, large: a.large, other: a.other}
		if o.duck == "" {
			o.duck = a.gagg + " $F"
		}
		for _, takes := range a.takes {
			if g.device {
				takes = strings.Map(func(k rune) rune {
					if kind(k).in("tBUd") {
						return -1
					}
					return k
				}, takes)
			}
			arg := g.column(takes)
			if !g.device && g.rng.IntN(4) == 0 {
				arg = g.any(takes, 2)
			}
			if arg != nil {
				o.args = append(o.args, arg)
			}
		}
		if len(o.args) < len(a.takes) || a.fits != nil && !a.fits(g, o.args) {
			continue
		}
		if a.param != nil {
			a.param(g, o)
		}
		if !g.device && g.rng.IntN(6) == 0 {
			o.where = g.expr(boolean, 2)
		}
		return o
	}
	return nil
}

func (o *output) inGagg() string {
	out := o.fill(o.gagg, (*expr).inGagg)
	if o.where != nil {
		out += " filter (where " + o.where.inGagg() + ")"
	}
	return out
}

// inDuck is one of the output's SQL texts: duck, large or other.
func (o *output) inDuck(form string) string {
	filter, condition := "", "true"
	if o.where != nil {
		condition = o.where.inDuck()
		filter = "filter (where " + condition + ")"
	}
	form = strings.NewReplacer("$F", filter, "$N", "filter (where $0 is not null and "+condition+")", "$C", condition).Replace(form)
	return o.fill(form, (*expr).inDuck)
}

func (o *output) fill(form string, text func(*expr) string) string {
	var pairs []string
	for i, a := range o.args {
		pairs = append(pairs, "$"+strconv.Itoa(i), text(a))
	}
	return strings.NewReplacer(pairs...).Replace(form)
}

func (o *output) mark(mark, with string) {
	for _, form := range []*string{&o.gagg, &o.duck, &o.large, &o.other} {
		*form = strings.ReplaceAll(*form, mark, with)
	}
}

// share draws a place: $P from 0 to 1, and $T hundredths.
func share(g *generator, o *output) {
	t := pick(g.rng, 0, 25, 50, 75, 100, 10, 29, 90, 99)
	o.mark("$P", strconv.FormatFloat(float64(t)/100, 'f', -1, 64))
	o.mark("$T", strconv.Itoa(t))
}

// exactPlace is share for values that are compared as whole numbers of their last digit.
func exactPlace(g *generator, o *output) {
	share(g, o)
	a := o.args[0]
	whole, rounded := "replace($0::varchar, '.', '')::hugeint", "place_down"
	o.scale, o.gives = a.scale, "DECIMAL"
	if a.kind != decimals {
		o.scale, o.gives, rounded = a.perUnit, "TIMESTAMP", "place_near"
		if a.kind == date || a.perUnit == 0 { // no column, but cast to a timestamp
			o.scale = 6
		}
		whole = map[int]string{3: "epoch_ms($0)::hugeint", 6: "epoch_us($0)::hugeint", 9: "epoch_ns($0)::hugeint"}[o.scale]
		if a.kind == clock {
			o.gives = "TIME"
			whole = fmt.Sprintf("date_diff('%s', time '00:00:00', $0)::hugeint", map[int]string{3: "millisecond", 6: "microsecond", 9: "nanosecond"}[o.scale])
		}
		if a.kind == date {
			whole = "epoch_us($0::timestamp)::hugeint"
		}
	}
	o.mark("ROUNDED", rounded)
	o.mark("WHOLE", whole)
}

func separator(g *generator, o *output) { o.mark("$P", pick(g.rng, "','", "''", "' | '")) }

func few(g *generator, o *output) { o.mark("$P", strconv.Itoa(pick(g.rng, 1, 2, 5, 1000))) }

func below(limit float64) func(*generator, []*expr) bool {
	return func(_ *generator, args []*expr) bool { return args[0].magnitude() < limit }
}

// summable is what DuckDB adds up without an overflow on the way to a mean.
func summable(_ *generator, args []*expr) bool {
	return args[0].magnitude() < 1e290 && (args[0].kind != decimals || args[0].magnitude()*math.Pow10(args[0].scale) < 1e32)
}

// withinDigits is what cannot add up to a little more than 38 digits.
func withinDigits(_ *generator, args []*expr) bool {
	return args[0].magnitude()*math.Pow10(args[0].scale) < 1e37
}

// finiteSum is doubles without infinities, whose sum is one too.
func finiteSum(_ *generator, args []*expr) bool {
	return !args[0].special && args[0].magnitude() < 1e290
}

func noSpecial(_ *generator, args []*expr) bool {
	return !args[0].special && args[0].magnitude() < 1e300
}

// plainNumbers are neither NaN nor infinite, and their fourth powers are doubles.
func plainNumbers(_ *generator, args []*expr) bool {
	for _, a := range args {
		if a.special || a.magnitude() > 1e60 {
			return false
		}
	}
	return true
}

// placed is what DuckDB's whole numbers have room for, a hundred times over.
func placed(_ *generator, args []*expr) bool {
	return args[0].kind != decimals || args[0].magnitude()*math.Pow10(args[0].scale) < 1e34
}
