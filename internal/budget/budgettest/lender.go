// Package budgettest has a lender for tests, which decide about each request.
package budgettest

import "github.com/gagg-dev/gagg/internal/budget"

// Lender is a budget.Lender that asks a function. A release is a negative number.
type Lender func(bytes int64) error

var _ budget.Lender = Lender(nil)

// Draw is part of a budget.Lender.
func (l Lender) Draw(bytes int64) error { return l(bytes) }

// Release is part of a budget.Lender.
func (l Lender) Release(bytes int64) { _ = l(-bytes) }

// Refused is the refusal of tests.
func Refused() *budget.Error { return &budget.Error{Why: "refused by the test"} }

// AtMost lends so many bytes.
func AtMost(bytes int64) *budget.Budget { return budget.New(budget.Memory, bytes) }
