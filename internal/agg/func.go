package agg

import (
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// Func is an aggregate function as [Resolve] found it.
type Func struct{ id funcID }

// Repeats reports whether rows that are all alike may come as one, with their
// number in Input.Times: they do not change the result, or they are only counted.
func (f Func) Repeats() bool {
	switch f.id {
	case fnCount, fnMin, fnMax, fnBoolAnd, fnBoolOr, fnBitAnd, fnBitOr, fnFirst, fnAnyValue, fnLast, fnArgMin, fnArgMax:
		return true
	}
	return false
}

// Sums reports whether the result is a sum or a mean.
func (f Func) Sums() bool { return f.id == fnSum || f.id == fnMean }

// Extreme reports whether the result is the least or the greatest value.
func (f Func) Extreme() (least, greatest bool) { return f.id == fnMin, f.id == fnMax }

type funcID uint8

const (
	fnCount funcID = iota
	fnSum
	fnMin
	fnMax
	fnMean
	fnVarSamp
	fnVarPop
	fnStddevSamp
	fnStddevPop
	fnCovarSamp
	fnCovarPop
	fnCorr
	fnSkewness
	fnKurtosis
	fnProduct
	fnBoolAnd
	fnBoolOr
	fnBitAnd
	fnBitOr
	fnBitXor
	fnAnyValue
	fnFirst
	fnLast
	fnArgMin
	fnArgMax
	fnMedian
	fnQuantile
	fnQuantileDisc
	fnQuantiles     // quantile(x, [p, …])
	fnQuantilesDisc // quantile_disc(x, [p, …])
	fnMode
	fnTop // approx_top_k(x, k)
	fnMad
	fnEntropy
	fnHistogram
	fnCountDistinct
	fnList
	fnStringAgg
	fnListOrdered   // list(x order by y)
	fnStringOrdered // string_agg(x, sep order by y)
	fnFirstN        // arg_min(a,b,n), arg_max(a,b,n)
	fnMinN          // min(x, n)
	fnMaxN          // max(x, n)
	fnApproxCountDistinct
	fnApproxQuantile
)

// class is the class of the arguments that a function takes.
type class uint8

const (
	anything class = iota
	numbers
	summable
	integers
	booleans
	texts
)

func (c class) takes(t column.Type) bool {
	if t.Kind == column.Null {
		return true // a NULL literal fits everywhere
	}
	switch c {
	case anything:
		return t.Kind != column.Invalid
	case numbers:
		return t.IsNumeric()
	case summable:
		return t.IsNumeric() || t.Kind == column.Bool
	case integers:
		return t.IsInteger()
	case booleans:
		return t.Kind == column.Bool
	case texts:
		return t.Kind == column.String
	}
	return false
}

func (c class) String() string {
	return [...]string{"values", "numbers", "numbers and booleans", "integers", "booleans", "strings"}[c]
}

// signature says how a function is called. The type of the result is that of
// the first argument where result is nil.
type signature struct {
	name     string
	synonyms []string
	args     int
	class    class
	result   func(column.Type) column.Type
	param    param
}

var signatures = [...]signature{
	fnCount:      {name: "count", args: 1, result: always(column.Int64)},
	fnSum:        {name: "sum", args: 1, class: summable, result: sumType},
	fnMin:        {name: "min", args: 1},
	fnMax:        {name: "max", args: 1},
	fnMean:       {name: "mean", synonyms: []string{"avg"}, args: 1, class: numbers, result: always(column.Float64)},
	fnVarSamp:    {name: "var_samp", synonyms: []string{"variance"}, args: 1, class: numbers, result: always(column.Float64)},
	fnVarPop:     {name: "var_pop", args: 1, class: numbers, result: always(column.Float64)},
	fnStddevSamp: {name: "stddev_samp", synonyms: []string{"stddev"}, args: 1, class: numbers, result: always(column.Float64)},
	fnStddevPop:  {name: "stddev_pop", args: 1, class: numbers, result: always(column.Float64)},
	fnCovarSamp:  {name: "covar_samp", args: 2, class: numbers, result: always(column.Float64)},
	fnCovarPop:   {name: "covar_pop", args: 2, class: numbers, result: always(column.Float64)},
	fnCorr:       {name: "corr", args: 2, class: numbers, result: always(column.Float64)},
	fnSkewness:   {name: "skewness", args: 1, class: numbers, result: always(column.Float64)},
	fnKurtosis:   {name: "kurtosis", args: 1, class: numbers, result: always(column.Float64)},
	fnProduct:    {name: "product", args: 1, class: numbers, result: always(column.Float64)},
	fnBoolAnd:    {name: "bool_and", args: 1, class: booleans, result: always(column.Bool)},
	fnBoolOr:     {name: "bool_or", args: 1, class: booleans, result: always(column.Bool)},
	fnBitAnd:     {name: "bit_and", args: 1, class: integers},
	fnBitOr:      {name: "bit_or", args: 1, class: integers},
	fnBitXor:     {name: "bit_xor", args: 1, class: integers},
	fnAnyValue:   {name: "any_value", synonyms: []string{"arbitrary"}, args: 1},
	fnFirst:      {name: "first", args: 1},
	fnLast:       {name: "last", args: 1},
	fnArgMin:     {name: "arg_min", synonyms: []string{"argmin", "min_by"}, args: 2},
	fnArgMax:     {name: "arg_max", synonyms: []string{"argmax", "max_by"}, args: 2},

	fnMedian:        {name: "median", args: 1, result: quantileType},
	fnQuantile:      {name: "quantile", synonyms: []string{"quantile_cont"}, args: 1, result: quantileType, param: paramShare},
	fnQuantileDisc:  {name: "quantile_disc", args: 1, param: paramShare},
	fnQuantiles:     {name: "quantile" + ListSuffix, synonyms: []string{"quantile_cont" + ListSuffix}, args: 1, result: listOf(quantileType), param: paramShares},
	fnQuantilesDisc: {name: "quantile_disc" + ListSuffix, args: 1, result: nested(column.ListOf), param: paramShares},
	fnMode:          {name: "mode", args: 1},
	fnTop:           {name: "approx_top_k", args: 1, result: nested(column.ListOf), param: paramTop},
	fnMad:           {name: "mad", args: 1, class: numbers, result: quantileType},
	fnEntropy:       {name: "entropy", args: 1, result: always(column.Float64)},
	fnHistogram:     {name: "histogram", args: 1, result: nested(column.MapOf)},
	fnCountDistinct: {name: "count_distinct", args: 1, result: always(column.Int64)},
	fnList:          {name: "list", synonyms: []string{"array_agg"}, args: 1, result: nested(column.ListOf)},
	fnStringAgg:     {name: "string_agg", synonyms: []string{"group_concat", "listagg"}, args: 1, class: texts, param: paramSeparator},
	fnListOrdered:   {name: "list" + OrderSuffix, args: 1, param: paramPacked},
	fnStringOrdered: {name: "string_agg" + OrderSuffix, args: 1, param: paramPacked},
	fnFirstN:        {name: "min" + OrderSuffix, args: 1, param: paramPacked},
	fnMinN:          {name: "min", args: 1, result: nested(column.ListOf), param: paramNumber},
	fnMaxN:          {name: "max", args: 1, result: nested(column.ListOf), param: paramNumber},

	fnApproxCountDistinct: {name: "approx_count_distinct", args: 1, result: always(column.Int64)},
	fnApproxQuantile:      {name: "approx_quantile", args: 1, class: numbers, param: paramShare},
}

var byName = func() map[string]funcID {
	m := map[string]funcID{}
	for id, s := range signatures {
		for _, name := range append([]string{s.name}, s.synonyms...) {
			if _, taken := m[name]; !taken { // min is min(x), which Resolve tells from min(x, n)
				m[name] = funcID(id)
			}
		}
	}
	return m
}()

// ListSuffix behind the name of an aggregate stands for the one of that name that takes a list of
// params, and gives a list of results. Such a name cannot be typed.
const ListSuffix = "[]"

// typeable reports whether a name is one that a query may hold.
func typeable(name string) bool {
	return !strings.HasSuffix(name, ListSuffix) && !strings.HasSuffix(name, OrderSuffix)
}

// Names lists all names and synonyms of aggregates that can be typed, sorted.
func Names() []string {
	names := make([]string, 0, len(byName))
	for name := range byName {
		if typeable(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// IsAggregate reports whether name (lower case) is an aggregate.
func IsAggregate(name string) bool {
	_, ok := byName[name]
	return ok
}

func always(k column.Kind) func(column.Type) column.Type {
	return func(column.Type) column.Type { return column.Type{Kind: k} }
}

// nested makes a list or map of the argument; of NULL, NULL.
func nested(of func(column.Type) column.Type) func(column.Type) column.Type {
	return func(t column.Type) column.Type {
		if t.Kind == column.Null {
			return t
		}
		return of(t)
	}
}

// listOf is a list of what of says of the argument.
func listOf(of func(column.Type) column.Type) func(column.Type) column.Type {
	return func(t column.Type) column.Type { return nested(column.ListOf)(of(t)) }
}

// sumType: int64 for what 2^31 rows cannot overflow, else the widest decimal
// of the same scale.
func sumType(t column.Type) column.Type {
	switch {
	case t.IsFloat():
		return column.Type{Kind: column.Float64}
	case t.Kind == column.Decimal && t.Precision > 38:
		return column.DecimalType(76, int(t.Scale))
	case t.Kind == column.Decimal:
		return column.DecimalType(38, int(t.Scale))
	case t.Kind == column.Int64 || t.Kind == column.Uint64:
		return column.DecimalType(38, 0)
	}
	return column.Type{Kind: column.Int64}
}
