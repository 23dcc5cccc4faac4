// Copies of bytes at any alignment by a block.
#pragma once

#include "device.cuh"

// CopyWord is 8 bytes of anything.
typedef uint64_t __attribute__((may_alias)) CopyWord;

// Words that a thread loads before it stores the first of them, to have several loads under way.
constexpr uint32_t COPY_BATCH = 4;

// block_copy copies n bytes; source and destination do not overlap. All threads of the block call;
// no barrier. Neighbours write neighbouring words of 8 bytes, aligned in the destination. What lies
// in a word is made of the two aligned words of the source that it comes from, each of which holds
// a byte to copy: nothing farther away is read. 10 instructions a word.
static __device__ __forceinline__ void block_copy(uint8_t* to, const uint8_t* from, uint32_t n) {
  const uint32_t gap = -static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to)) % 8, head = gap < n ? gap : n;
  const uint32_t words = (n - head) / 8, tail = head + words * 8;
  if (threadIdx.x < head) to[threadIdx.x] = from[threadIdx.x];
  if (threadIdx.x < n - tail) to[tail + threadIdx.x] = from[tail + threadIdx.x];
  const uint32_t ahead = reinterpret_cast<uintptr_t>(from + head) % 8, bits = ahead * 8;
  const CopyWord* source = reinterpret_cast<const CopyWord*>(from + head - ahead);
  CopyWord* target = reinterpret_cast<CopyWord*>(to + head);
  for (uint32_t i = threadIdx.x; i < words; i += COPY_BATCH * blockDim.x) {
    uint64_t batch[COPY_BATCH];
#pragma unroll
    for (uint32_t k = 0; k < COPY_BATCH; k++) {
      const uint32_t w = i + k * blockDim.x;
      if (w >= words) continue;
      batch[k] = bits == 0 ? source[w] : source[w] >> bits | source[w + 1] << (64 - bits);
    }
#pragma unroll
    for (uint32_t k = 0; k < COPY_BATCH; k++) {
      if (i + k * blockDim.x < words) target[i + k * blockDim.x] = batch[k];
    }
  }
}
