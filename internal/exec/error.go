package exec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/query"
	"github.com/gagg-dev/gagg/internal/spill"
)

// The kinds of errors, for errors.Is. An error that
// Classify returns is of one kind at most; one of none is a failure while running. A
// context's error passes through as it is.
var (
	// ErrUsage: the query or the options make no sense
	ErrUsage = errors.New("wrong usage")
	// ErrInput: a file cannot be read or is not valid
	ErrInput = errors.New("input not valid")
	// ErrOverflow: a value does not fit its type, or the one it is cast to
	ErrOverflow = errors.New("value overflowed")
	// ErrBudget: the memory limit, or that of devices, is too small
	ErrBudget = errors.New("out of memory or disk budget")
	ErrDevice = errors.New("no usable device") // a GPU was demanded and there is none
)

// kindError is an error of one kind, or of none, whose text is that of its
// cause alone, in one line.
type kindError struct {
	kind  error // nil: none
	cause error
}

func (e *kindError) Error() string   { return strings.Join(reasons(e.cause, nil), "; ") }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.cause} }

// Usagef is an error of usage.
func Usagef(format string, args ...any) error {
	return &kindError{ErrUsage, fmt.Errorf(format, args...)}
}

// reasons appends the reasons of err that are not in the list yet. Errors of
// workers are joined and often the same: a full disk is full for all of them.
func reasons(err error, said []string) []string {
	text := err.Error()
	if joined, ok := err.(interface{ Unwrap() []error }); ok && strings.Contains(text, "\n") {
		all := slices.DeleteFunc(slices.Clone(joined.Unwrap()), func(err error) bool { return err == nil })
		if errors.Join(all...).Error() == text {
			for _, err := range all {
				said = reasons(err, said)
			}
			return said
		}
	}
	if inner := errors.Unwrap(err); inner != nil && strings.Contains(text, "\n") {
		if context, ok := strings.CutSuffix(text, inner.Error()); ok {
			text = context + strings.Join(reasons(inner, nil), "; ")
		}
	}
	if slices.Contains(said, text) {
		return said
	}
	return append(said, text)
}

// OutOfBudget is the type of a budget's refusal, for the library.
type OutOfBudget = budget.Error

// NeedError is the type of what says that a query cannot begin within its limit, for the library.
type NeedError = plan.NeedError

// Classify gives an error from below its kind.
func Classify(err error) error {
	var kinded *kindError
	if err == nil || errors.As(err, &kinded) {
		return err
	}
	for _, k := range []struct {
		kind error
		is   func(error) bool
	}{
		{ErrOverflow, isA[*expr.OverflowError]},
		{ErrOverflow, isA[*expr.ValueError]},
		{ErrOverflow, isA[*expr.DomainError]},
		{ErrOverflow, isA[*agg.OverflowError]},
		{ErrBudget, isA[*budget.Error]},
		{ErrBudget, isA[*plan.NeedError]},
		{ErrBudget, func(err error) bool { return errors.Is(err, spill.ErrExhausted) }},
		{ErrUsage, func(err error) bool { return errors.Is(err, spill.ErrUsage) }},
		{ErrUsage, isA[*query.UsageError]},
		{ErrUsage, isA[*expr.Error]},
		{ErrBudget, isA[*agg.SizeError]},
		{ErrBudget, isA[*agg.ChainError]},
		{ErrUsage, isA[*agg.ParamError]},
		{ErrUsage, isA[*agg.TypeError]},
		{ErrUsage, isA[*agg.UnknownError]},
		{ErrUsage, isA[*parquetio.ColumnError]},
		{ErrUsage, isA[*parquetio.UsageError]},
		{ErrUsage, isA[*input.UsageError]},
		{ErrInput, isA[*input.Error]},
		{ErrInput, isA[*parquetio.Error]},
		{ErrInput, func(err error) bool { return errors.Is(err, agg.ErrState) }},
		{ErrDevice, isA[*device.RefusedError]},
		{ErrDevice, isA[*gpu.Error]},
	} {
		if k.is(err) {
			return &kindError{k.kind, err}
		}
	}
	if strings.Contains(err.Error(), "\n") {
		return &kindError{nil, err}
	}
	return err
}

func isA[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// problems collects errors of options, so that one error names them all.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return Usagef("%s", strings.Join(p, "; "))
}
