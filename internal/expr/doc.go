// Package expr is gagg's expression language: where, having, computed keys
// and the arguments of aggregates. It is the SQL that DuckDB speaks, less
// what a filter over one table does not need.
//
// An expression passes through three forms:
//
//	text ──Parse──▶ Node ──Bind──▶ Expr ──NewEval──▶ Eval
//
// A [Node] is what was written: names, not columns. It prints back as
// canonical text, and the engine takes it apart (aggregate calls are Nodes
// like any other; this package gives them no meaning). An [Expr] is bound:
// every name is a column of the batch, every operation has the one kernel
// that fits its types, conversions are explicit, constants are folded. It is
// immutable and shared. An [Eval] is the work place of one worker: a tree of
// steps, each with an output vector that the next batch overwrites.
//
// NULL. Most operations are strict: a NULL argument gives NULL. A strict
// kernel computes every row, NULL rows too, since their slots hold harmless
// values; only an error (an overflow) has to look at NULL before it is
// believed. and, or, is null, case and coalesce are the ones that are not
// strict.
//
// Dictionaries. A strict expression over a single column is computed once an
// entry of the column's dictionary and not once a row (eval_dict.go), so
// that `id1 = 'x'` costs a table look-up a row. Two kinds of texts get a
// dictionary here: the values of a case that are all constant
// (choose_constants.go), and texts of days, hours or minutes of a time
// (eval_bucket.go).
//
// Lists and maps, which some aggregates give, pass through whole, are tested
// with is null, or, lists, are taken apart by functions; binding refuses
// everything else.
//
// Numbers. A comparison with a constant is moved into the domain of the
// column while binding (compare_const.go): `n < 1.5` for an integer column
// becomes `n <= 1`, so no row is ever converted and nothing is rounded.
package expr
