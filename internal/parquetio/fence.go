package parquetio

import (
	"errors"
	"fmt"
	"strings"
)

// fence turns a panic into an *Error in *err. It must be deferred directly:
//
//	defer fence(name, &err)
//
// Decoders from other modules may panic on input that passes every check
// here; the fence keeps that inside the package. A goroutine that decodes has
// a fence of its own.
func fence(file string, err *error) {
	if p := recover(); p != nil {
		*err = &Error{File: file, RowGroup: -1, Err: damaged(p)}
	}
}

// fence is the same for a column of a row group, and also gives a plain
// error its place in the file.
func (c *columnReader) fence(err *error) {
	if p := recover(); p != nil {
		*err = damaged(p)
	}
	if *err == nil {
		return
	}
	var placed *Error
	if !errors.As(*err, &placed) {
		*err = &Error{File: c.f.name, RowGroup: c.group, Column: c.leaf.name, Err: *err}
	}
}

func damaged(p any) error {
	return fmt.Errorf("damaged (decoder: %s)", strings.Join(strings.Fields(fmt.Sprint(p)), " "))
}
