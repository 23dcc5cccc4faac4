// Aggregation of rows with keys of one word and sums of more than 128 bits. Such rows with longer keys are ega_any's.
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(long, EgaLong)
