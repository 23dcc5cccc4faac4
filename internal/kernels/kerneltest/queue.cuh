// A queue of free pages, the structure that gpumem's methods are measured
// against: a ring of page numbers with a ticket counter at each end and a count
// of the pages in it, as in the queues of Ouroboros (Winter et al., ICS 2020),
// which paper 000 compares with. Only tests and benchmarks use it.
//
// A getter first takes one from the count, so that it knows that a page is or
// will be there, then a ticket, then waits for its slot to be filled. A giver
// takes a ticket, waits for its slot to be empty, fills it, then adds to the
// count. All threads meet at the counters: that is what the random walk avoids.
//
//   QUEUE-ONCE  A page belongs to the one thread that exchanged it out of its slot.
//   QUEUE-ENDS  Whoever waits at a slot waits for a thread with a ticket given
//               earlier that no longer waits for the count: tickets only fall
//               along the chain. The waits need threads of one warp to go on
//               independently (sm_70 and later).
//   QUEUE-FULL  The ring has as many slots as there are pages, or more.
//
// A getter may be told "empty" while a failed getter has not yet put back what
// it took from the count; never if all gets together want no more than there is.
#pragma once

#include "../device.cuh"

// No page, and an empty slot.
constexpr uint32_t QUEUE_NONE = 0xffffffff;

// PageQueue is a ring of page numbers; a kernel takes it by value. The counters
// lie 128 bytes apart, each in a cache line of its own.
struct PageQueue {
  uint32_t* slots;     // mask + 1 of them, QUEUE_NONE or a page
  uint32_t* counters;  // QUEUE_COUNTERS words
  uint32_t mask;       // slots - 1, slots being a power of two
};

constexpr uint32_t QUEUE_HEAD = 0;       // tickets given to getters
constexpr uint32_t QUEUE_TAIL = 32;      // and to givers
constexpr uint32_t QUEUE_COUNT = 64;     // pages that no getter has taken yet, signed
constexpr uint32_t QUEUE_COUNTERS = 96;

// How a ticket is taken: by one atomicAdd, or, as under a lock, by reading and
// atomicCAS until nobody was quicker. The second is the queue of the paper's
// model, where threads wait for one another, a step each.
enum QueueTicket { QUEUE_ADD, QUEUE_CAS };

// Takes tickets from a counter; n of them. steps counts the tries.
template <QueueTicket kTicket>
__device__ __forceinline__ uint32_t queue_ticket(uint32_t* counter, uint32_t n, uint32_t& steps) {
  if (kTicket == QUEUE_ADD) {
    steps++;
    return atomicAdd(counter, n);
  }
  uint32_t seen = ld_relaxed(counter);
  for (;;) {
    steps++;
    uint32_t before = atomicCAS(counter, seen, seen + n);
    if (before == seen) return before;
    seen = before;
  }
}

// Takes the page of a ticket, once it is there.
__device__ __forceinline__ uint32_t queue_take(const PageQueue& queue, uint32_t ticket) {
  uint32_t* slot = &queue.slots[ticket & queue.mask];
  for (;;) {
    uint32_t page = atomicExch(slot, QUEUE_NONE);
    if (page != QUEUE_NONE) return page;
    __nanosleep(20);
  }
}

// Puts a page into the slot of a ticket, once it is empty.
__device__ __forceinline__ void queue_put(const PageQueue& queue, uint32_t ticket, uint32_t page) {
  uint32_t* slot = &queue.slots[ticket & queue.mask];
  while (atomicCAS(slot, QUEUE_NONE, page) != QUEUE_NONE) __nanosleep(20);
}

// Takes up to n from the count; how many it got.
__device__ __forceinline__ uint32_t queue_reserve(const PageQueue& queue, uint32_t n) {
  int32_t before = int32_t(atomicAdd(&queue.counters[QUEUE_COUNT], 0u - n));
  uint32_t got = before <= 0 ? 0 : uint32_t(before) < n ? uint32_t(before) : n;
  if (got < n) atomicAdd(&queue.counters[QUEUE_COUNT], n - got);
  return got;
}

// A page, or QUEUE_NONE if the queue is empty. Any thread, alone.
template <QueueTicket kTicket>
__device__ __forceinline__ uint32_t queue_get(const PageQueue& queue, uint32_t& steps) {
  if (queue_reserve(queue, 1) == 0) return QUEUE_NONE;
  return queue_take(queue, queue_ticket<kTicket>(&queue.counters[QUEUE_HEAD], 1, steps));
}

// Gives a page back. Any thread, alone.
__device__ __forceinline__ void queue_free(const PageQueue& queue, uint32_t page) {
  uint32_t steps = 0;
  __threadfence();  // the owner's writes to the page are done
  queue_put(queue, queue_ticket<QUEUE_ADD>(&queue.counters[QUEUE_TAIL], 1, steps), page);
  __threadfence();  // the slot is filled before it is counted
  atomicAdd(&queue.counters[QUEUE_COUNT], 1u);
}

// Which of the lanes of a mask this one is, counted from 0.
__device__ __forceinline__ uint32_t queue_rank(uint32_t lanes) { return __popc(lanes & lanes_below()); }

// Like queue_get, for the lanes of a mask together, all of them, converged: one
// lane takes from the counters for all.
__device__ __forceinline__ uint32_t queue_get_warp(const PageQueue& queue, uint32_t lanes, uint32_t& steps) {
  uint32_t leader = __ffs(lanes) - 1;
  uint32_t got = 0, ticket = 0;
  if (lane_id() == leader) {
    got = queue_reserve(queue, __popc(lanes));
    if (got > 0) ticket = queue_ticket<QUEUE_ADD>(&queue.counters[QUEUE_HEAD], got, steps);
  }
  got = __shfl_sync(lanes, got, leader);
  ticket = __shfl_sync(lanes, ticket, leader);
  uint32_t rank = queue_rank(lanes);
  return rank < got ? queue_take(queue, ticket + rank) : QUEUE_NONE;
}

// Like queue_free, for the lanes of a mask together, all of them, converged.
__device__ __forceinline__ void queue_free_warp(const PageQueue& queue, uint32_t lanes, uint32_t page) {
  uint32_t leader = __ffs(lanes) - 1;
  uint32_t steps = 0, ticket = 0;
  __threadfence();  // the owners' writes to the pages are done
  if (lane_id() == leader) ticket = queue_ticket<QUEUE_ADD>(&queue.counters[QUEUE_TAIL], __popc(lanes), steps);
  queue_put(queue, __shfl_sync(lanes, ticket, leader) + queue_rank(lanes), page);
  __threadfence();  // the slots are filled before they are counted
  __syncwarp(lanes);
  if (lane_id() == leader) atomicAdd(&queue.counters[QUEUE_COUNT], uint32_t(__popc(lanes)));
}
