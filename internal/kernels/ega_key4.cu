// Aggregation of rows with keys of four words.
// gen:family ega_shape
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(key4, EgaKeys<4>)
