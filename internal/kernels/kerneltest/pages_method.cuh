// The ways to get a page as types, for kernels that are made of each, and who asks.
#pragma once

#include "../device.cuh"

#include "../pages_walk.cuh"
#include "pages_bench.cuh"
#include "pages_lock.cuh"

// page_request is the number of this thread's request, n or more if it makes none.
__device__ __forceinline__ uint32_t page_request(const PageAsk& ask) {
  bool asks = (ask.lanes >> lane_id()) & 1;
  return asks ? global_warp() * page_bits(ask.lanes) + page_rank(ask.lanes) : ask.n;
}

// A thread alone: lanes that do not ask have nothing to do.
template <typename Store, PageProbe PROBE, bool FENCE = true>
struct PageMethodAlone {
  using Kind = Store;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t*, PageWalk& walk, uint32_t, bool asks) {
    return asks ? page_get_alone<Store, PROBE, FENCE>(pool, walk) : PAGE_NONE;
  }
};

template <PageProbe PROBE, bool FENCE = true>
struct PageMethodNext {
  using Kind = PageWords;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t*, PageWalk& walk, uint32_t, bool asks) {
    return asks ? page_get_next<PageWords, PROBE, FENCE>(pool, walk) : PAGE_NONE;
  }
};

template <typename Store, PageSpread SPREAD, bool FENCE = true>
struct PageMethodTogether {
  using Kind = Store;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t*, PageWalk& walk, uint32_t mask,
                                                 bool asks) {
    return page_get_together<Store, SPREAD, FENCE>(pool, walk, mask, asks);
  }
};

struct PageMethodRwbmLock {
  using Kind = PageWords;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t* locks, PageWalk& walk, uint32_t,
                                                 bool asks) {
    return asks ? page_get_alone_locked(pool, locks, walk) : PAGE_NONE;
  }
};

struct PageMethodCrwLock {
  using Kind = PageWords;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t* locks, PageWalk& walk, uint32_t,
                                                 bool asks) {
    return asks ? page_get_next_locked(pool, locks, walk) : PAGE_NONE;
  }
};

struct PageMethodCorwLock {
  using Kind = PageWords;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t* locks, PageWalk& walk, uint32_t mask,
                                                 bool asks) {
    return page_get_together_locked(pool, locks, walk, mask, asks);
  }
};

using PageMethodRw = PageMethodAlone<PageFlags, PAGE_READ>;
using PageMethodRwbm = PageMethodAlone<PageWords, PAGE_READ>;
using PageMethodRwbmTake = PageMethodAlone<PageWords, PAGE_TAKE>;
using PageMethodRwbm64 = PageMethodAlone<PageBits<uint64_t>, PAGE_READ>;
using PageMethodRwbmLoose = PageMethodAlone<PageWords, PAGE_READ, false>;
using PageMethodCorw = PageMethodTogether<PageWords, PAGE_IN_LINE>;
using PageMethodCorwEverywhere = PageMethodTogether<PageWords, PAGE_EVERYWHERE>;
using PageMethodCorw64 = PageMethodTogether<PageBits<uint64_t>, PAGE_IN_LINE>;
using PageMethodCorwLoose = PageMethodTogether<PageWords, PAGE_IN_LINE, false>;
using PageMethodCrw = PageMethodNext<PAGE_TAKE>;
using PageMethodCrwRead = PageMethodNext<PAGE_READ>;
using PageMethodCrwLoose = PageMethodNext<PAGE_TAKE, false>;
