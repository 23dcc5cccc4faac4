package agg

// Description is the documentation of an aggregate.
type Description struct {
	Name      string
	Also      []string // other names of the same
	Signature string   // arg_min(a,b)
	Takes     string   // types of its arguments
	Result    string   // its type
	Doc       string   // in some words of Markdown
}

// description is the texts of an aggregate that do not follow from its signature.
type description struct{ shown, gives, doc string }

const (
	itsType = "its type"
	aDouble = "double"
	aList   = "a list"

	ofQuantiles = "of integers and doubles double, of float16 and float float, of dates timestamp[us], of others their type"
)

// descriptions has a line for each aggregate that can be typed.
var descriptions = [len(signatures)]description{
	fnCount:      {"count(x)", "int64", "rows where x is not NULL; `count(*)`: all rows"},
	fnSum:        {"sum(x)", "of integers to 32 bits and booleans int64, of wider ones decimal(38,0), of decimals (38,s), (76,s) for p > 38, of floats double", "exact but for floats, which are compensated, see [Floats](#floats): within 1e-12 of the sum of the absolute values; a boolean counts 1"},
	fnMin:        {"min(x)", itsType, "NaN is the greatest; −0.0 comes out as 0.0"},
	fnMax:        {"max(x)", itsType, "likewise"},
	fnMean:       {"mean(x)", aDouble, "of integers and decimals: the exact sum, divided once"},
	fnVarSamp:    {"var_samp(x)", aDouble, "of one value NULL; of several, with NaN or an infinity among them, NaN"},
	fnVarPop:     {"var_pop(x)", aDouble, "likewise; of one value 0"},
	fnStddevSamp: {"stddev_samp(x)", aDouble, "the root of `var_samp`"},
	fnStddevPop:  {"stddev_pop(x)", aDouble, "the root of `var_pop`"},
	fnCovarSamp:  {"covar_samp(x,y)", aDouble, "of rows where both are there"},
	fnCovarPop:   {"covar_pop(x,y)", aDouble, "likewise"},
	fnCorr:       {"corr(x,y)", aDouble, "likewise; without variance NaN"},
	fnSkewness:   {"skewness(x)", aDouble, "of fewer than 3 values NULL"},
	fnKurtosis:   {"kurtosis(x)", aDouble, "of fewer than 4 values NULL"},
	fnProduct:    {"product(x)", aDouble, "of the values as doubles, see [Floats](#floats): only the result may overflow, to Infinity"},
	fnBoolAnd:    {"bool_and(x)", "boolean", "whether all are true"},
	fnBoolOr:     {"bool_or(x)", "boolean", "whether one is true"},
	fnBitAnd:     {"bit_and(x)", itsType, "the bits that are 1 in all"},
	fnBitOr:      {"bit_or(x)", itsType, "the bits that are 1 in one"},
	fnBitXor:     {"bit_xor(x)", itsType, "the bits that are 1 in an odd number of them"},
	fnAnyValue:   {"any_value(x)", itsType, "as `first`"},
	fnFirst:      {"first(x)", itsType, "the first value that is not NULL, by file order, then row order"},
	fnLast:       {"last(x)", itsType, "the last one"},
	fnArgMin:     {"arg_min(a,b)", "type of a", "a where b is least; of several the first in that order; `arg_min(a,b,n)`: a list of a for the n least b"},
	fnArgMax:     {"arg_max(a,b)", "type of a", "a where b is greatest, likewise; `arg_max(a,b,n)`: a list of a for the n greatest b, the greatest first"},

	fnMedian:        {"median(x)", ofQuantiles, "`quantile(x, 0.5)`; of texts, booleans, binaries `quantile_disc(x, 0.5)`"},
	fnQuantile:      {"quantile(x,p)", ofQuantiles, "interpolates between the two values around place p·(n − 1) of the n sorted ones; `quantile(x, [p, …])` is a list of those, in the order of the p"},
	fnQuantileDisc:  {"quantile_disc(x,p)", itsType, "the first value with at least p·n values up to it; `quantile_disc(x, [p, …])` likewise"},
	fnMode:          {"mode(x)", itsType, "the most frequent value; of several the one that comes first"},
	fnTop:           {"approx_top_k(x,k)", aList, "the k most frequent values, the most frequent first; of several the one that comes first. It is exact"},
	fnMad:           {"mad(x)", "as `median`", "the median of the distances from the median"},
	fnEntropy:       {"entropy(x)", aDouble, "of the distinct values, in bits"},
	fnHistogram:     {"histogram(x)", "map(its type, int64)", "how often each value occurs, in ascending order of the values"},
	fnCountDistinct: {"count(distinct x)", "int64", "different values, as keys differ; 0 without a value; `count_distinct(x)` is the same"},
	fnList:          {"list(x)", aList, "the values in file order, then row order; `list(x order by y)`: in that order"},
	fnStringAgg:     {"string_agg(x,sep)", "string", "as text, in the same order, with `sep` between them; `','` if left out; `string_agg(x, sep order by y)`: in that order"},
	fnMinN:          {"min(x,n)", aList, "the n least values, ascending; all if there are fewer"},
	fnMaxN:          {"max(x,n)", aList, "the n greatest, descending"},

	fnApproxCountDistinct: {"approx_count_distinct(x)", "int64", "about how many different values, see [Approximate aggregates](#approximate-aggregates): exact up to 4096, beyond with a standard error of 0.8 %"},
	fnApproxQuantile:      {"approx_quantile(x,p)", itsType, "a value near `quantile(x,p)`, within 1/256 of its size"},
}

// Describe gives the descriptions of all aggregates that can be typed.
func Describe() (list []Description) {
	for id, s := range signatures {
		d := descriptions[id]
		if !typeable(s.name) {
			continue
		}
		list = append(list, Description{s.name, s.synonyms, d.shown, s.takes(), d.gives, d.doc})
	}
	return list
}

// takes names the types of the arguments.
func (s *signature) takes() string {
	many := map[class]string{
		anything: "anything", numbers: "numbers", summable: "numbers, booleans", integers: "integers", booleans: "booleans", texts: "anything, as text",
	}[s.class]
	return many
}
