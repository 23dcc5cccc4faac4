// The groups of a table leave it in order of their hashes, and the table stays as it is: slots are
// chosen by the top bits of the hash and probed in line (HASH-ORDER), so that the groups of a fine
// bucket, an equal part of all hashes, lie in the slots where these hashes begin and shortly
// behind.
//
//   ega_order_count  how many groups each fine bucket has, and how far at most a row lies from
//                    where its hash begins
//   ega_order_from   where the groups of each fine bucket are, were all of them dense and in order
//   ega_order_take   the groups of some fine buckets, dense and in order
//
// Who takes part: in the first all threads, each for every so many'th slot; then a thread, and at
// last a warp, for each bucket. Nobody changes the table meanwhile. Only the first reads all slots:
// warps add up what neighbours have, as those are mostly of one bucket, so that a warp has few
// atomics.
//
// WITHIN-CLUSTER  A row lies where its hash begins or behind, with no empty slot in between: it
//                 went by none, and no row is taken out. So all rows of a bucket have been seen at
//                 the first empty slot behind those where its hashes begin. Behind the last slot
//                 comes slot 0.
// WITHIN-REACH    A table that has been full for long has hardly an empty slot left. But no row
//                 lies `reach` slots or more from where its hash begins, as ega_order_count has
//                 found.
//
// A row's place in its bucket is how many rows of it come before it. Each lane compares its hashes
// with those of all rows: as many steps as rows, which is little for the two dozen that buckets are
// made for. Larger buckets are few, and their rows come out in the order of their slots. Rows of
// one hash have any order: what is to come first among them, the host knows.
#include "ega_gather.cuh"
#include "scan.cuh"

// Most rows of a bucket that is put in order: ORDER_ROWS a lane.
constexpr uint32_t ORDER_ROWS = 3;
constexpr uint32_t ORDER_MOST = ORDER_ROWS * warpSize;
constexpr uint32_t ORDER_THREADS = 256;

// OrderBucket is a fine bucket of a table, and a warp's walk over the slots in which it may have
// rows.
template <class Shape>
struct OrderBucket {
  EgaGlobal place;
  uint32_t bucket, fine;  // its number, of 2^fine
  uint64_t last;          // the last slot where its hashes begin
  uint64_t at;            // of the lane
  uint64_t end;           // behind the last slot that may have one of its rows
  uint64_t hash;          // of the row in the lane's slot, if there is one

  __device__ __forceinline__ OrderBucket(const EgaLayout& layout, const EgaTable& table, uint32_t reach, uint32_t b,
                                         uint32_t fine)
      : place(table, ega_stride<Shape>(layout)), bucket(b), fine(fine) {
    uint64_t low = uint64_t(b) << (64 - fine), start = ega_start(low, 0, table.slots);
    last = ega_start(low | ~uint64_t(0) >> fine, 0, table.slots);
    at = start + lane_id();
    end = last + reach;
    if (end > start + table.slots) end = start + table.slots;
  }
  __device__ __forceinline__ uint32_t slot() const {
    return static_cast<uint32_t>(at < place.table.slots ? at : at - place.table.slots);
  }
  __device__ __forceinline__ bool has(uint64_t h) const { return uint32_t(h >> (64 - fine)) == bucket; }

  // look says in which of the next 32 slots there are rows of the bucket; done: behind them there
  // are none.
  __device__ __forceinline__ uint32_t look(const EgaLayout& layout, bool& done) {
    bool within = at < end, used = within && ega_used<Shape>(layout, place, slot());
    hash = used ? *place.word(slot(), 0) : 0;
    done = __any_sync(FULL_MASK, !within || (!used && at > last));
    return __ballot_sync(FULL_MASK, used && has(hash));
  }
  __device__ __forceinline__ void next() { at += warpSize; }

  // extra says whether the row of the slot behind all others is one of the bucket.
  __device__ __forceinline__ bool extra(const EgaLayout& layout) const {
    return ega_used<Shape>(layout, place, place.extra()) && has(*place.word(place.extra(), 0));
  }
};

// order_count adds the rows in a thread's slots, every so many'th, to the counts of their buckets.
// It returns the most slots that one lies from where its hash begins, and one. All lanes of a warp
// call.
template <class Shape>
__device__ __forceinline__ uint32_t order_count(const EgaLayout& layout, const EgaTable& table, uint32_t fine,
                                                uint32_t* counts) {
  const EgaGlobal place(table, ega_stride<Shape>(layout));
  uint32_t farthest = 0;
  for (uint64_t first = uint64_t(blockIdx.x) * blockDim.x; first <= table.slots; first += global_threads()) {
    const uint64_t i = first + threadIdx.x;
    const uint32_t slot = static_cast<uint32_t>(i);
    const bool used = i <= table.slots && ega_used<Shape>(layout, place, slot);
    const uint64_t hash = used ? *place.word(slot, 0) : 0;
    if (used && slot != place.extra()) {
      const uint32_t start = place.start(hash);
      const uint32_t far = (slot >= start ? slot - start : slot + (table.slots - start)) + 1;
      if (far > farthest) farthest = far;
    }
    const uint32_t bucket = static_cast<uint32_t>(hash >> (64 - fine));
    uint32_t left = __ballot_sync(FULL_MASK, used);
    while (left != 0) {  // the same for all lanes
      const uint32_t leader = __ffs(left) - 1, of = __shfl_sync(FULL_MASK, bucket, leader);
      const uint32_t same = __ballot_sync(FULL_MASK, used && bucket == of);
      if (lane_id() == leader) atomicAdd(counts + of, uint32_t(__popc(same)));
      left &= ~same;
    }
  }
  return farthest;
}

// Adds to counts[b] how many rows bucket b has, of 2^fine, and makes *reach the most slots from
// where a row's hash begins to its own, both counted; both are 0 before. Threads a block: a
// multiple of 32; any number of blocks. No barriers.
extern "C" __global__ void __launch_bounds__(ORDER_THREADS)
    ega_order_count(EgaLayout layout, EgaTable table, uint32_t fine, uint32_t* counts, uint64_t* reach) {
  uint32_t farthest = layout.key_words == 1 ? order_count<EgaKeys<1>>(layout, table, fine, counts)
                                            : order_count<EgaAny>(layout, table, fine, counts);
  for (uint32_t distance = 16; distance > 0; distance /= 2) {
    uint32_t other = __shfl_xor_sync(FULL_MASK, farthest, distance);
    if (other > farthest) farthest = other;
  }
  if (lane_id() == 0) atomicMax(reach, uint64_t(farthest));
}

// Sets from[b], the number of rows of bucket b of 2^fine, to that of all buckets before b, and
// from[2^fine] to that of all. Of each 2^shift'th bucket, and of all, it sets coarse to the same. A
// block for ORDER_THREADS buckets; a word a block of `tiles` is 0 before. Blocks wait for blocks
// before them only (RESIDENT-ORDER). The barriers are those of the block's sum, and one for what
// comes before the block.
extern "C" __global__ void __launch_bounds__(ORDER_THREADS)
    ega_order_from(uint32_t fine, uint32_t shift, uint32_t* from, uint32_t* coarse, uint64_t* tiles) {
  __shared__ uint32_t scratch[SCAN_SCRATCH];
  __shared__ uint64_t before;
  uint32_t buckets = 1u << fine, b = blockIdx.x * ORDER_THREADS + threadIdx.x, count = b < buckets ? from[b] : 0;
  uint32_t all;
  uint32_t inside = block_sum_before(count, scratch, all);
  if (warp_id() == 0) {
    uint64_t sum = ega_look_back(tiles, blockIdx.x, all);
    if (lane_id() == 0) before = sum;
  }
  __syncthreads();
  if (b >= buckets) return;
  const uint32_t at = static_cast<uint32_t>(before) + inside;
  from[b] = at;
  if ((b & ((1u << shift) - 1)) == 0) coarse[b >> shift] = at;
  if (b + 1 == buckets) from[buckets] = coarse[buckets >> shift] = at + count;
}

// OrderWindow is what part of a bucket's rows goes where: row k of the bucket to `to` + (k - skip),
// where that is below `rows`, as numbers without sign that may pass 0.
struct OrderWindow {
  uint64_t* to;
  uint32_t skip, rows;
};

// order_copy copies the row of a slot to row k of a window. The lanes of a full warp call.
__device__ __forceinline__ void order_copy(const EgaGlobal& place, uint32_t slot, const OrderWindow& window, uint32_t k) {
  if (k - window.skip >= window.rows) return;
  uint64_t* to = window.to + uint64_t(k - window.skip) * place.stride;
  for (uint32_t w = lane_id(); w < place.stride; w += warpSize) to[w] = *place.word(slot, w);
}

// order_unsorted copies the rows of a bucket as they lie in the table. The lanes of a full warp
// call.
template <class Shape>
__device__ __forceinline__ void order_unsorted(const EgaLayout& layout, OrderBucket<Shape>& bucket, uint32_t n,
                                               const OrderWindow& window) {
  uint32_t k = 0;
  if (bucket.extra(layout)) order_copy(bucket.place, bucket.place.extra(), window, k++);
  for (bool done = false; k < n && !done; bucket.next()) {
    uint32_t slot = bucket.slot();
    for (uint32_t mask = bucket.look(layout, done); mask != 0; mask &= mask - 1) {
      order_copy(bucket.place, __shfl_sync(FULL_MASK, slot, __ffs(mask) - 1), window, k++);
    }
  }
}

// OrderRows is the rows of a bucket that a warp puts in order, in shared memory.
struct OrderRows {
  uint64_t hash[ORDER_MOST];
  uint32_t slot[ORDER_MOST];    // in any order
  uint32_t sorted[ORDER_MOST];  // in order of hashes
};

// order_find collects the rows of a bucket. The lanes of a full warp call.
template <class Shape>
__device__ __forceinline__ void order_find(const EgaLayout& layout, OrderBucket<Shape>& bucket, uint32_t n,
                                           OrderRows& rows) {
  uint32_t k = 0;
  if (bucket.extra(layout)) {
    if (lane_id() == 0) {
      rows.hash[k] = *bucket.place.word(bucket.place.extra(), 0);
      rows.slot[k] = bucket.place.extra();
    }
    k++;
  }
  for (bool done = false; k < n && !done; bucket.next()) {
    uint32_t mask = bucket.look(layout, done), mine = k + __popc(mask & lanes_below());
    if ((mask >> lane_id() & 1) != 0 && mine < n) {
      rows.hash[mine] = bucket.hash;
      rows.slot[mine] = bucket.slot();
    }
    k += __popc(mask);
  }
  __syncwarp(FULL_MASK);
}

// order_sort puts n rows in order. The lanes of a full warp call.
__device__ __forceinline__ void order_sort(OrderRows& rows, uint32_t n) {
  for (uint32_t i = lane_id(); i < n; i += warpSize) {
    uint64_t hash = rows.hash[i];
    uint32_t place = 0;
    for (uint32_t k = 0; k < n; k++) {
      uint64_t other = rows.hash[k];
      place += other < hash || (other == hash && k < i);
    }
    rows.sorted[place] = rows.slot[i];
  }
  __syncwarp(FULL_MASK);
}

// order_bucket copies the rows of a bucket, n of them. The lanes of a full warp call.
template <class Shape>
__device__ __forceinline__ void order_bucket(const EgaLayout& layout, const EgaTable& table, uint32_t reach, uint32_t b,
                                             uint32_t fine, uint32_t n, const OrderWindow& window, OrderRows& rows) {
  OrderBucket<Shape> bucket(layout, table, reach, b, fine);
  if (n > ORDER_MOST) {
    order_unsorted(layout, bucket, n, window);
    return;
  }
  order_find(layout, bucket, n, rows);
  order_sort(rows, n);
  uint32_t stride = bucket.place.stride;
  for (uint32_t word = lane_id(); word < n * stride; word += warpSize) {
    uint32_t row = word / stride, w = word - row * stride;  // of few words
    if (row - window.skip < window.rows) {
      window.to[uint64_t(row - window.skip) * stride + w] = *bucket.place.word(rows.sorted[row], w);
    }
  }
  __syncwarp(FULL_MASK);  // the next bucket's rows may take the memory
}

// Copies the rows of `buckets` buckets, from number `first` on, to `to`, one bucket behind the
// other: of these rows at most `rows`, from number `skip` on. Threads a block: ORDER_THREADS; any
// number of blocks. No barriers but those of warps.
extern "C" __global__ void __launch_bounds__(ORDER_THREADS) ega_order_take(EgaLayout layout, EgaTable table,
                                                                           uint32_t reach, uint32_t fine,
                                                                           const uint32_t* from, uint32_t first,
                                                                           uint32_t buckets, uint32_t skip, uint32_t rows,
                                                                           uint64_t* to) {
  __shared__ OrderRows memory[ORDER_THREADS / warpSize];
  uint32_t warps = global_threads() / warpSize;
  for (uint32_t i = global_warp(); i < buckets; i += warps) {
    uint32_t b = first + i, n = from[b + 1] - from[b], before = from[b] - from[first];
    if (n == 0 || uint64_t(before) + n <= skip || before >= uint64_t(skip) + rows) continue;
    OrderWindow window{to, skip - before, rows};
    if (layout.key_words == 1) {
      order_bucket<EgaKeys<1>>(layout, table, reach, b, fine, n, window, memory[warp_id()]);
    } else {
      order_bucket<EgaAny>(layout, table, reach, b, fine, n, window, memory[warp_id()]);
    }
  }
}
