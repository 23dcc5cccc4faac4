// Aggregation of rows with keys of several words, up to eight, and all operations.
// gen:family ega_shape
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(any, EgaAny)
