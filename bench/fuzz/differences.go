package main

// difference is something that is by design not as in DuckDB. It names a row of the table "What
// differs from DuckDB" in docs/semantics.md by the text of its first column, which the package's
// test looks for there.
type difference struct {
	row    string // of docs/semantics.md
	reason string
	does   string // what the fuzzer does about it
}

// What differs by design: all of it. A difference that is not here is a fault.
var (
	narrowIntegers = difference{
		"integers narrower than 64 bits", "widths are how a file stores numbers, and should not make a query fail",
		"DuckDB is given the operands as BIGINT",
	}
	negatedUnsigned = difference{
		"`-x` of an unsigned column", "a wrapped number is a wrong one", "DuckDB is given the operand as BIGINT",
	}
	wideDecimals = difference{
		"`decimal * decimal` beyond 18 digits", "exact as long as 38 digits suffice", "DuckDB is given operands of enough digits",
	}
	divisionByZero = difference{
		"division by zero", "NULL for all types, as in other engines, where DuckDB has infinities and NaN", "DuckDB divides by nullif(x, 0)",
	}
	lengthOfBinary = difference{"`length`, `strlen` of a binary", "its bytes are what it has", "DuckDB is asked for octet_length"}
	sumOfIntegers  = difference{
		"`sum` of integers", "types that Parquet and Arrow have", "operands are given as BIGINT and HUGEINT, and sums compared as numbers, whatever their type",
	}
	momentsOfInfinities = difference{
		"variance of infinities", "NaN says that there is none; one value should not end a query", "DuckDB sees the finite values, and NaN if there is another",
	}
	kahanOfInfinities = difference{
		"`fsum`, `favg` of infinities", "they are the sum and the mean, exactly rounded", "not asked of columns with infinities",
	}
	countOfNothing = difference{"`count_if` of no value", "a count of nothing is 0", "NULL of DuckDB's is 0"}
	macros         = difference{
		"`geomean`, `weighted_avg` with a filter", "an aggregate is an aggregate", "DuckDB is given what its macros say, and the filter inside",
	}
	meanOfWide = difference{
		"`mean` of decimals whose sum has more than 38 digits", "the sum is wider, and only the mean has to be a double", "not asked of such decimals",
	}
	partsOfNanoseconds = difference{
		"parts of timestamps in nanoseconds before 1970", "a moment lies in one month, one hour, one second",
		"DuckDB is given the microsecond that the moment lies in",
	}
	sumBeyondDigits = difference{
		"`sum` of decimals just beyond 38 digits", "the type of the result holds 38, and DuckDB's 128 bits a little more", "not asked of decimals that come near",
	}
	covarianceSteps = difference{
		"covariance, correlation of large integers", "exact sums lose nothing", "compared to 1e-9 of what was added up, which is more than DuckDB's steps lose",
	}
	momentsSteps = difference{
		"skewness, kurtosis of values far from zero", "DuckDB adds up powers of the values, not of their distances from the mean",
		"compared to 1e-9 of the powers over those of the deviation",
	}
	productOnTheWay = difference{
		"`product` that leaves the range of doubles on the way", "only the result is rounded to a double",
		"not compared where the factors' logarithms add up to 300 or more",
	}
	firstPassesOverNull  = difference{"`first(x)`, `last(x)`", "all aggregates pass over NULL", "DuckDB gets a filter"}
	listPassesOverNull   = difference{"`list(x)`", "all aggregates pass over NULL", "DuckDB gets a filter"}
	quantileInterpolates = difference{"`quantile(x,p)`", "that of the standard's percentile_cont", "DuckDB is asked for quantile_cont"}
	quantileOfFloat      = difference{"`quantile` of a float", "no digit is lost before the end", "DuckDB gets doubles, and its result is rounded"}
	exactQuantiles       = difference{
		"place of a quantile; median of decimals, timestamps", "whole numbers give whole answers",
		"DuckDB sorts the values, and picks places by whole numbers (the macros place_… of duck.cc)",
	}
	madOfNarrow      = difference{"`mad` of narrow integers", "as for other integers", "DuckDB gets doubles"}
	entropyOfNothing = difference{"`entropy` of nothing", "NULL as of other aggregates", "DuckDB's is replaced by NULL"}
	histogramOfNaN   = difference{"`histogram`, `mode` over NaN", "as keys: all NaN are one", "not asked of columns with NaN"}
	nanosecondsUTC   = difference{"timestamps and times in nanoseconds and in UTC", "no digit is lost", "such columns are not asked for"}
	decimalText      = difference{"decimals without digits before the point, as text", "one form for all decimals", "such decimals are not cast to text"}
	comparedDecimals = difference{
		"comparing decimals that have no common type of 38 digits", "they can be compared exactly", "not asked of such decimals",
	}
	decimalToFloat  = difference{"decimal to float", "the nearest one is what a cast is for", "only decimals of up to 15 digits are made doubles"}
	wholeOfIntegers = difference{"`floor`, `ceil` of integers", "whole numbers stay exact", "DuckDB is given the operand itself"}
	roundOfIntegers = difference{"`round` of integers that leaves their range", "a wrapped number is a wrong one", "DuckDB is given the operand as BIGINT"}
	exactTop        = difference{"`approx_top_k`", "the values are sorted anyway", "asked for the most frequent value, which DuckDB's mode is"}
	orderOfEqual    = difference{"`list(x order by y)`, `arg_max(a,b,n)` where y, b are equal", "the same whatever the threads", "DuckDB is told to order by the values too"}
	slopeOfNothing  = difference{"`regr_slope` where all x are equal", "there is none", "NULL where DuckDB counts one x at most"}
	daysAndHours    = difference{"`time_bucket` by days and hours of a timestamp in UTC", "it has such a width of others", "widths are not drawn for it that have both"}
	approximate     = difference{
		"`approx_count_distinct`, `approx_quantile`", "two estimates agree with the exact answer, not with each other", "compared with DuckDB's exact answer, within the bounds of docs/semantics.md",
	}
)

// differences is all of them.
var differences = []difference{
	narrowIntegers, negatedUnsigned, wideDecimals, divisionByZero, lengthOfBinary, sumOfIntegers, momentsOfInfinities, kahanOfInfinities, meanOfWide, partsOfNanoseconds, sumBeyondDigits, covarianceSteps, momentsSteps,
	productOnTheWay, macros, countOfNothing, firstPassesOverNull, listPassesOverNull, quantileInterpolates, quantileOfFloat, exactQuantiles, madOfNarrow, entropyOfNothing,
	histogramOfNaN, nanosecondsUTC, decimalText, comparedDecimals, decimalToFloat, wholeOfIntegers, roundOfIntegers, exactTop, orderOfEqual, slopeOfNothing, daysAndHours, approximate,
}
