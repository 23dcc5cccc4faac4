// Package kernels holds the CUDA kernels that gagg ships: their sources, the PTX
// made from them, and a typed launch function for each.
package kernels
