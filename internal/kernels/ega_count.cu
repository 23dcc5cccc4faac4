// How many groups a table in device memory has, when nobody wants to see them yet: feedback loading
// (paper 003, section 4.2.2) asks between two loads. Collect (ega_kernels.cuh) would write them
// too.
#include "device.cuh"

#include "ega_table.cuh"

// ega_count adds the slots in use to *total. Each thread counts every so many'th slot, each warp
// adds up and has one atomic; no barriers. Of a row only the word is read that says whether it is
// one: a tag, or a key of one word.
template <class Shape>
__device__ __forceinline__ void ega_count(const EgaLayout& layout, const EgaTable& table, uint64_t* total) {
  EgaGlobal place(table, ega_stride<Shape>(layout));
  uint64_t count = 0;
  for (uint64_t slot = global_thread(); slot <= table.slots; slot += global_threads()) {
    count += ega_used<Shape>(layout, place, static_cast<uint32_t>(slot));
  }
  ega_add_up(total, count);
}

// The host has set *total to 0. Exact when no other kernel is at work on the table. Threads a
// block: a multiple of 32, at most 256; any number of blocks. Which shape the table was filled by
// does not matter here but for keys of one word.
extern "C" __global__ void __launch_bounds__(256) ega_count_slots(EgaLayout layout, EgaTable table, uint64_t* total) {
  if (layout.key_words == 1) {
    ega_count<EgaKeys<1>>(layout, table, total);
  } else {
    ega_count<EgaAny>(layout, table, total);
  }
}

constexpr uint32_t EGA_FIRST_THREADS = 512;
constexpr uint32_t EGA_FIRST_EACH = 2;  // slots of a thread at a time: a round reads 1024

// Finds a hash that at least `wanted` groups do not exceed, and sets *beyond to its complement; it
// leaves *beyond as it is, 0, where the first `most` slots have fewer groups. Slots are in order
// of hashes (HASH-ORDER), so that the first groups are at the front: the hash found is hardly
// greater than the least such. Rows that went on from the table's end to its front begin at a
// greater slot than theirs, and do not count.
//
// Other kernels may add to the table meanwhile. Only hash words are read: EGA_EMPTY before a slot
// is claimed, then that of its key for good (SLOT-ONCE). A hash that is EGA_EMPTY does not count.
//
// One block of EGA_FIRST_THREADS threads. Barriers: the first is for the sums, 0 then; in each
// round one before the count is read, which all do, and one before anybody adds to it again.
extern "C" __global__ void __launch_bounds__(EGA_FIRST_THREADS)
    ega_count_first(EgaLayout layout, EgaTable table, uint64_t wanted, uint64_t most, uint64_t* beyond) {
  __shared__ unsigned long long found, last;
  if (threadIdx.x == 0) found = last = 0;
  __syncthreads();
  const EgaGlobal place(table, ega_stride<EgaAny>(layout));
  const uint64_t end = most < table.slots ? most : table.slots;
  uint64_t count = 0;
  for (uint64_t first = 0; first < end && count < wanted; first += uint64_t(EGA_FIRST_EACH) * blockDim.x) {
    uint64_t hashes[EGA_FIRST_EACH];
#pragma unroll
    for (uint32_t i = 0; i < EGA_FIRST_EACH; i++) {
      const uint64_t slot = first + i * blockDim.x + threadIdx.x;
      hashes[i] = slot < end ? ld_relaxed(place.word(uint32_t(slot), 0)) : EGA_EMPTY;
      if (hashes[i] != EGA_EMPTY && place.start(hashes[i]) > slot) hashes[i] = EGA_EMPTY;
    }
#pragma unroll
    for (uint32_t i = 0; i < EGA_FIRST_EACH; i++) {
      if (hashes[i] == EGA_EMPTY) continue;
      atomicAdd(&found, 1ull);
      atomicMax(&last, static_cast<unsigned long long>(hashes[i]));
    }
    __syncthreads();
    count = found;
    __syncthreads();
  }
  if (threadIdx.x == 0 && count >= wanted) *beyond = ~uint64_t(last);
}
