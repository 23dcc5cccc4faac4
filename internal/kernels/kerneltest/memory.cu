// Atomics and the order of memory, as device.cuh promises them, with all threads at the same few
// words.
#include "../device.cuh"

// fold_all applies each atomic that folds values to a word of its own.
template <class T, class S>
static __device__ __forceinline__ void fold_all(T* out, T v) {
  S* signed_out = reinterpret_cast<S*>(out);
  atomicAdd(out, v);
  atomicMin(out + 1, v);
  atomicMax(out + 2, v);
  atomicMin(signed_out + 3, static_cast<S>(v));
  atomicMax(signed_out + 4, static_cast<S>(v));
  atomicAnd(out + 5, v);
  atomicOr(out + 6, v);
  atomicXor(out + 7, v);
}

// memory_fold folds the inputs into eight words: add, min, max, signed min, signed max, and, or,
// xor.
extern "C" __global__ void memory_fold(const uint32_t* in, uint32_t* out) {
  fold_all<uint32_t, int32_t>(out, in[global_thread()]);
}

// memory_fold_long is the same for 64 bits.
extern "C" __global__ void memory_fold_long(const uint64_t* in, uint64_t* out) {
  fold_all<uint64_t, int64_t>(out, in[global_thread()]);
}

// memory_fold_shared folds into shared memory, whose words the block's first thread then folds into
// out: its adds and its xors only, which are 0 to begin with.
extern "C" __global__ void memory_fold_shared(const uint64_t* in, uint64_t* out) {
  __shared__ uint64_t sum, mixed;
  if (threadIdx.x == 0) sum = mixed = 0;
  __syncthreads();
  atomicAdd(&sum, in[global_thread()]);
  atomicXor(&mixed, in[global_thread()]);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(out, sum);
    atomicXor(out + 1, mixed);
  }
}

// memory_fold_double adds floating point values up.
extern "C" __global__ void memory_fold_double(const double* in, double* out) { atomicAdd(out, in[global_thread()]); }

// memory_ticket hands each thread a number of its own, of 32 and of 64 bits: by addition, and by
// comparing and exchanging.
extern "C" __global__ void memory_ticket(uint32_t* next, uint64_t* next_long, uint32_t* out, uint64_t* out_long) {
  const uint32_t i = global_thread();
  out[i] = atomicAdd(next, 1);
  uint64_t seen = ld_relaxed(next_long);
  for (uint64_t found; (found = atomicCAS(next_long, seen, seen + 1)) != seen;) seen = found;
  out_long[i] = seen;
}

// memory_exchange puts each thread's number in one word and notes the number that it took out, of
// 32 and of 64 bits.
extern "C" __global__ void memory_exchange(uint32_t* word, uint64_t* word_long, uint32_t* out, uint64_t* out_long) {
  const uint32_t i = global_thread();
  out[i] = atomicExch(word, i + 1);
  out_long[i] = atomicExch(word_long, (static_cast<uint64_t>(i) + 1) << 32);
}

// memory_look_back adds up the elements before each block. A block's first thread waits for the
// block before (RESIDENT-ORDER), whose sum was stored plainly before its flag was: the acquire that
// sees the flag sees the sum too.
extern "C" __global__ void memory_look_back(const uint64_t* in, uint64_t* sums, uint32_t* flags) {
  if (threadIdx.x != 0) return;
  uint64_t sum = in[blockIdx.x];
  if (blockIdx.x > 0) {
    while (ld_acquire(flags + blockIdx.x - 1) == 0) {
    }
    sum += sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = sum;
  st_release(flags + blockIdx.x, 1);
}

// memory_fence is memory_look_back with relaxed accesses and fences.
extern "C" __global__ void memory_fence(const uint64_t* in, uint64_t* sums, uint64_t* flags) {
  if (threadIdx.x != 0) return;
  uint64_t sum = in[blockIdx.x];
  if (blockIdx.x > 0) {
    while (ld_relaxed(flags + blockIdx.x - 1) == 0) __nanosleep(20);
    __threadfence();
    sum += sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = sum;
  __threadfence();
  st_relaxed(flags + blockIdx.x, 1);
}

// memory_lock has the first lane of each warp take a lock, and all lanes add to a counter that
// nothing else guards.
extern "C" __global__ void memory_lock(uint32_t* lock, uint32_t* counter) {
  if (lane_id() == 0) {
    while (atomicCAS(lock, 0, 1) != 0) __nanosleep(50);
    __threadfence();
  }
  __syncwarp(warp_lanes());
  for (uint32_t lane = 0; lane < static_cast<uint32_t>(__popc(warp_lanes())); lane++) {
    if (lane == lane_id()) st_relaxed(counter, ld_relaxed(counter) + 1);
    __syncwarp(warp_lanes());
  }
  if (lane_id() == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}

// memory_bit is memory_lock with a bit of a word as the lock, which or_acquire takes and
// and_release gives back, and one lane of each warp that adds to the counter.
extern "C" __global__ void memory_bit(uint32_t* word, uint32_t bit, uint32_t* counter) {
  if (lane_id() != 0) return;
  while ((or_acquire(word, bit) & bit) != 0) __nanosleep(50);
  st_relaxed(counter, ld_relaxed(counter) + 1);
  and_release(word, ~bit);
}

// memory_four copies four words a thread.
extern "C" __global__ void memory_four(const uint32_t* in, uint32_t* out) {
  uint32_t words[4];
  ld_relaxed4(in + 4 * global_thread(), words);
  for (uint32_t i = 0; i < 4; i++) out[4 * global_thread() + i] = words[i];
}

// memory_neighbour has the lanes of a warp hand values on through shared memory, behind
// __threadfence_block and __syncwarp.
extern "C" __global__ void memory_neighbour(const uint32_t* in, uint32_t* out) {
  __shared__ uint32_t kept[1024];
  kept[threadIdx.x] = in[global_thread()];
  __threadfence_block();
  __syncwarp(warp_lanes());
  const uint32_t first = threadIdx.x - lane_id(), lanes = __popc(warp_lanes());
  out[global_thread()] = kept[first + (lane_id() + 1) % lanes];
}

// memory_clock notes how far the two clocks got while the thread slept: never back.
extern "C" __global__ void memory_clock(int64_t* out) {
  const uint64_t ticks = clock64(), time = globaltimer();
  for (uint32_t i = 0; i < 64; i++) __nanosleep(1000);
  out[2 * global_thread()] = static_cast<int64_t>(clock64() - ticks);
  out[2 * global_thread() + 1] = static_cast<int64_t>(globaltimer() - time);
}
