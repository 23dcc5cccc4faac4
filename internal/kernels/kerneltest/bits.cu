// The bit intrinsics of device.cuh, each applied to every input. Threads work for themselves.
#include "../device.cuh"

// bits_words applies the intrinsics of 32 bits to the n pairs a[i], b[i]: five results for each.
extern "C" __global__ void bits_words(const uint32_t* a, const uint32_t* b, uint32_t* out, uint32_t n) {
  for (uint32_t i = global_thread(); i < n; i += global_threads()) {
    uint32_t* to = out + 5 * i;
    to[0] = __popc(a[i]);
    to[1] = __ffs(a[i]);
    to[2] = __clz(a[i]);
    to[3] = __brev(a[i]);
    to[4] = __umulhi(a[i], b[i]);
  }
}

// bits_longs applies those of 64 bits.
extern "C" __global__ void bits_longs(const uint64_t* a, const uint64_t* b, uint64_t* out, uint32_t n) {
  for (uint32_t i = global_thread(); i < n; i += global_threads()) {
    uint64_t* to = out + 5 * i;
    to[0] = __popcll(a[i]);
    to[1] = __ffsll(a[i]);
    to[2] = __clzll(a[i]);
    to[3] = __brevll(a[i]);
    to[4] = __umul64hi(a[i], b[i]);
  }
}
