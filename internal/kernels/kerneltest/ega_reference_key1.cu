// What ega_key1.cu leaves out.
// gen:family ega_reference
#include "../device.cuh"

#include "ega_reference.cuh"

EGA_REFERENCE_KERNELS(key1, EgaKeys<1>)
