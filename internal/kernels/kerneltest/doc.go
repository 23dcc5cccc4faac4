// Package kerneltest holds kernels that only tests and benchmarks launch.
package kerneltest
