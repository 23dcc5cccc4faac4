// Package emu controls the emulator: a library that offers the driver functions
// of package cuda on the CPU and runs the very same kernels. It is for tests.
package emu
