// Package agg owns what each aggregate means: how it is held in fixed 64-bit
// words of a group's row, how a batch of values updates these words, how two
// rows combine, and how the result comes out.
//
// # Rows, slots, sets
//
// A group is a row of stride words, [hash | key words | state words]. This
// package owns the state words, which begin at word base:
//
//	base                                                 base+Words()
//	| hot words: one loop touches each of them per row | cold words |
//
// An aggregate is not a state of its own. [Compile] splits it into slots: an
// operation on a word or a few (add, min, max, count ...) with its arguments.
// Equal slots are shared: sum(x), mean(x) and stddev(x) share the sum of x,
// and everything that divides shares the count of rows. The example
//
//	sum(v1), mean(v3)      v1 int32, v3 double
//
// becomes five words: rows and NULLs of v3 (two halves of one word), the sum of
// v1, the sum of v3 and its compensation, flags. Words that change only in
// rare cases (the high half of a wide sum, flags) are cold and stand last, so
// that the hot ones share cache lines with the key.
//
// The arguments of an aggregate are a set: a row with a NULL in any of them is
// passed over. The kernels never see a NULL. When a batch has NULLs, the rows
// of each set without one are gathered first (view.go); a batch without NULLs
// pays nothing for the possibility.
//
// # Chains
//
// Aggregates that need all values of a group, or many of them, keep them in a
// chain of blobs in the arena (chain.go), one word per number and two with its
// position. A row holds the place of the next value, so that appending looks
// at the row and at that place.
//
//	keepAll                 median, quantile, quantile_disc, mad
//	keepOrder               list, string_agg: with positions, for file order
//	keepCounts, keepFirsts  entropy, histogram; mode: one entry for equal values
//	keepLeast, -Greatest    min(x, n), max(x, n): the n best; small n of one word
//	                        stand in the row instead (top.go)
//	keepHashes, -Buckets    approx_count_distinct, approx_quantile (sketch.go)
//
// Calls share the chain of an argument where they keep the same.
//
// count_distinct keeps no values: it counts rows of a part (part.go), of which its caller makes one
// of each different value.
//
// A chain lives in one of three forms, and changes them as its row travels:
//
//   - growing, in blobs that are linked. Chains that keep less than all values
//     are compacted now and then (compact.go).
//   - moved (Layout.Move), as one blob without links, or without any if it is
//     one short entry: what a block on disk holds.
//   - in runs: from 64 KiB on, Move sorts the values and writes them to
//     Options.Runs in pieces (run.go). The row keeps the refs of the runs, and
//     the chain grows anew behind them. Too many runs are merged into one.
//
// Join links chains, Combine copies them; both join the lists of runs. Finish
// selects or sorts what is in memory, and merges it with the runs
// (stream.go), so that a group of any size takes bounded memory: all but the
// one result of list, string_agg, histogram, min and max, which may take 2 GiB.
// Strings are sorted and compacted where they lie (string_index.go,
// string_compact.go), and those of runs are read in pieces (string_entry.go), so
// that the memory does not grow with their length either.
// Without Options.Runs everything stays in memory, and a group is sorted at
// once.
//
// # Was there a value?
//
// sum of nothing is NULL, but no word is written per row to know it:
//
//   - A set whose NULLs are counted anyway (for count or mean) has seen a
//     value when rows > nulls.
//   - Other sets have a flag bit, "unseen". Rows begin with 0, and every group
//     is made by the first row that belongs to it. So only a batch with NULLs
//     sets the bit, for the groups which it made; then its other rows clear it.
//     Later batches clear it too, once a table has ever set one (Table.Unseen).
//
// Combining rows ands the flags.
//
// # Exactness
//
// Sums of integers and decimals are exact in 64, 128, 192 or 320 bits, so
// partial sums may pass the limit of the result and come back: only the final
// value counts. Moments (var, stddev, covar, corr) of integers and of decimals
// up to 18 digits are exact sums of products. Sums of floats are compensated
// (two words, with a branch-free TwoSum); their moments are sums of exact
// products with twice the precision of a double, so that a mean of 1e9 with a
// variance of 1 loses nothing. For min and max NaN is the greatest, and -0
// comes out as 0.
//
// With Options.Deterministic sums of floats and of their products are exact too: integers in a
// window of binary digits (fixed.go), and product keeps its values, to be multiplied in order.
//
// Results of exact slots and of chains do not depend on the order of rows and
// merges. Those of float sums may differ in the last bit, those of product in
// its last digits. first, last, any_value, arg_min, arg_max, list, string_agg
// and, unless deterministic, mode depend on row numbers in file order, never on
// the order of arrival.
//
// Where SPEC.md is silent the results are DuckDB's: corr without variance is
// NaN, var_samp of one row is NULL, sum(boolean) counts, median keeps the type
// of decimals and times (quantile.go). But list passes over NULL, as all do,
// quantile interpolates, and entropy of nothing is NULL. What DuckDB refuses as
// out of range (variance of infinities) is NaN here.
//
// # On a device
//
// Rows go to a device as they are, and come back combined: [Layout.DeviceOps] says what it does
// with each word. It can where each word combines by itself, or a chain of words by carry, error or
// what each gives up, or what goes with a position that is a lock too (ega_placed.cuh): counts,
// sums, means, moments, min and max of texts and of at most 64 bits, also the n best in the row,
// bits and booleans, values with their position. What else changes several words together (a number
// of 256 bits, a chain that does not keep all values, the fraction and exponent of product) stays
// with the CPU. A chain of all values is a list there (device_list.go).
//
// The trap: a caller that copies rows with state into a [Table] which is updated
// afterwards must set Table.Unseen.
package agg
