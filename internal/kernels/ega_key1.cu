// Aggregation of rows with keys of one word.
// gen:family ega_shape
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(key1, EgaKeys<1>)
