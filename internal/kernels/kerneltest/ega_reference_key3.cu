// What ega_key3.cu leaves out.
// gen:family ega_reference
#include "../device.cuh"

#include "ega_reference.cuh"

EGA_REFERENCE_KERNELS(key3, EgaKeys<3>)
