// Rows are divided into chains of pages: see ega_scatter_chain.cuh.
//
//   ega_scatter_chain_reset         chains without pages
//   ega_scatter_chain_pairs, _even, _odd   appends rows (of 2, an even, an odd number of words)
//   ega_scatter_chain_settle        after that: counts of the newest pages; tails that can be added to again
//   ega_scatter_chain_list          the pages of some chains
//   ega_scatter_chain_free          gives listed pages back
#include "device.cuh"

#include "ega_scatter_chain.cuh"

// Empties the n chains from first on, whose pages are others' from now on or free already. Any number of threads, each of
// which takes every so many'th chain; no barriers. So do settle and list.
extern "C" __global__ void ega_scatter_chain_reset(ScatterChains chains, uint32_t first, uint32_t n) {
  for (uint32_t i = global_thread(); i < n; i += global_threads()) {
    chains.tails[first + i] = chain_tail(PAGE_NONE, chains.page_rows);
    chains.lengths[first + i] = 0;
  }
}

// Ends a launch that has appended: a tail that nobody crossed, for want of pages, has
// more rows than the page, as if somebody were crossing still.
extern "C" __global__ void ega_scatter_chain_settle(ScatterChains chains, uint32_t n) {
  for (uint32_t p = global_thread(); p < n; p += global_threads()) {
    uint64_t tail = chains.tails[p];
    uint32_t rows = chain_rows(tail) < chains.page_rows ? chain_rows(tail) : chains.page_rows;
    chains.tails[p] = chain_tail(chain_page(tail), rows);
    if (chain_page(tail) != PAGE_NONE) chain_header(chains.pool, chain_page(tail))->rows = rows;
  }
}

// Lists the pages of the n chains from first on: those of chain i begin at pages[from[i]], the newest first. A thread a
// chain, which reads one page after the other.
extern "C" __global__ void ega_scatter_chain_list(ScatterChains chains, uint32_t first, uint32_t n, const uint32_t* from,
                                                  uint32_t* pages) {
  for (uint32_t i = global_thread(); i < n; i += global_threads()) {
    uint32_t* out = pages + from[i];
    uint32_t page = chain_page(chains.tails[first + i]);
    for (uint32_t k = 0; k < chains.lengths[first + i]; k++) {
      out[k] = page;
      page = chain_header(chains.pool, page)->next;
    }
  }
}

// Gives n pages back, a thread each. Their chains are reset by the next launch.
extern "C" __global__ void ega_scatter_chain_free(PagePool pool, const uint32_t* pages, uint32_t n) {
  for (uint32_t i = global_thread(); i < n; i += global_threads()) page_free<PageBits<uint32_t>>(pool, pages[i]);
}

// chain_cross gives lanes that cross the end of a page their new one, or PAGE_NONE, and
// makes it the tail. All lanes of a full warp call, and those that do not cross help to look. Once one block was refused
// nobody asks again: what would be found was freed meanwhile, and each search that fails reads the whole bitmap.
__device__ __forceinline__ uint32_t chain_cross(const ScatterChains& chains, const ScatterLeft& left, PageWalk& walk,
                                                bool crosses, uint32_t partition, uint32_t old, uint32_t rows) {
  bool wants = crosses && ld_relaxed(left.status) == STATUS_OK;
  uint32_t page = page_get_together<PageBits<uint32_t>>(chains.pool, walk, FULL_MASK, wants);
  if (!crosses) return PAGE_NONE;
  if (page == PAGE_NONE) {
    report(left.status, STATUS_OUT_OF_PAGES);
    return PAGE_NONE;
  }
  // Only who crosses has to do with the length. The fence behind it hands it on; the one before is that of
  // page_get_together.
  uint32_t number = ld_relaxed(chains.lengths + partition);
  st_relaxed(chains.lengths + partition, number + 1);
  *chain_header(chains.pool, page) = {old, chains.page_rows, partition, number};
  if (old != PAGE_NONE) chain_header(chains.pool, old)->rows = chains.page_rows;  // settled to less by an earlier launch
  __threadfence();
  atomicExch(chains.tails + partition, chain_tail(page, rows));
  return page;
}

// chain_wait gets room for n rows of a partition whose tail another block is about to replace, none if n is 0. All
// lanes of a full warp call, each for its own partition. CHAIN-ENDS has why it ends.
__device__ __forceinline__ ChainRoom chain_wait(const ScatterChains& chains, const ScatterLeft& left, PageWalk& walk,
                                                uint32_t partition, uint32_t n) {
  uint64_t* tail = chains.tails + partition;
  ChainRoom room = {0, PAGE_NONE, PAGE_NONE};
  bool open = n > 0;
  while (__any_sync(FULL_MASK, open)) {
    bool crosses = false;
    if (open && chain_rows(ld_relaxed(tail)) <= chains.page_rows) {
      uint64_t old = atomicAdd(tail, uint64_t(n));
      if (chain_rows(old) <= chains.page_rows) {
        room.first = chain_rows(old);
        room.page = chain_page(old);
        crosses = chain_rows(old) + n > chains.page_rows;
        open = false;
      }
    } else if (open && ld_relaxed(left.status) != STATUS_OK) {
      open = false;
    } else if (open) {
      __nanosleep(100);
    }
    if (__any_sync(FULL_MASK, crosses)) {
      uint32_t more = chain_cross(chains, left, walk, crosses, partition, room.page, room.first + n - chains.page_rows);
      if (crosses) room.more = more;
    }
  }
  return room;
}

// chain_rooms finds where the parts of a tile go. Before, rooms has of each part what the tail was when its rows were
// added, page and rows, and in `more` how many these are; after it, the room, counted from places of the tile on, mod
// 2^32. All threads of a block of full warps call, each for every so many'th partition; no barriers.
__device__ __forceinline__ void chain_rooms(const ScatterChains& chains, const ScatterLeft& left, uint32_t partitions,
                                            const uint32_t* starts, ChainRoom* rooms) {
  PageWalk walk = page_walk(chains.pool, global_thread());
  uint32_t waiting = 0;  // bit i: the i-th partition of this thread
  for (uint32_t p = threadIdx.x, bit = 1; p - threadIdx.x < partitions; p += blockDim.x, bit *= 2) {
    ChainRoom room = p < partitions ? rooms[p] : ChainRoom{0, PAGE_NONE, 0};
    uint32_t n = room.more;
    bool waits = room.first > chains.page_rows;
    bool crosses = !waits && n > 0 && room.first + n > chains.page_rows;
    room.more = PAGE_NONE;
    if (__any_sync(FULL_MASK, crosses)) {
      uint32_t more = chain_cross(chains, left, walk, crosses, p, room.page, room.first + n - chains.page_rows);
      if (crosses) room.more = more;
    }
    if (waits) {
      waiting |= bit;
    } else if (p < partitions) {
      room.first -= starts[p];
      rooms[p] = room;
    }
  }
  for (uint32_t p = threadIdx.x, bit = 1; p - threadIdx.x < partitions; p += blockDim.x, bit *= 2) {
    bool waits = (waiting & bit) != 0;
    if (!__any_sync(FULL_MASK, waits)) continue;
    ChainRoom room = chain_wait(chains, left, walk, p, waits ? rooms[p].more : 0);
    if (!waits) continue;
    room.first -= starts[p];
    rooms[p] = room;
  }
}

// chain_left says whether rows of this tile are still to be placed. All threads see
// the same, as no bit is changed before the next barrier.
__device__ __forceinline__ bool chain_left(const ScatterLeft& left, uint32_t first, uint32_t n) {
  uint32_t any = 0;
  for (uint32_t i = 0; i < n; i += 32) any |= left.rows[(first + i) / 32];
  return any != 0;
}

// chain_leave sets the bits of the rows that got no page: of the n at places of the tile, which begins with row first. Full
// warps call; the lanes of a warp add to the count together.
__device__ __forceinline__ void chain_leave(const ScatterChains& chains, const ScatterLeft& left, const ChainRoom* rooms,
                                            const uint32_t* order, uint32_t first, uint32_t n) {
  for (uint32_t done = 0; done < n; done += blockDim.x) {
    uint32_t place = done + threadIdx.x;
    uint32_t entry = place < n ? order[place] : 0;
    const ChainRoom& room = rooms[order_partition(entry)];
    bool leaves = place < n && (room.first + place < chains.page_rows ? room.page : room.more) == PAGE_NONE;
    uint32_t row = first + order_row(entry);
    if (leaves) atomicOr(left.rows + row / 32, 1u << row % 32);
    uint32_t all = __ballot_sync(FULL_MASK, leaves);
    if (lane_id() == 0 && all != 0) atomicAdd(left.count, uint32_t(__popc(all)));
  }
}

// chain_move moves the rows of a tile to the pages that there is room in.
template <typename Unit>
__device__ __forceinline__ void chain_move(const ScatterChains& chains, const ChainRoom* rooms, const uint32_t* order,
                                           const Unit* held, uint32_t n, const ScatterDivisor& units) {
  for (uint32_t u = threadIdx.x; u < n * units.d; u += blockDim.x) {
    uint32_t place = units.of(u);
    uint32_t within = u - place * units.d;
    uint32_t entry = order[place];
    ChainRoom room = rooms[order_partition(entry)];
    uint32_t row = room.first + place;
    uint32_t page = room.page;
    if (row >= chains.page_rows) {
      row -= chains.page_rows;
      page = room.more;
    }
    if (page == PAGE_NONE) continue;
    Unit* to = reinterpret_cast<Unit*>(page_address(chains.pool, page) + sizeof(ChainPage));
    to[uint64_t(row) * units.d + within] = held[order_row(entry) * units.d + within];
  }
}

// chain_append appends a tile to the chains, `units` units a row. A block, of full warps, a tile. Dynamic shared
// memory: the tile, `order`, a word and a ChainRoom a partition, and SCAN_SCRATCH.
//
// Barriers: behind the tile's copy and the zeroed counters; those of scatter_order, the last one also behind the tails
// in `rooms`, and before the bits that were read are cleared; and one behind these bits, behind `rooms` as it then is, and
// behind any report of this block's, so that either all its warps see that rows may be left, or none has to.
template <typename Unit>
__device__ __forceinline__ void chain_append(const ScatterRows& rows, const ScatterChains& chains, const ScatterLeft& left,
                                             uint32_t units) {
  DYNAMIC_SHARED(uint64_t, memory);
  uint32_t first = blockIdx.x * rows.most;
  if (first >= rows.count) return;
  uint32_t n = rows.count - first < rows.most ? rows.count - first : rows.most;
  uint32_t partitions = 1u << rows.bits;
  uint32_t* order = reinterpret_cast<uint32_t*>(memory + rows.most * rows.stride);
  uint32_t* counters = order + rows.most;
  ChainRoom* rooms = reinterpret_cast<ChainRoom*>(counters + partitions);
  uint32_t* scratch = reinterpret_cast<uint32_t*>(rooms + partitions);

  if (left.again != 0 && !chain_left(left, first, n)) return;

  Unit* held = reinterpret_cast<Unit*>(memory);
  scatter_copy(held, reinterpret_cast<const Unit*>(rows.words) + uint64_t(first) * units, n * units);
  scatter_zero(counters, partitions);
  __syncthreads();
  auto there = [&](uint32_t r) { return left.again == 0 || (left.rows[(first + r) / 32] >> (r % 32) & 1) != 0; };
  auto ask = [&](uint32_t p, uint32_t count) { return atomicAdd(chains.tails + p, uint64_t(count)); };
  auto tell = [&](uint32_t p, uint32_t count, uint32_t, uint64_t tail) {
    rooms[p] = {chain_rows(tail), chain_page(tail), count};
  };
  uint32_t all = scatter_order(rows, memory, n, order, counters, scratch, there, ask, tell);
  if (left.again != 0) scatter_zero(left.rows + first / 32, (n + 31) / 32);
  chain_rooms(chains, left, partitions, counters, rooms);
  __syncthreads();
  if (__any_sync(FULL_MASK, ld_relaxed(left.status) != STATUS_OK)) chain_leave(chains, left, rooms, order, first, all);
  chain_move(chains, rooms, order, held, all, ScatterDivisor(units));
}

extern "C" __global__ void __launch_bounds__(512, 2)
    ega_scatter_chain_pairs(ScatterRows rows, ScatterChains chains, ScatterLeft left) {
  chain_append<RowPair>(rows, chains, left, 1);
}

extern "C" __global__ void __launch_bounds__(512, 2)
    ega_scatter_chain_even(ScatterRows rows, ScatterChains chains, ScatterLeft left) {
  chain_append<RowPair>(rows, chains, left, rows.stride / 2);
}

extern "C" __global__ void __launch_bounds__(512, 2)
    ega_scatter_chain_odd(ScatterRows rows, ScatterChains chains, ScatterLeft left) {
  chain_append<uint64_t>(rows, chains, left, rows.stride);
}
