// The kernels of lists (ega_lists.cuh). Threads a block: 256; of ega_lists_begin a block for 256
// slots, of the others any number of blocks.
#include "device.cuh"

#include "ega_gather.cuh"
#include "ega_lists.cuh"
#include "scan.cuh"

constexpr uint32_t LISTS_THREADS = 256;

// Claims a slot for each of n rows, and counts those that find none.
extern "C" __global__ void __launch_bounds__(LISTS_THREADS) ega_lists_claim(EgaLayout layout, const uint64_t* rows,
                                                                            uint64_t n, EgaTable table, EgaClaim claim) {
  if (layout.key_words == 1) {
    lists_claim<EgaKeys<1>>(layout, rows, n, table, claim);
  } else {
    lists_claim<EgaAny>(layout, rows, n, table, claim);
  }
}

// Notes the values of n rows, unless *hold says that they are not taken. There is room for so many
// records.
extern "C" __global__ void __launch_bounds__(LISTS_THREADS) ega_lists_note(EgaLayout layout, const uint64_t* rows,
                                                                           uint64_t n, EgaList list,
                                                                           const uint64_t* hold) {
  if (*hold == 0) lists_note(layout, rows, n, list);
}

// Makes the word `value` of each group the number of values of all slots before, `next` 0, and
// *total the number of all values, which is below 2^32. A word a block of `tiles` is 0 before.
// Blocks wait for blocks before them only (RESIDENT-ORDER).
extern "C" __global__ void __launch_bounds__(LISTS_THREADS) ega_lists_begin(EgaLayout layout, EgaTable table,
                                                                            EgaList list, EgaScan scan) {
  __shared__ uint32_t scratch[SCAN_SCRATCH];
  __shared__ uint64_t before;
  EgaGlobal place(table, ega_stride<EgaAny>(layout));
  uint64_t slot = global_thread();
  uint32_t number = static_cast<uint32_t>(slot);
  bool there = slot <= table.slots, single = layout.key_words == 1;
  uint64_t count = 0;
  if (there) {
    count = single ? lists_count<EgaKeys<1>>(layout, place, number, list)
                   : lists_count<EgaAny>(layout, place, number, list);
  }
  uint32_t all;
  uint32_t inside = block_sum_before(static_cast<uint32_t>(count), scratch, all);
  if (warp_id() == 0) {
    uint64_t sum = ega_look_back(scan.tiles, blockIdx.x, all);
    if (lane_id() == 0) before = sum;
    if (lane_id() == 0 && blockIdx.x + 1 == gridDim.x) *scan.total = sum + all;
  }
  __syncthreads();
  if (!there) return;
  *lists_state<EgaAny>(layout, place, number, list.value) = before + inside;
  *lists_state<EgaAny>(layout, place, number, list.next) = 0;
}

// Puts the values of n records in their places, of which there are `room`; *status: one had none.
extern "C" __global__ void __launch_bounds__(LISTS_THREADS) ega_lists_place(EgaLayout layout, EgaTable table,
                                                                            EgaList list, uint64_t n, uint64_t* values,
                                                                            uint64_t room, uint32_t* status) {
  if (layout.key_words == 1) {
    lists_place<EgaKeys<1>>(layout, table, list, n, values, room, status);
  } else {
    lists_place<EgaAny>(layout, table, list, n, values, room, status);
  }
}
