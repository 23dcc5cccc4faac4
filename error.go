package gagg

import "github.com/gagg-dev/gagg/internal/exec"

// The kinds of errors, for errors.Is. An error of Run, Plan, Describe or
// Rows.Err is of one kind at most; one of none is a failure while running. A
// context's error passes through as it is.
var (
	ErrUsage    = exec.ErrUsage    // the query or the options make no sense
	ErrInput    = exec.ErrInput    // a file cannot be read or is not valid
	ErrOverflow = exec.ErrOverflow // a value does not fit its type, or the one it is cast to
	ErrBudget   = exec.ErrBudget   // Options.MemoryLimit or GPUMemory is too small
	ErrDevice   = exec.ErrDevice   // a GPU was demanded and there is none
)

// BudgetError says that a query needs more memory, or disk space, than it may have: Want bytes
// where the limit is Limit. Where a part of the memory was used up Limit is 0.
type BudgetError = exec.OutOfBudget

// NeedError says that a query cannot begin within its memory limit of Limit bytes: Need bytes are
// the least under which it runs, with one thread, for the Columns that are read. With Result set it
// says that a group cannot be put out: Result tells what of it takes how much, and Need bytes are
// enough. It is an ErrBudget.
type NeedError = exec.NeedError
