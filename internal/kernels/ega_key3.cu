// Aggregation of rows with keys of three words.
// gen:family ega_shape
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(key3, EgaKeys<3>)
