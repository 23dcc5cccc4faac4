// Aggregation of rows with keys of one word and operations that few queries need. Such rows with
// longer keys are ega_any's.
// gen:family ega_shape
#include "device.cuh"

#include "ega_kernels.cuh"

EGA_KERNELS(rare, EgaRare)
