// What ega_any.cu leaves out.
// gen:family ega_reference
#include "../device.cuh"

#include "ega_reference.cuh"

EGA_REFERENCE_KERNELS(any, EgaAny)
