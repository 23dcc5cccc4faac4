package parquetio

import (
	"errors"
	"fmt"
	"strings"
)

// This file says what a panic of a decoder is. Decoders from other modules may panic on input that
// passes every check here; a fence keeps that inside the package:
//
//	defer invariant.Fence(&err, damagedIn(name))
//
// A goroutine that decodes has a fence of its own.

// damagedIn makes an *Error of what was panicked with over a file.
func damagedIn(file string) func(p any) error {
	return func(p any) error { return &Error{File: file, RowGroup: -1, Err: damaged(p)} }
}

func damaged(p any) error {
	return fmt.Errorf("damaged (decoder: %s)", strings.Join(strings.Fields(fmt.Sprint(p)), " "))
}

// place gives an error of a column of a row group its place in the file; for defer, before the
// fence.
func (c *columnReader) place(err *error) {
	if *err == nil {
		return
	}
	var placed *Error
	if !errors.As(*err, &placed) {
		*err = &Error{File: c.f.name, RowGroup: c.group, Column: c.leaf.name, Err: *err}
	}
}
