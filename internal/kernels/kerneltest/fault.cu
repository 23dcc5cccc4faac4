// Kernels that must fail, each in one way. A context is lost after any of them.
#include "../device.cuh"

// fault_trap ends in trap().
extern "C" __global__ void fault_trap() { trap(); }

// fault_write writes a word to an address, wherever that may lead.
extern "C" __global__ void fault_write(uint64_t address) { *reinterpret_cast<volatile uint32_t*>(address) = 1; }
