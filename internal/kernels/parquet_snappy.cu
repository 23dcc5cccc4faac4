// Decompression of Snappy pages (snappy.cuh).
//
// Walking from tag to tag takes a thread some 300 cycles each, and a copy may need what the copy
// before it makes: a thread would take 40 ms or more for a page of strings. Here tags are found and
// copies are followed by pointer jumping, and a page is the work of many blocks of threads, in five
// kernels that run one after the other on all pages:
//
//   link    as chain_page.cuh has it, for windows that are not known to lie within a long literal
//   walk    likewise; the last element has to end where the page does
//   find    likewise: what the elements of windows come to tells where their output begins
//   expand  a block for each fragment of the output. Of a byte that is equal to one of a fragment
//           before, it finds out to which. There are none of Google's encoder, which takes so much
//           at once and forgets what was before; many of klauspost/compress
//   join    these bytes, from fragment to fragment
//
// A block takes the elements of its fragment in batches, an element a thread:
//
//  1. lengths are added up, so that each element knows where its bytes go; those before and behind
//     the fragment go nowhere;
//  2. for a piece of the output of the batch, each element writes an origin for each of its bytes
//     (snappy_output.cuh);
//  3. origins are followed until all bytes are known;
//  4. the piece is written. The next one can read it.
//
// A literal longer than SNAPPY_LONG ends its batch, and the block copies it. That is most of what
// doubles come to.
//
// Invariants:
//
//   BEHIND   Output of the fragment before a piece is complete, and all threads of its block see
//            it.
//   APART    Blocks that expand write nothing but their own fragment, and read no other. Those that
//            join write the bytes of theirs that have a source, and read bytes that have none; they
//            replace these bytes' sources by later ones on the same way, and read others'.
//   INSIDE   Before an element is followed it is known to lie in the block as a whole (walk), its
//            copy not to begin before the page, and all elements together to come to the page's
//            size (WITHIN of parquet.cuh).
//
// Cost, of codes of 12 characters behind their length, 240,000 elements in 2 MB, in instructions of
// a thread for a byte of output, estimated from the PTX: link 40, find 70, expand 60, of which 25
// are to follow origins (2.4 steps, of a warp 4.8). A multiprocessor starts 128 a cycle at best.
// There are fewer fragments than multiprocessors as a rule, and the warps of a block wait for each
// other and for shared memory: a block has as many of them as there can be. Walking takes some 100
// cycles for each 4 KiB of the page. Shared memory: 33 KiB a block, static.
#include "device.cuh"

#include "parquet.cuh"
#include "snappy_output.cuh"
#include "snappy_tags.cuh"

// In bytes. Not measured: shorter literals go by origins, at 60 instructions a byte, longer ones
// end a batch whose other threads have no element then. Pages of strings and codes have none of
// either length; literals of doubles, of a whole fragment each, are far beyond.
constexpr uint32_t SNAPPY_LONG = 1024;
constexpr uint32_t SNAPPY_RESIDENT = 1;  // blocks of a multiprocessor that expand: no more than 64 registers a thread

// SnappyExpand is the shared memory of a block that expands.
struct SnappyExpand {
  alignas(8) SnappyOrigin origins[SNAPPY_PIECE + 4];
  uint32_t sums[SCAN_SCRATCH];
  uint32_t cut;      // the first element of the batch that is a long literal; SNAPPY_THREADS: none. For snappy_batch
  uint32_t place;    // that literal: where its bytes are,
  uint32_t start;    // where they go,
  uint32_t length;   // and how many they are
  uint32_t window;   // the window that the fragment begins in,
  uint32_t before;   // and what is before it
  uint32_t damaged;  // 1: a copy begins before the page, or has no offset
  uint32_t first;    // see SnappyPiece
};

// SnappyCursor is how far a fragment is: the next element is the tag-th of its window, and its
// output begins at `out`.
struct SnappyCursor {
  uint32_t window, tag, out;
};

// SnappyFragment is output bytes that are one block's.
struct SnappyFragment {
  uint32_t begin, end;
};

// snappy_part is fragment f of a page.
static __device__ __forceinline__ SnappyFragment snappy_part(const SnappyPage& page, uint32_t f) {
  const uint32_t begin = f * SNAPPY_FRAGMENT;
  return {begin, page.size - begin < SNAPPY_FRAGMENT ? page.size : begin + SNAPPY_FRAGMENT};
}

// snappy_seek finds the window whose output has byte `begin`. false: the elements do not come to
// the page's size. All threads of the block call. Two barriers for the sums, and one behind what
// was found, for each SNAPPY_THREADS windows.
static __device__ __forceinline__ bool snappy_seek(SnappyExpand& shared, const SnappyPage& page, uint32_t begin,
                                                   SnappyCursor& cursor) {
  uint32_t sum = 0;
  for (uint32_t first = 0; first < page.window_count; first += SNAPPY_THREADS) {
    const uint32_t window = first + threadIdx.x;
    const uint32_t bytes = window < page.window_count ? page.windows[window].sum : 0;
    uint32_t total;
    const uint32_t before = sum + block_sum_before(bytes, shared.sums, total);
    if (before <= begin && begin < before + bytes) {
      shared.window = window;
      shared.before = before;
    }
    sum += total;
    __syncthreads();
  }
  cursor = {shared.window, 0, shared.before};
  return sum == page.size;
}

// snappy_literal is the part of the long literal in `shared` that is in the fragment; it may be
// empty.
static __device__ __forceinline__ SnappyFragment snappy_literal(const SnappyExpand& shared, const SnappyFragment& fragment) {
  const uint32_t start = shared.start, end = start + shared.length;
  return {start > fragment.begin ? start : fragment.begin, end < fragment.end ? end : fragment.end};
}

// snappy_copy copies that part.
static __device__ __forceinline__ void snappy_copy(const SnappyExpand& shared, const SnappyPage& page,
                                                   const SnappyFragment& fragment) {
  const SnappyFragment part = snappy_literal(shared, fragment);
  if (part.begin >= part.end) return;
  block_copy(page.output + part.begin, page.elements + shared.place + (part.begin - shared.start), part.end - part.begin);
}

// snappy_own says that its bytes have no source, if the fragment has sources.
static __device__ __forceinline__ void snappy_own(const SnappyExpand& shared, const SnappyPage& page,
                                                  const SnappyFragment& fragment) {
  if (shared.first == SNAPPY_OWN) return;
  const SnappyFragment part = snappy_literal(shared, fragment);
  for (uint32_t o = part.begin + threadIdx.x; o < part.end; o += blockDim.x) page.sources[o] = SNAPPY_OWN;
}

// snappy_damaged tells whether an element whose output begins at `start` is a copy of nothing.
static __device__ __forceinline__ bool snappy_damaged(const SnappyElement& element, uint32_t start) {
  return !element.literal && element.length != 0 && (element.offset == 0 || element.offset > start);
}

// snappy_pieces is phases 2 to 4 for the output bytes lo to hi of a batch. The barriers: behind the
// origins, and behind the output (BEHIND).
static __device__ __forceinline__ void snappy_pieces(SnappyExpand& shared, const SnappyPage& page,
                                                     const SnappyElement& element, uint32_t tag, uint32_t start, uint32_t lo,
                                                     uint32_t hi, uint32_t fragment) {
  for (uint32_t begin = lo; begin < hi; begin += SNAPPY_PIECE) {
    SnappyPiece piece{begin, hi - begin < SNAPPY_PIECE ? hi : begin + SNAPPY_PIECE, 0, shared.origins, fragment, &shared.first};
    piece.skew = reinterpret_cast<uintptr_t>(page.output + begin) % 4;
    snappy_mark(page, piece, snappy_span(element, tag, start, piece));
    __syncthreads();
    snappy_write(page, piece);
    __syncthreads();
  }
}

// snappy_batch expands the next elements, from one window or two, and moves the cursor behind them;
// false: the page is damaged. The barriers: those of the sum; one behind `damaged` and the long
// literal; those of the pieces; and one behind the literal and the reset of `cut`.
static __device__ __forceinline__ bool snappy_batch(SnappyExpand& shared, const SnappyPage& page,
                                                             const SnappyFragment& fragment, SnappyCursor& cursor) {
  const uint32_t here = page.windows[cursor.window].count - cursor.tag;
  uint32_t behind = cursor.window + 1, there = 0;
  while (behind < page.window_count && (there = page.windows[behind].count) == 0) behind++;
  const uint32_t both = here + there;
  uint32_t count = both < SNAPPY_THREADS ? both : SNAPPY_THREADS;

  const uint32_t i = threadIdx.x, window = i < here ? cursor.window : behind;
  uint32_t tag = 0;
  SnappyElement element{0, 0, 0, true};
  if (i < count) {
    tag = window * CHAIN_WINDOW + page.table[window * CHAIN_ENTRIES + (i < here ? cursor.tag + i : i - here)];
    element = snappy_element(page.elements + tag);
    if (element.length > SNAPPY_LONG) atomicMin(&shared.cut, i);
  }
  uint32_t total;
  const uint32_t start = cursor.out + block_sum_before(element.length, shared.sums, total);
  const uint32_t cut = shared.cut;
  if (snappy_damaged(element, start)) st_relaxed(&shared.damaged, 1);
  if (i == cut) {
    shared.place = tag + element.header;
    shared.start = start;
    shared.length = element.length;
  }
  __syncthreads();
  if (shared.damaged != 0) return false;

  uint32_t end = cursor.out + total, next = end;
  if (cut < count) {
    count = cut + 1;
    end = shared.start;
    next = end + shared.length;
    snappy_copy(shared, page, fragment);
  }
  const uint32_t lo = cursor.out > fragment.begin ? cursor.out : fragment.begin;
  snappy_pieces(shared, page, element, tag, start, lo, end < fragment.end ? end : fragment.end, fragment.begin);
  if (cut < SNAPPY_THREADS) snappy_own(shared, page, fragment);
  if (i == 0) shared.cut = SNAPPY_THREADS;
  __syncthreads();
  cursor = count < here ? SnappyCursor{cursor.window, cursor.tag + count, next} : SnappyCursor{behind, count - here, next};
  return true;
}

// snappy_fragment expands a fragment that is not empty; false: the page is damaged.
static __device__ __forceinline__ bool snappy_fragment(SnappyExpand& shared, const SnappyPage& page,
                                                       const SnappyFragment& fragment) {
  SnappyCursor cursor;
  if (threadIdx.x == 0) shared.first = SNAPPY_OWN;
  if (!snappy_seek(shared, page, fragment.begin, cursor)) return false;
  while (cursor.out < fragment.end) {
    if (!snappy_batch(shared, page, fragment, cursor)) return false;
  }
  return true;
}

// SnappyShare is the page that a block works for, and which of its windows or fragments are the
// block's: every parts-th from `part` on.
struct SnappyShare {
  SnappyPage page;
  uint32_t part, parts;
};

// snappy_share is what this block does of n pages. false: nothing, since the page is not compressed
// or is damaged, which stops the parcel.
static __device__ __forceinline__ bool snappy_share(const uint8_t* parcel, uint8_t* work, const ParquetPage* pages, uint32_t n,
                                                    uint64_t* stop, SnappyShare& share) {
  const uint32_t page = blockIdx.x % n;
  share.part = blockIdx.x / n;
  share.parts = (gridDim.x - page - 1) / n + 1;
  if (pages[page].codec != PARQUET_SNAPPY) return false;
  if (snappy_page(parcel, work, pages[page], share.page)) return true;
  if (threadIdx.x == 0) parquet_stop(stop, PARQUET_STOP_DAMAGED);
  return false;
}

// The kernels take the same parameters: pages of which some are compressed, whose places in the
// work memory have the room behind them that snappy_page.cuh tells of. Blocks: n or more; those of
// a page share its windows or fragments. A page that is damaged stops the parcel
// (PARQUET_STOP_DAMAGED); what is in its room then means nothing.

// Threads a block: CHAIN_THREADS. The first block of a page copies the levels of a v2 page.
// The barrier is for what the page begins with.
extern "C" __global__ void __launch_bounds__(CHAIN_THREADS)
    parquet_snappy_link(const uint8_t* parcel, uint8_t* work, const ParquetPage* pages, uint32_t n, uint64_t* stop) {
  __shared__ ChainTags shared;
  __shared__ SnappyFront front;
  SnappyShare share;
  if (parquet_stopped(stop, shared.sums) || !snappy_share(parcel, work, pages, n, stop, share)) return;
  if (share.part == 0) {
    const ParquetPage& page = pages[blockIdx.x % n];
    block_copy(work + page.expanded, parcel + page.at, page.size - share.page.size);
    if (threadIdx.x == 0) *share.page.across = 0;
  }
  if (share.page.n == 0) return;
  if (warp_id() == 0) {
    const SnappyFront found = snappy_front(share.page);
    if (lane_id() == 0) front = found;
  }
  __syncthreads();
  for (uint32_t w = share.part; w < share.page.window_count; w += share.parts) {
    if (!front.covers(w)) chain_page_link(shared, share.page, w, SnappyElements{});
  }
}

// Threads a block: CHAIN_WALK_THREADS; blocks: n.
extern "C" __global__ void __launch_bounds__(CHAIN_WALK_THREADS)
    parquet_snappy_walk(const uint8_t* parcel, uint8_t* work, const ParquetPage* pages, uint32_t n, uint64_t* stop) {
  __shared__ uint32_t stopped;
  __shared__ ChainTile<SnappyElements::NEAR> tile;
  SnappyShare share;
  if (parquet_stopped(stop, &stopped) || !snappy_share(parcel, work, pages, n, stop, share)) return;
  const uint32_t end = chain_walk(tile, share.page, SnappyElements{});
  if (threadIdx.x == 0 && end != share.page.n) parquet_stop(stop, PARQUET_STOP_DAMAGED);
}

// Threads a block: CHAIN_THREADS.
extern "C" __global__ void __launch_bounds__(CHAIN_THREADS)
    parquet_snappy_find(const uint8_t* parcel, uint8_t* work, const ParquetPage* pages, uint32_t n, uint64_t* stop) {
  __shared__ ChainTags shared;
  SnappyShare share;
  if (parquet_stopped(stop, shared.sums) || !snappy_share(parcel, work, pages, n, stop, share)) return;
  for (uint32_t w = share.part; w < share.page.window_count; w += share.parts) chain_page_find(shared, share.page, w, SnappyElements{});
}

// Threads a block: SNAPPY_THREADS. The barrier is behind what a fragment has left in shared memory.
extern "C" __global__ void __launch_bounds__(SNAPPY_THREADS, SNAPPY_RESIDENT)
    parquet_snappy_expand(const uint8_t* parcel, uint8_t* work, const ParquetPage* pages, uint32_t n, uint64_t* stop) {
  __shared__ SnappyExpand shared;
  SnappyShare share;
  if (threadIdx.x == 0) {
    shared.cut = SNAPPY_THREADS;
    shared.damaged = 0;
  }
  if (parquet_stopped(stop, &shared.window) || !snappy_share(parcel, work, pages, n, stop, share)) return;
  const SnappyPage& page = share.page;
  for (uint32_t f = share.part; f < page.fragments(); f += share.parts) {
    const SnappyFragment fragment = snappy_part(page, f);
    if (!snappy_fragment(shared, page, fragment)) {
      if (threadIdx.x == 0) parquet_stop(stop, PARQUET_STOP_DAMAGED);
      return;
    }
    if (threadIdx.x == 0 && page.fragments() > 1) {
      const uint32_t first = shared.first;
      page.firsts[f] = first < fragment.end ? first : fragment.end;
      if (first < fragment.end) st_relaxed(page.across, 1);
    }
    __syncthreads();
  }
}

// SNAPPY_JOINED is added to a source that has none itself: its byte is known.
constexpr uint32_t SNAPPY_JOINED = 0x80000000;

// Steps from source to source in a round. Sources that a byte has gone past are skipped by all that
// come to it later: with as many rounds as the way of a byte has digits to this base all are known,
// if all are under way at once. Not measured beside others.
constexpr uint32_t SNAPPY_STEPS = 4;

// snappy_step goes from a source that is no byte's last up to SNAPPY_STEPS on, and returns where it
// has come to: a later one, or the last + SNAPPY_JOINED (SOURCE-BACK). Other threads replace the
// sources on the way by later ones: whichever is read, it leads to the same byte.
static __device__ __forceinline__ uint32_t snappy_step(const SnappyPage& page, uint32_t source) {
  for (uint32_t step = 0; step < SNAPPY_STEPS; step++) {
    if (source < page.firsts[source / SNAPPY_FRAGMENT]) return SNAPPY_JOINED | source;
    const uint32_t next = ld_relaxed(page.sources + source);
    if (next == SNAPPY_OWN) return SNAPPY_JOINED | source;
    if (next >= SNAPPY_JOINED) return next;
    source = next;
  }
  return source;
}

// snappy_join makes the bytes of a fragment known from `first` on, where its sources begin.
static __device__ __forceinline__ void snappy_join(const SnappyPage& page, uint32_t first, uint32_t end) {
  for (bool more = true; more;) {
    more = false;
    for (uint32_t o = first + threadIdx.x; o < end; o += blockDim.x) {
      uint32_t source = ld_relaxed(page.sources + o);
      if (source >= SNAPPY_JOINED) continue;  // it is known, or SNAPPY_OWN
      source = snappy_step(page, source);
      st_relaxed(page.sources + o, source);
      if (source >= SNAPPY_JOINED) {
        page.output[o] = page.output[source - SNAPPY_JOINED];
      } else {
        more = true;
      }
    }
  }
}

// Threads a block: SNAPPY_THREADS. No barriers but that of the stop word.
extern "C" __global__ void __launch_bounds__(SNAPPY_THREADS, SNAPPY_RESIDENT)
    parquet_snappy_join(const uint8_t* parcel, uint8_t* work, const ParquetPage* pages, uint32_t n, uint64_t* stop) {
  __shared__ uint32_t stopped;
  SnappyShare share;
  if (parquet_stopped(stop, &stopped) || !snappy_share(parcel, work, pages, n, stop, share)) return;
  const SnappyPage& page = share.page;
  if (*page.across == 0) return;
  for (uint32_t f = share.part; f < page.fragments(); f += share.parts) snappy_join(page, page.firsts[f], snappy_part(page, f).end);
}
