// What ega_key4.cu leaves out.
// gen:family ega_reference
#include "../device.cuh"

#include "ega_reference.cuh"

EGA_REFERENCE_KERNELS(key4, EgaKeys<4>)
