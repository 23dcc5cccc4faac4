// Package cuda is the only package that talks to the CUDA driver. It opens
// libcuda at run time, without cgo and without a CUDA toolkit.
package cuda
