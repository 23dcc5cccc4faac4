// The allocator that CUDA itself offers to kernels, for measurement: malloc and
// free on a heap in device memory. The driver links them when it loads PTX that
// declares them; on the emulator they are the host's. The heap has 8 MiB unless
// the context's limit CU_LIMIT_MALLOC_HEAP_SIZE was raised before a module that
// uses it was loaded; a full heap gives null.
//
// Any threads a block; enough threads for n. Nothing is shared.
//
//   cudamalloc_bench_get   n pieces of memory, one for each thread
//   cudamalloc_bench_free  gives them back
#include "../device.cuh"

#ifdef GAGG_EMULATOR
static void* heap_malloc(uint64_t bytes) { return __builtin_malloc(bytes); }
static void heap_free(void* p) { __builtin_free(p); }
#else
extern "C" __device__ void* malloc(uint64_t bytes);
extern "C" __device__ void free(void* p);
static __device__ __forceinline__ void* heap_malloc(uint64_t bytes) { return malloc(bytes); }
static __device__ __forceinline__ void heap_free(void* p) { free(p); }
#endif

// out[i] becomes the memory of thread i, or 0. Its first word is set to i.
extern "C" __global__ void cudamalloc_bench_get(uint64_t* out, uint32_t bytes, uint32_t n) {
  uint32_t i = global_thread();
  if (i >= n) return;
  uint32_t* piece = static_cast<uint32_t*>(heap_malloc(bytes));
  if (piece != nullptr) *piece = i;
  out[i] = reinterpret_cast<uint64_t>(piece);
}

// Frees in[0] to in[n-1], and counts in *spoiled those whose first word is not i.
extern "C" __global__ void cudamalloc_bench_free(const uint64_t* in, uint32_t n, uint32_t* spoiled) {
  uint32_t i = global_thread();
  if (i >= n || in[i] == 0) return;
  uint32_t* piece = reinterpret_cast<uint32_t*>(in[i]);
  if (*piece != i) atomicAdd(spoiled, 1u);
  heap_free(piece);
}
