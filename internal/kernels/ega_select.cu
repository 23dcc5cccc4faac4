// The groups of a table that are wanted leave it, dense and in any order, and the table stays as it
// is. ega_select.cuh says which they are. The host finds the rank of the last group that is wanted:
//
//   ega_select_range      how many groups have a rank, how many are unsure, the least and the
//                         greatest rank
//   ega_select_histogram  how many ranks are in each of so many equal ranges. The host looks into
//                         the range with the last group wanted, until it has few groups or one rank
//   ega_select_keep       the groups of that rank and of those below it, and all that are unsure
//
// The first two may look at a sample of the slots (EgaWanted.every).
//
// Who takes part: all threads, each for every so many'th slot, whole warps. Nobody changes the
// table meanwhile.
//
// Cost: each kernel reads the slots that it looks at, and runs the program once for each group.
#include "ega_local.cuh"
#include "ega_select.cuh"

constexpr uint32_t EGA_SELECT_THREADS = PARQUET_COMPUTE_THREADS;

// Ranges that ranks are counted in.
constexpr uint32_t EGA_SELECT_RANGES = 2048;

// ega_most is the greatest of the words of all lanes of a full warp.
static __device__ __forceinline__ uint64_t ega_most(uint64_t word) {
  for (uint32_t distance = 16; distance > 0; distance /= 2) {
    const uint64_t other = __shfl_xor_sync(FULL_MASK, word, distance);
    word = other > word ? other : word;
  }
  return word;
}

// Adds up in out, which is 0 before: groups that have a rank; that are unsure; the complement of
// the least rank; the greatest rank. Threads a block: EGA_SELECT_THREADS; dynamic shared memory: a
// word for each thread and register; any number of blocks. No barriers.
extern "C" __global__ void __launch_bounds__(EGA_SELECT_THREADS)
    ega_select_range(EgaLayout layout, EgaTable table, EgaWanted wanted, uint64_t* out) {
  DYNAMIC_SHARED(uint64_t, words);
  uint64_t ranked = 0, unsure = 0, least = 0, greatest = 0;  // the least is kept as its complement
  EgaGroups(layout, table, wanted, words + threadIdx.x).each([&](uint64_t, bool, EgaVerdict verdict, uint64_t rank) EGA_INLINE {
    unsure += verdict == EGA_UNSURE;
    if (verdict != EGA_RANKED) return;
    ranked++;
    least = ~rank > least ? ~rank : least;
    greatest = rank > greatest ? rank : greatest;
  });
  __syncwarp(FULL_MASK);
  ega_add_up(out, ranked);
  ega_add_up(out + 1, unsure);
  least = ega_most(least);
  greatest = ega_most(greatest);
  if (lane_id() == 0) {
    atomicMax(out + 2, least);
    atomicMax(out + 3, greatest);
  }
}

// Adds to ranges how many ranks are in each of EGA_SELECT_RANGES ranges of 2^shift numbers from
// least on. Threads a block: EGA_SELECT_THREADS; dynamic shared memory: a word for each thread and
// register; any number of blocks. The first barrier is for the block's counts, which are 0 then,
// the second for all of them.
extern "C" __global__ void __launch_bounds__(EGA_SELECT_THREADS)
    ega_select_histogram(EgaLayout layout, EgaTable table, EgaWanted wanted, uint64_t least, uint32_t shift,
                         uint32_t* ranges) {
  DYNAMIC_SHARED(uint64_t, words);
  __shared__ uint32_t counts[EGA_SELECT_RANGES];
  for (uint32_t i = threadIdx.x; i < EGA_SELECT_RANGES; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  EgaGroups(layout, table, wanted, words + threadIdx.x).each([&](uint64_t, bool, EgaVerdict verdict, uint64_t rank) EGA_INLINE {
    if (verdict != EGA_RANKED || rank < least || (rank - least) >> shift >= EGA_SELECT_RANGES) return;
    atomicAdd(counts + ((rank - least) >> shift), 1u);
  });
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < EGA_SELECT_RANGES; i += blockDim.x) {
    if (counts[i] > 0) atomicAdd(ranges + i, counts[i]);
  }
}

// Writes the groups whose rank is bound or less, and those that are unsure, to rows, as many as
// there is room for. Adds up in out, which is 0 before: how many they are, how many rows the other
// groups stand for, and how many are unsure. Threads a block: EGA_SELECT_THREADS; dynamic shared
// memory: a word for each thread and register; any number of blocks. No barriers.
extern "C" __global__ void __launch_bounds__(EGA_SELECT_THREADS)
    ega_select_keep(EgaLayout layout, EgaTable table, EgaWanted wanted, uint64_t bound, uint64_t* rows,
                    uint64_t capacity, uint64_t* out) {
  DYNAMIC_SHARED(uint64_t, words);
  const EgaGroups groups(layout, table, wanted, words + threadIdx.x);
  const uint32_t stride = ega_stride<EgaAny>(layout);
  uint64_t left = 0, unsure = 0;  // what groups that stay stand for
  groups.each([&](uint64_t slot, bool used, EgaVerdict verdict, uint64_t rank) EGA_INLINE {
    const bool kept = verdict == EGA_UNSURE || (verdict == EGA_RANKED && rank <= bound);
    const uint32_t keepers = __ballot_sync(FULL_MASK, kept);
    uint64_t at = 0;
    if (lane_id() == 0 && keepers != 0) at = atomicAdd(out, uint64_t(__popc(keepers)));
    at = __shfl_sync(FULL_MASK, at, 0) + __popc(keepers & lanes_below());
    if (!used) return;
    unsure += verdict == EGA_UNSURE;
    const uint64_t* row = groups.row(slot);
    if (kept && at < capacity) {
      for (uint32_t w = 0; w < stride; w++) rows[at * stride + w] = row[w];
    } else {
      left += ega_field(row, wanted.rows_word, wanted.rows_shift, wanted.rows_mask);
    }
  });
  __syncwarp(FULL_MASK);
  ega_add_up(out + 1, left);
  ega_add_up(out + 2, unsure);
}
