// The page pool under test: threads that take and give back pages at random, and see
// to it that nobody else has theirs. Threads a block: a multiple of 32; nothing is
// shared, and there are no barriers beside those of the functions under test.
//
//   pages_stress_METHOD   a pool of that method (names as in pages_bench.cu)
//   pages_stress_malloc   page_malloc and page_free_bytes; in the end all is given back
#include "../device.cuh"

#include "pages_malloc.cuh"
#include "pages_method.cuh"
#include "pages_stress.cuh"

// The words at the start of a page that its owner writes; the smallest page has 8.
constexpr uint32_t PAGE_STRESS_WORDS = 8;

__device__ __forceinline__ void page_stress_enter(const PagePool& pool, const PageStress& stress, uint32_t page) {
  uint32_t owner = global_thread() + 1;
  if (page >= pool.count) {
    atomicAdd(&stress.faults->strange, 1u);
    return;
  }
  owner_enter(stress.owners, page, owner, stress.faults);
  uint32_t* words = reinterpret_cast<uint32_t*>(page_address(pool, page));
  for (uint32_t i = 0; i < PAGE_STRESS_WORDS; i++) words[i] = owner * 31 + i;
}

__device__ __forceinline__ void page_stress_leave(const PagePool& pool, const PageStress& stress, uint32_t page) {
  uint32_t owner = global_thread() + 1;
  const uint32_t* words = reinterpret_cast<const uint32_t*>(page_address(pool, page));
  uint32_t spoiled = 0;
  for (uint32_t i = 0; i < PAGE_STRESS_WORDS; i++) spoiled += words[i] != owner * 31 + i;
  if (spoiled != 0) atomicAdd(&stress.faults->spoiled, 1u);
  owner_leave(stress.owners, page, owner, stress.faults);
}

// In each round a thread draws one of its places, and gives its page back if there is
// one, else takes one. The lanes of a warp call in two groups of random shape, so that
// all kinds of masks come up.
template <typename Method>
__device__ __forceinline__ void page_stress_churn(const PagePool& pool, const PageStress& stress) {
  if (((stress.lanes >> lane_id()) & 1) == 0) return;
  PageWalk walk = page_walk(pool, global_thread());
  PageWalk draw = {stress.seed ^ walk.random, 0, PAGE_NONE, 0};
  uint32_t held[PAGE_STRESS_HELD];
  for (uint32_t i = 0; i < PAGE_STRESS_HELD; i++) held[i] = PAGE_NONE;
  for (uint32_t round = 0; round < stress.rounds; round++) {
    uint32_t random = page_random(draw);
    uint32_t place = random % PAGE_STRESS_HELD;
    uint32_t page = held[place];
    bool asks = page == PAGE_NONE;
    if (!asks) {
      page_stress_leave(pool, stress, page);
      page_free<typename Method::Kind>(pool, page);
    }
    bool side = (random >> 20) % 3 == 0;
    uint32_t mask = __ballot_sync(stress.lanes, side);
    if (!side) mask = stress.lanes & ~mask;
    held[place] = Method::get(pool, stress.locks, walk, mask, asks);
    if (!asks) continue;
    if (held[place] == PAGE_NONE) {
      atomicAdd(&stress.faults->refused, 1u);
    } else {
      page_stress_enter(pool, stress, held[place]);
    }
  }
  for (uint32_t i = 0; i < PAGE_STRESS_HELD; i++) stress.held[global_thread() * PAGE_STRESS_HELD + i] = held[i];
}

#define PAGES_STRESS(name, Method)                                                   \
  extern "C" __global__ void pages_stress_##name(PagePool pool, PageStress stress) { \
    page_stress_churn<Method>(pool, stress);                                         \
  }

PAGES_STRESS(rw, PageMethodRw)
PAGES_STRESS(rwbm, PageMethodRwbm)
PAGES_STRESS(rwbm_lock, PageMethodRwbmLock)
PAGES_STRESS(corw, PageMethodCorw)
PAGES_STRESS(corw_lock, PageMethodCorwLock)
PAGES_STRESS(crw, PageMethodCrw)
PAGES_STRESS(crw_lock, PageMethodCrwLock)

// How much a thread asks for: small, a page or a few, or up to the most; at times 0.
__device__ __forceinline__ uint32_t page_stress_bytes(const PagePool& pool, uint32_t random) {
  uint32_t most = 1u << pool.page_shift;
  switch (random % 16) {
    case 0: return 0;
    case 1: most *= PAGE_RUN; break;
    case 2: most *= 4; break;
    case 3: break;
    default: most /= 2;
  }
  return 1 + page_below(random * 0x9e3779b9u, most);
}

// Marks memory as the thread's own, or looks for its marks: the first word, or byte, of
// each 16.
__device__ __forceinline__ void page_stress_mark(const PagePool& pool, const PageStress& stress, uint8_t* memory,
                                                 uint32_t bytes) {
  uint32_t owner = global_thread() + 1;
  for (uint32_t i = 0; i < bytes; i += PAGE_ALIGN) {
    owner_enter(stress.owners, uint64_t(memory + i - pool.pages) / PAGE_ALIGN, owner, stress.faults);
    memory[i] = uint8_t(owner + i);
    memory[i + 15 < bytes ? i + 15 : bytes - 1] = uint8_t(owner + i);
  }
}

__device__ __forceinline__ void page_stress_unmark(const PagePool& pool, const PageStress& stress, uint8_t* memory,
                                                   uint32_t bytes) {
  uint32_t owner = global_thread() + 1;
  uint32_t spoiled = 0;
  for (uint32_t i = 0; i < bytes; i += PAGE_ALIGN) {
    spoiled += memory[i] != uint8_t(owner + i) || memory[i + 15 < bytes ? i + 15 : bytes - 1] != uint8_t(owner + i);
    owner_leave(stress.owners, uint64_t(memory + i - pool.pages) / PAGE_ALIGN, owner, stress.faults);
  }
  if (spoiled != 0) atomicAdd(&stress.faults->spoiled, 1u);
}

__device__ __forceinline__ void page_stress_free(const PagePool& pool, const PageStress& stress, uint8_t*& memory,
                                                 uint32_t bytes) {
  page_stress_unmark(pool, stress, memory, bytes);
  page_free_bytes(pool, memory, bytes);
  memory = nullptr;
}

// Some give back at once what they got, while other lanes may still be in page_malloc.
extern "C" __global__ void pages_stress_malloc(PagePool pool, PageStress stress) {
  if (((stress.lanes >> lane_id()) & 1) == 0) return;
  PageWalk walk = page_walk(pool, global_thread());
  PageWalk draw = {stress.seed ^ walk.random, 0, PAGE_NONE, 0};
  uint8_t* held[PAGE_STRESS_HELD] = {};
  uint32_t sizes[PAGE_STRESS_HELD] = {};
  for (uint32_t round = 0; round < stress.rounds; round++) {
    uint32_t random = page_random(draw);
    uint32_t place = (random >> 24) % PAGE_STRESS_HELD;
    uint32_t bytes = held[place] == nullptr ? page_stress_bytes(pool, random) : 0;
    if (held[place] != nullptr) page_stress_free(pool, stress, held[place], sizes[place]);
    bool side = (random >> 16) % 3 == 0;
    uint32_t mask = __ballot_sync(stress.lanes, side);
    if (!side) mask = stress.lanes & ~mask;
    held[place] = page_malloc(pool, walk, mask, bytes);
    sizes[place] = bytes;
    if (held[place] != nullptr) page_stress_mark(pool, stress, held[place], bytes);
    if (held[place] == nullptr && bytes != 0) atomicAdd(&stress.faults->refused, 1u);
    if (held[place] != nullptr && (random >> 28) < 4) page_stress_free(pool, stress, held[place], bytes);
  }
  for (uint32_t i = 0; i < PAGE_STRESS_HELD; i++) {
    if (held[i] != nullptr) page_stress_free(pool, stress, held[i], sizes[i]);
  }
}
