package query

import (
	"errors"
	"math/big"
	"strconv"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// maxListed is the most values that min(x, n) and max(x, n) list, as in
// DuckDB.
const maxListed = 999_999

// maxTop is the most values that approx_top_k lists.
const maxTop = 10_000

// shareDigits is how many digits after the point a share of the rows has:
// with them, a place among 2^31 rows is exact to 10^-8 of a row.
const shareDigits = 18

// comma is what string_agg puts between texts where nothing is said.
var comma = column.Value{Type: column.Type{Kind: column.String}, Bytes: ","}

// parameterRule says what a parameter may be. read gives it in the form that
// package agg takes.
type parameterRule struct {
	must string
	read func(v column.Value) (column.Value, bool)
}

var (
	shareRule     = parameterRule{"a number between 0 and 1", readShare}
	listedRule    = parameterRule{"a whole number from 1 to " + strconv.Itoa(maxListed), readUpTo(maxListed)}
	topRule       = parameterRule{"a whole number from 1 to " + strconv.Itoa(maxTop), readUpTo(maxTop)}
	separatorRule = parameterRule{"a text, such as ', '", readSeparator}
)

func ruleOf(aggregate string) parameterRule {
	switch {
	case joinsText(aggregate):
		return separatorRule
	case aggregate == "min" || aggregate == "max":
		return listedRule
	case aggregate == "approx_top_k":
		return topRule
	}
	return shareRule
}

var errNotConstant = errors.New("not a constant")

// parameter is the value of an argument that has to be a constant.
func parameter(aggregate string, n expr.Node, text string) (column.Value, error) {
	return parameterBy(ruleOf(aggregate), "second", aggregate, n, text)
}

// parameterBy is parameter by a rule, for the argument of an aggregate that is called so.
func parameterBy(rule parameterRule, place, aggregate string, n expr.Node, text string) (column.Value, error) {
	e, err := expr.Bind(n, text, func(string) (int, column.Type, error) { return 0, column.Type{}, errNotConstant })
	if err != nil && !errors.Is(err, errNotConstant) {
		return column.Value{}, err
	}
	mistake := &expr.Error{Text: text, Pos: n.Pos(), Msg: "the " + place + " argument of " + aggregate + " must be " + rule.must}
	if err != nil {
		mistake.Msg += ", the same for all rows"
		return column.Value{}, mistake
	}
	if v, ok := e.Const(); ok && !v.Null {
		if p, ok := rule.read(v); ok {
			return p, nil
		}
	}
	return column.Value{}, mistake
}

// readShare gives a number from 0 to 1 as a decimal, exact to shareDigits. A
// double is taken for the shortest decimal that reads back as it.
func readShare(v column.Value) (column.Value, bool) {
	x, ok := rational(v)
	if !ok || x.Sign() < 0 || x.Cmp(big.NewRat(1, 1)) > 0 {
		return column.Value{}, false
	}
	digits, _ := new(big.Rat).SetString(x.FloatString(shareDigits))
	scale := 0
	for !digits.IsInt() && scale < shareDigits {
		digits.Mul(digits, big.NewRat(10, 1))
		scale++
	}
	return column.Value{Type: column.DecimalType(shareDigits, scale), Int: digits.Num().Int64()}, true
}

// rational is the number v; it is not ok if v is none.
func rational(v column.Value) (*big.Rat, bool) {
	switch {
	case v.Type.IsFloat():
		return new(big.Rat).SetString(strconv.FormatFloat(v.Float, 'g', -1, 64))
	case v.Type.Kind == column.Uint64:
		return new(big.Rat).SetUint64(uint64(v.Int)), true
	case v.Type.IsInteger():
		return new(big.Rat).SetInt64(v.Int), true
	case v.Type.Kind != column.Decimal:
		return nil, false
	}
	unscaled := big.NewInt(v.Int)
	if v.Type.Rep() == column.RepWide {
		unscaled = v.Wide.BigInt()
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Type.Scale)), nil)
	return new(big.Rat).SetFrac(unscaled, power), true
}

func readUpTo(most int64) func(v column.Value) (column.Value, bool) {
	return func(v column.Value) (column.Value, bool) {
		n := column.Value{Type: column.Type{Kind: column.Int64}, Int: v.Int}
		return n, v.Type.IsInteger() && v.Int >= 1 && v.Int <= most
	}
}

func readSeparator(v column.Value) (column.Value, bool) {
	return v, v.Type.Kind == column.String
}
