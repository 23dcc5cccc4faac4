// Aggregation of rows with keys of two words.
// gen:family ega_shape
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(key2, EgaKeys<2>)
