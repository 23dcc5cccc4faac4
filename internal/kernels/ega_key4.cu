// Aggregation of rows with keys of four words.
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(key4, EgaKeys<4>)
