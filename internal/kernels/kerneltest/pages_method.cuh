// The ways to get a page as types, for kernels that are made of each, and who asks.
#pragma once

#include "../device.cuh"

#include "pages_walk.cuh"
#include "pages_bench.cuh"
#include "pages_lock.cuh"

// page_request is the number of this thread's request, n or more if it makes none.
__device__ __forceinline__ uint32_t page_request(const PageAsk& ask) {
  bool asks = (ask.lanes >> lane_id()) & 1;
  return asks ? global_warp() * page_bits(ask.lanes) + page_rank(ask.lanes) : ask.n;
}

// A thread alone: lanes that do not ask have nothing to do.
template <typename Store>
struct PageMethodAlone {
  using Kind = Store;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t*, PageWalk& walk, uint32_t, bool asks) {
    return asks ? page_get_alone<Store>(pool, walk) : PAGE_NONE;
  }
};

struct PageMethodCrw {
  using Kind = PageBits;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t*, PageWalk& walk, uint32_t, bool asks) {
    return asks ? page_get_next<PageBits>(pool, walk) : PAGE_NONE;
  }
};

struct PageMethodCorw {
  using Kind = PageBits;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t*, PageWalk& walk, uint32_t mask,
                                                 bool asks) {
    return page_get_together<PageBits>(pool, walk, mask, asks);
  }
};

struct PageMethodRwbmLock {
  using Kind = PageBits;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t* locks, PageWalk& walk, uint32_t,
                                                 bool asks) {
    return asks ? page_get_alone_locked(pool, locks, walk) : PAGE_NONE;
  }
};

struct PageMethodCrwLock {
  using Kind = PageBits;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t* locks, PageWalk& walk, uint32_t,
                                                 bool asks) {
    return asks ? page_get_next_locked(pool, locks, walk) : PAGE_NONE;
  }
};

struct PageMethodCorwLock {
  using Kind = PageBits;
  static __device__ __forceinline__ uint32_t get(const PagePool& pool, uint32_t* locks, PageWalk& walk, uint32_t mask,
                                                 bool asks) {
    return page_get_together_locked(pool, locks, walk, mask, asks);
  }
};

using PageMethodRw = PageMethodAlone<PageFlags>;
using PageMethodRwbm = PageMethodAlone<PageBits>;
