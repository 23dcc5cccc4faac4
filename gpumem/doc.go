// Package gpumem hands out pages of device memory inside kernels: the random-walk
// page manager, and SlabAlloc.
package gpumem
