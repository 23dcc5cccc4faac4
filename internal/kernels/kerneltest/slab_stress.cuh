// What the kernels that watch over ownership find.
#pragma once

#include "../device.cuh"

// OwnerFaults are sums over all threads of a launch; the caller sets them to 0.
// All but refused stay 0 if the allocator under test is right.
struct OwnerFaults {
  uint32_t twice;    // a unit was handed out that had an owner
  uint32_t strange;  // a unit was marked as another's when its owner gave it back
  uint32_t spoiled;  // a word of a unit was not what its owner had written
  uint32_t refused;  // out of memory
};

// Takes note that a unit has a new owner, which is not 0.
__device__ __forceinline__ void owner_enter(uint32_t* owners, uint64_t unit, uint32_t owner, OwnerFaults* faults) {
  if (atomicExch(&owners[unit], owner) != 0) atomicAdd(&faults->twice, 1u);
}

// Takes note that an owner gives a unit back; before it does.
__device__ __forceinline__ void owner_leave(uint32_t* owners, uint64_t unit, uint32_t owner, OwnerFaults* faults) {
  if (atomicExch(&owners[unit], 0u) != owner) atomicAdd(&faults->strange, 1u);
}
