package device

import (
	"context"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Present reports whether there is a driver to open, without opening it.
func Present() bool { return cuda.Present() }

// Initialized reports whether devices can be opened without waiting for the kernel module to
// initialize them.
func Initialized() bool { return cuda.Initialized() }

// Describe tells what there is of GPUs on this machine. It opens the driver, which the process then
// keeps, and takes each device for a moment. It returns early when ctx ends.
func Describe(ctx context.Context) (cuda.Report, error) {
	return await(ctx, func() (cuda.Report, error) { return cuda.Describe(), nil }, func(cuda.Report) {})
}

// Versions are those of the kernel module and of CUDA as a report has them; "": not known.
func Versions(r cuda.Report) (driver, toolkit string) {
	if r.Version != 0 {
		toolkit = cuda.VersionText(r.Version)
	}
	return cuda.KernelModule(), toolkit
}

// Explain is what is wrong with a device, and what to do about it, apart.
func Explain(err error) (text, advice string) {
	if err == nil {
		return "", ""
	}
	return err.Error(), cuda.Advice(err)
}
