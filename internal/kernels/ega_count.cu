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
