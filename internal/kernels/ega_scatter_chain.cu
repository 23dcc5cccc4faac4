// Rows are divided into chains of pages: see ega_scatter_chain.cuh.
//
//   ega_scatter_chain_pairs, _even, _odd   appends rows (of 2, an even, an odd number of words)
//   ega_scatter_chain_sum, _settle         after that, and to give chains back: CHAIN-FULL
//   ega_scatter_chain_list                 the pages of all chains
//   ega_scatter_chain_gather               rows of a chain, made dense
#include "device.cuh"

#include "ega_scatter_chain.cuh"

__device__ __forceinline__ bool chain_freed(const ScatterSettled& settled, uint32_t partition) {
  return partition - settled.first < settled.n;
}

// Begins to settle: what chains have that end with a full page. Any number of threads, each of
// which takes every so many'th partition; no barriers. So do settle and list, with slots of the
// directory.
extern "C" __global__ void ega_scatter_chain_sum(ScatterChains chains, ScatterSettled settled, uint32_t partitions) {
  for (uint32_t p = global_thread(); p < partitions; p += global_threads()) {
    if (chain_freed(settled, p)) chains.lengths[p] = 0;
    settled.rows[p] = uint64_t(chains.lengths[p]) * chains.page_rows;
    settled.numbers[p] = 0;
  }
}

// Ends it: each page is given back, or goes to the new directory with a new number, the last one to
// the page that is not full.
extern "C" __global__ void ega_scatter_chain_settle(ScatterChains chains, ScatterSettled settled) {
  for (uint32_t i = global_thread(); i < chains.slots; i += global_threads()) {
    uint64_t entry = chains.directory[i];
    uint32_t page = chain_page(entry);
    if (entry == CHAIN_EMPTY || page == PAGE_NONE) continue;
    uint32_t p = chain_partition(entry);
    if (chain_freed(settled, p)) {
      page_free<PageBits>(chains.pool, page);
      continue;
    }
    uint32_t in_last = uint32_t(chains.rows[p] % chains.page_rows);
    uint32_t number = chains.lengths[p] - 1;
    if (in_last != 0 && chain_number(entry) == chains.rows[p] / chains.page_rows) {
      settled.rows[p] = uint64_t(number) * chains.page_rows + in_last;
    } else {
      number = atomicAdd(settled.numbers + p, 1u);
    }
    chain_enter(settled.directory, chains.slots, chain_key(p, number), page);
  }
}

// Lists the pages of settled chains, those of chain i by number from pages[from[i]] on.
extern "C" __global__ void ega_scatter_chain_list(ScatterChains chains, const uint32_t* from, uint32_t* pages) {
  for (uint32_t i = global_thread(); i < chains.slots; i += global_threads()) {
    uint64_t entry = chains.directory[i];
    if (entry == CHAIN_EMPTY) continue;
    pages[from[chain_partition(entry)] + chain_number(entry)] = chain_page(entry);
  }
}

// Copies n rows of a chain, from row `first` on, to the start of `to`. pages are those of the
// chain, as listed. Any number of threads, each of which takes every so many'th word; no barriers.
extern "C" __global__ void ega_scatter_chain_gather(ScatterChains chains, const uint32_t* pages, uint32_t stride, uint64_t first,
                                                    uint32_t n, uint64_t* to) {
  uint32_t page_words = chains.page_rows * stride;
  uint64_t begin = first * stride;
  for (uint64_t i = global_thread(); i < uint64_t(n) * stride; i += global_threads()) {
    uint64_t word = begin + i;
    uint64_t page = word / page_words;
    const uint64_t* rows = reinterpret_cast<const uint64_t*>(page_address(chains.pool, pages[page]));
    to[i] = rows[word - page * page_words];
  }
}

// chain_own finds pages for lanes whose they are to find, and writes them to the directory, or that
// there is none. Returns the page or PAGE_NONE. All lanes of a full warp call, and those that own
// none help to look. Once one block was refused nobody asks again: what would be found was given
// back meanwhile, and each search that fails reads the whole bitmap.
__device__ __forceinline__ uint32_t chain_own(const ScatterChains& chains, const ScatterLeft& left, PageWalk& walk,
                                              bool owns, uint32_t partition, uint32_t number) {
  bool wants = owns && ld_relaxed(left.status) == STATUS_OK;
  uint32_t page = page_get_together<PageBits>(chains.pool, walk, FULL_MASK, wants);
  if (!owns) return PAGE_NONE;
  if (page == PAGE_NONE) {
    report(left.status, STATUS_OUT_OF_PAGES);
  } else {
    atomicAdd(chains.lengths + partition, 1u);
  }
  chain_enter(chains.directory, chains.slots, chain_key(partition, number), page);
  return page;
}

// chain_await finds the page that another block owns, or PAGE_NONE if it has found none. Lanes that
// wait for nothing call with `waits` false. Ends by CHAIN-ENDS.
__device__ __forceinline__ uint32_t chain_await(const ScatterChains& chains, bool waits, uint32_t partition,
                                                uint32_t number) {
  uint64_t entry = CHAIN_EMPTY;
  while (__any_sync(FULL_MASK, waits && entry == CHAIN_EMPTY)) {
    if (waits && entry == CHAIN_EMPTY) entry = chain_find(chains, chain_key(partition, number));
    if (waits && entry == CHAIN_EMPTY) __nanosleep(100);
  }
  return chain_page(entry);
}

// chain_rooms finds where the parts of a tile go. Before, rooms has of each part the place of its
// first row, as row and number of a page, and in `more` how many rows it has; after it, the room,
// counted from places of the tile on, mod 2^32. All threads of a block of full warps call, each for
// every so many'th partition; no barriers. First the pages are found that are this block's to find,
// then those of others are waited for.
__device__ __forceinline__ void chain_rooms(const ScatterChains& chains, const ScatterLeft& left, uint32_t partitions,
                                            const uint32_t* starts, ChainRoom* rooms) {
  PageWalk walk = page_walk(chains.pool, global_thread());
  uint32_t waiting = 0;  // bit i: the i-th partition of this thread
  for (uint32_t p = threadIdx.x, bit = 1; p - threadIdx.x < partitions; p += blockDim.x, bit *= 2) {
    ChainRoom room = p < partitions ? rooms[p] : ChainRoom{0, 0, 0};
    uint32_t n = room.more;
    bool begins = n > 0 && room.first == 0;
    bool crosses = room.first + n > chains.page_rows;  // then it does not begin a page: n is page_rows at most
    uint32_t own = PAGE_NONE;
    if (__any_sync(FULL_MASK, begins || crosses)) {
      own = chain_own(chains, left, walk, begins || crosses, p, room.page + crosses);
    }
    if (n > 0 && !begins) waiting |= bit;
    if (begins) room.page = own;
    room.more = own;
    if (p >= partitions) continue;
    room.first -= starts[p];
    rooms[p] = room;
  }
  for (uint32_t p = threadIdx.x, bit = 1; p - threadIdx.x < partitions; p += blockDim.x, bit *= 2) {
    bool waits = (waiting & bit) != 0;
    if (!__any_sync(FULL_MASK, waits)) continue;
    uint32_t page = chain_await(chains, waits, p, waits ? rooms[p].page : 0);
    if (waits) rooms[p].page = page;
  }
}

// chain_left says whether rows of this tile are still to be placed. All threads see
// the same, as no bit is changed before the next barrier.
__device__ __forceinline__ bool chain_left(const ScatterLeft& left, uint32_t first, uint32_t n) {
  uint32_t any = 0;
  for (uint32_t i = 0; i < n; i += 32) any |= left.rows[(first + i) / 32];
  return any != 0;
}

// chain_leave sets the bits of the rows that got no page: of the n at places of the tile, which
// begins with row first. Full warps call; the lanes of a warp add to the count together.
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
    Unit* to = reinterpret_cast<Unit*>(page_address(chains.pool, page));
    to[uint64_t(row) * units.d + within] = held[order_row(entry) * units.d + within];
  }
}

// chain_append appends a tile to the chains, `units` units a row. A block, of full warps, a tile.
// Dynamic shared memory: the tile, `order`, a word and a ChainRoom a partition, and SCAN_SCRATCH.
//
// Barriers: behind the tile's copy and the zeroed counters; those of scatter_order, the last one
// also behind what was asked for, in `rooms`, and before the bits that were read are cleared; and
// one behind these bits, behind `rooms` as it then is, and behind any report of this block's, so
// that either all its warps see that rows may be left, or none has to.
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
  auto ask = [&](uint32_t p, uint32_t count) { return atomicAdd(chains.rows + p, uint64_t(count)); };
  auto tell = [&](uint32_t p, uint32_t count, uint32_t, uint64_t before) {
    uint64_t number = before / chains.page_rows;
    rooms[p] = {uint32_t(before - number * chains.page_rows), uint32_t(number), count};
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
