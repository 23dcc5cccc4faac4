// Aggregation of rows with keys of several words, up to eight, and all operations.
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(any, EgaAny)
