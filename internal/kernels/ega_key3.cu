// Aggregation of rows with keys of three words.
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(key3, EgaKeys<3>)
