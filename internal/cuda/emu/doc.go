// Package emu controls the emulator: a library that offers the driver functions
// of package cuda on the CPU and runs the very same kernels. It is a test tool,
// never shipped and never chosen by itself: GAGG_CUDA_LIBRARY has to name it
// (make emu builds build/emu/libcuda-emu.so).
//
// The sources in src have two halves with emu.h between them. The driver half
// is described here; the device half, which runs the threads of a kernel, in
// src/device_emu.h.
//
//	kernels (*.cu)          -- internal/kernels/gen -->  the table of kernels
//	package cuda --libcuda--> call.h: count, fault, current context, lost?
//	                           context, object        contexts; the table of handles
//	                           memory                 the table of blocks
//	                           stream                 a queue and a thread each; events
//	                           ptx, driver_module     what the PTX says of a kernel
//	                           driver_launch ----emu_run----> the device half
//
// # What it models
//
// Handles, the current context of a thread, and the error codes for their
// misuse. Errors that stay: once a kernel failed, every call in that context
// returns the code, until the last release. Streams really are asynchronous: a
// copy or kernel happens later, on another thread, so that what is read or
// overwritten without waiting shows, and the more so with GAGG_EMU_SLOW. Device
// and pinned memory come filled with a pattern, are bounded (guard zones, or
// AddressSanitizer's), and each copy is checked against the table when it is
// called and again when it happens.
//
// Two things are stricter than a device. Freeing pinned memory waits for
// nothing: a copy that still comes to it loses the context with 700. And a
// module is refused if the library was built without one of its kernels, or with
// other parameters. Package gputest refuses a library that was built from other
// kernels (Emu.Fresh).
//
// # What it cannot model
//
//   - Time. Nothing here tells how fast anything is on a device.
//   - The compiler: PTX is not executed, and hardly checked (the directives, the
//     braces, the parameters). Registers and local memory are made up, and
//     occupancy knows threads and shared memory only.
//   - The default stream, copies between pageable memory and device that overlap
//     with the caller, unified memory, several processes at one device.
//   - A write of a kernel to freed memory or far out of bounds, in the plain
//     build: it is the memory of this process that breaks. The build with
//     AddressSanitizer (make emu-asan) stops there.
//   - For the device half see src/device_emu.h.
//
// # Environment
//
//	GAGG_EMU_ARCHITECTURE   ten times the compute capability of each device (70)
//	GAGG_EMU_DEVICES        number of devices (1); CUDA_VISIBLE_DEVICES hides some
//	GAGG_EMU_MEMORY         bytes of each device (1 GiB)
//	GAGG_EMU_VERSION        what cuDriverGetVersion says (13000)
//	GAGG_EMU_FAULT          name:n:code or name:n:code:forever, several with commas: see Fault
//	GAGG_EMU_SEED           of the order of threads and all else at random (1)
//	GAGG_EMU_SLOW           least:most or most: microseconds before each operation of a stream
package emu
