// Barriers and shared memory of device.cuh. A block of up to 1024 threads works on as many
// elements.
#include "../device.cuh"

constexpr uint32_t block_most = 1024;

// block_reverse turns each block's elements round through static shared memory. The barrier lies
// between the writes and the reads of others' elements.
extern "C" __global__ void block_reverse(const uint32_t* in, uint32_t* out) {
  __shared__ uint32_t kept[block_most];
  kept[threadIdx.x] = in[global_thread()];
  __syncthreads();
  out[global_thread()] = kept[blockDim.x - 1 - threadIdx.x];
}

// block_sum adds each block's elements up in dynamic shared memory of 8 bytes a thread, halving the
// number of threads that add. A barrier ends each round, for all threads.
extern "C" __global__ void block_sum(const uint64_t* in, uint64_t* out) {
  DYNAMIC_SHARED(uint64_t, kept);
  kept[threadIdx.x] = in[global_thread()];
  __syncthreads();
  for (uint32_t left = blockDim.x; left > 1;) {
    const uint32_t half = (left + 1) / 2;
    if (threadIdx.x + half < left) kept[threadIdx.x] += kept[threadIdx.x + half];
    left = half;
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = kept[0];
}

// block_leave has some threads exit at once; the barriers count the others only. Those add up how
// many of them there are, in each of rounds, and note the sum.
extern "C" __global__ void block_leave(const uint32_t* leaves, uint32_t* out, uint32_t rounds) {
  __shared__ uint32_t count;
  if (leaves[global_thread()]) return;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < rounds; i++) {
    count = 0;  // by all who stay
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    sum += count;
    __syncthreads();
  }
  out[global_thread()] = sum;
}

// block_rounds has each warp do another number of shuffles between two barriers: the first lane's
// value goes round its warp.
extern "C" __global__ void block_rounds(uint32_t* out) {
  __shared__ uint32_t warps[block_most / warpSize];
  uint32_t v = threadIdx.x;
  const uint32_t mask = warp_lanes();
  for (uint32_t i = 0; i <= warp_id(); i++) v = __shfl_sync(mask, v, 0) + 1;
  if (lane_id() == 0) warps[warp_id()] = v;
  __syncthreads();
  const uint32_t last = (blockDim.x - 1) / warpSize;
  out[global_thread()] = warps[last - warp_id()];
}

// block_fresh counts the words that are 0 in shared memory that nobody has written, static and
// dynamic of 256 words each.
extern "C" __global__ void block_fresh(uint32_t* zeros) {
  __shared__ uint32_t fixed[256];
  DYNAMIC_SHARED(uint32_t, dynamic);
  const volatile uint32_t *a = fixed, *b = dynamic;
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(zeros, (a[i] == 0) + (b[i] == 0));
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) fixed[i] = dynamic[i] = 0;
}
