// Package kernels holds the CUDA kernels that gagg ships, and a typed launch
// function for each.
//
// A family is one source, <file>.cu. "go generate ./internal/kernels" compiles
// the families with clang to PTX, which travels in the binary (a family that
// nothing loads does not), and writes for each a type with one launch method a
// kernel; gen says by which rules. What is
// generated is committed: nothing else needs the compiler. device.cuh is the
// device as sources see it, status.def what kernels report, tuning.go how they
// are launched. Package kerneltest has the families that only tests and benchmarks
// use.
//
// A launch method checks nothing but types: that a pointer is of the device and
// that the memory behind it suffices is the caller's part, as is waiting for
// the stream before the memory goes.
package kernels

//go:generate go run ./gen
