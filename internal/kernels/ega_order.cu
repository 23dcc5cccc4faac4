// The rows of fine buckets are put in order of their hashes, so that whoever reads bucket after bucket reads rows in
// order.
//
//   ega_order_buckets   rows go to their place in their bucket
//
// Who takes part: a warp for each bucket, in turns. What is read: the rows of a bucket, the first words of rows
// twice. What is written: the same rows, in other memory. There are no barriers, and a warp is never divided
// where lanes exchange words.
//
// A row's place is how many rows of its bucket come before it. Each lane compares its hashes with those of all
// rows: as many steps as rows, which is little for the two dozen that buckets are made for. Larger buckets are few, and are copied
// as they are. Rows of one hash keep their order: what is to come first among them, the host knows.
#include "device.cuh"

// Most rows of a bucket that is put in order: ORDER_ROWS a lane.
constexpr uint32_t ORDER_ROWS = 2;
constexpr uint32_t ORDER_MOST = ORDER_ROWS * warpSize;

// order_places sets place[j] to the place of row lane + 32 j among n rows, at most ORDER_MOST, of `stride` words, of
// which the first is the hash. All lanes of a warp call; those without a row get places that mean nothing.
__device__ __forceinline__ void order_places(const uint64_t* rows, uint32_t n, uint32_t stride, uint32_t* place) {
  uint64_t hash[ORDER_ROWS];
#pragma unroll
  for (uint32_t j = 0; j < ORDER_ROWS; j++) {
    uint32_t row = lane_id() + j * warpSize;
    hash[j] = row < n ? rows[uint64_t(row) * stride] : 0;
    place[j] = 0;
  }
  for (uint32_t k = 0; k < n; k++) {
    uint64_t other = rows[uint64_t(k) * stride];
#pragma unroll
    for (uint32_t j = 0; j < ORDER_ROWS; j++) {
      place[j] += other < hash[j] || (other == hash[j] && k < lane_id() + j * warpSize);
    }
  }
}

// Copies the rows of buckets to the same buckets in `to`, those of buckets of up to ORDER_MOST rows in order of their
// hashes. Bucket b is the rows from[b] to from[b + 1].
extern "C" __global__ void __launch_bounds__(256) ega_order_buckets(const uint64_t* rows, uint64_t* to,
                                                                     const uint32_t* from, uint32_t buckets,
                                                                     uint32_t stride) {
  uint32_t warps = global_threads() / warpSize;
  for (uint32_t b = global_warp(); b < buckets; b += warps) {
    uint32_t first = from[b], n = from[b + 1] - first;
    const uint64_t* in = rows + uint64_t(first) * stride;
    uint64_t* out = to + uint64_t(first) * stride;
    bool ordered = n <= ORDER_MOST;
    uint32_t place[ORDER_ROWS];
    if (ordered) order_places(in, n, stride, place);
    uint64_t words = uint64_t(n) * stride;
    for (uint64_t done = 0; done < words; done += warpSize) {  // all lanes take all turns
      uint64_t word = done + lane_id();
      if (!ordered) {
        if (word < words) out[word] = in[word];
        continue;
      }
      uint32_t row = uint32_t(word) / stride;  // of few words
      uint32_t low = __shfl_sync(FULL_MASK, place[0], row % warpSize);
      uint32_t high = __shfl_sync(FULL_MASK, place[1], row % warpSize);
      uint32_t at = row < warpSize ? low : high;
      if (word < words) out[uint64_t(at) * stride + (uint32_t(word) - row * stride)] = in[word];
    }
  }
}
