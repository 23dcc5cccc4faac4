// Package cuda is the only package that talks to the CUDA driver. It opens
// libcuda at run time, without cgo and without a CUDA toolkit: an NVIDIA driver
// is all that a machine needs.
//
// Terms are those of CUDA. A [Driver] is the opened library. A [Context] is a
// device's primary context, kept. Memory, streams, events and functions
// live in a context. The driver's calls act on the context that is
// current on the calling operating system thread, so a goroutine that talks to
// the device first takes a [Thread]:
//
//	driver, err := cuda.Open()            // dlopen and cuInit: 0.2 s on an H200
//	context, err := driver.Context(0)     // 0.1 s; Start does both in the background
//	thread, err := context.Lock()
//	defer thread.Unlock()
//	stream, err := thread.NewStream()
//	defer stream.Close()
//
// Files: symbols.go lists the functions of the driver, library*.go opens it,
// code.go and error.go say what its error codes mean, report.go what a person
// can do about them; the others hold one kind of handle each.
//
// Invariants:
//
//   - THREAD: a Thread, its streams and events are used only on the goroutine
//     that locked it. Only Close may be called from any goroutine. Checked by
//     the number of the operating system thread under -tags invariant.
//   - LOST: an error after which a context is of no use (a kernel that faulted,
//     a device that fell off the bus) is kept in the Context. From then on no
//     method of it or of what it holds calls the driver: each returns that
//     error, but Close, which succeeds. What was computed there must be
//     discarded, all of it. The driver frees what the context held when the
//     process ends.
//   - OWNER: whoever makes a handle closes it, before its context. Close is
//     idempotent; a handle that is closed is refused with [ErrClosed]. A context
//     that still holds something does not close, and says what it holds. There
//     are no finalizers: they would run on a thread of their own.
//   - MODULE: modules belong to the device's primary context, which all Contexts
//     of it in the process share. Each is loaded once, by whoever asks first, and unloaded
//     with the last of these. Nobody closes one.
//   - HEAP: what the driver reads or writes through a pointer (out-parameters,
//     launch parameters) lies in a Thread or Stream, never on a goroutine's
//     stack, which may move. Nothing is allocated for a launch or a copy.
//
// The variable GAGG_CUDA_LIBRARY names another library with the same functions,
// such as the emulator of package emu. With the build tag nogpu, and on systems
// other than Linux on amd64 and arm64, nothing is opened: Open fails with
// [ErrNoDriver].
package cuda
