// Aggregation of pairs: rows with a key of one word and one sum, 16 bytes.
// gen:family ega_shape
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(pair, EgaPair)
