// SlabAlloc: an allocator of small units of device memory, all of one size, for
// warps that need one now and then (paper 001, section V).
//
// Terms:
//
//   slab          the unit: a power of two of bytes, at least 128
//   memory block  1024 slabs, and a bitmap of 32 words of 32 bits; a set bit is
//                 a slab in use
//   super block   up to 2^14 memory blocks in one piece of memory: first the
//                 bitmaps of all of them, then their slabs
//   resident      the memory block a warp takes its slabs from. Lane i keeps
//                 word i of its bitmap, as last seen, in a register.
//
//   super block   | bitmap 0 | bitmap 1 | … | slabs of block 0 | slabs of block 1 | …
//                   128 bytes                 1024 slabs
//   address       | super block, 8 bits | memory block, 14 bits | slab, 10 bits |
//
// A warp takes the first slab that its registers show free by one atomic on the
// bitmap in memory. If another warp was quicker, the atomic's answer is the new
// word, and the warp goes on with it. When the registers show the resident full,
// the warp takes another one, at first at random, then in order.
//
// Who takes part: slab_allocate is for all 32 lanes of a warp together, as lanes
// that stay away would leave their words of the bitmap unseen, and "out of
// memory" would not be true. slab_free and slab_pointer are for any thread alone.
// There are no barriers beside the ballots and shuffles of slab_allocate.
//
// Invariants:
//
//   SLAB-ONCE   A slab belongs to whoever changed its bit from 0 to 1, until its
//               owner changes the bit back: no slab has two owners, none is lost.
//   SLAB-TRUE   slab_allocate returns SLAB_NONE only after it has seen every
//               slab in use, each at some moment during the call.
//   SLAB-ENDS   A call looks at no more than tries + all memory blocks, and at
//               each it fails no more than 1024 times: a failure shows it a slab
//               taken by another warp, and until the next success or change of
//               resident a slab seen in use counts as in use.
//   SLAB-FRESH  The bytes of a new slab are whatever its last owner left, and an
//               owner reads only what was written since it got the slab. So
//               one fence is enough, before a bit is cleared: the new owner's
//               accesses need the address, which they have from the atomic.
//
// Where this differs from the paper:
//
//   - The bit is set by atomicOr, not atomicCAS. Both return the word as it is
//     now. CAS fails whenever any bit of the word has changed since it was
//     read; Or fails only if this very bit was taken. Whenever CAS succeeds, Or
//     does, and when Or fails it has changed nothing.
//   - The search may begin at any lane (slab_warp). From lane 0, the paper's
//     order, all warps of one resident try the same bit, and all but one fail.
//   - The first residents are dealt out in turn; only later ones are hashed.
//   - The super blocks' places are kernel parameters, which the device reads
//     through its constant cache: one cached read where all lanes ask for the
//     same super block. The paper keeps them in shared memory, or gives up
//     growing (SlabAlloc-light, one contiguous array) to save that read.
#pragma once

#include "../device.cuh"

// No slab. Never the address of one: super block 255 does not exist.
constexpr uint32_t SLAB_NONE = 0xffffffff;

// The most super blocks. The address has room for 256; 64 of 2 GiB are more
// than a device has, and keep the kernel parameters small.
constexpr uint32_t SLAB_SUPER_BLOCKS = 64;

constexpr uint32_t SLAB_BLOCK_BITS = 10;  // log2 of the slabs of a memory block
constexpr uint32_t SLAB_SUPER_BITS = 24;  // and of a super block, at most

// SlabPool is the memory that slabs come from; a kernel takes it by value.
struct SlabPool {
  uint8_t* super_blocks[64];    // the first count are there
  uint32_t count;               // super blocks
  uint32_t initial;             // of these, in use from a warp's first change of resident on
  uint32_t blocks;              // memory blocks in a super block, 1 to 2^14
  uint32_t slab_shift;          // log2 of the bytes of a slab
  uint32_t changes_per_super;   // after so many changes a warp uses one more super block, not 0
  uint32_t tries;               // residents that a call takes at random before it looks at all in order
  uint32_t seed;                // of the random choices, and of who begins where
};
static_assert(sizeof(SlabPool::super_blocks) == SLAB_SUPER_BLOCKS * sizeof(uint8_t*), "one place for each");

// SlabWarp is what a warp knows: registers of each lane. bitmap is the lane's
// own, the rest is the same in all lanes.
struct SlabWarp {
  uint32_t bitmap;    // word lane_id() of the resident's bitmap, as last seen
  uint32_t resident;  // address of the resident's slab 0
  uint32_t changes;   // of resident, so far
  uint32_t first;     // lane whose word is looked at first
};

// SlabSteps counts what allocating costs, where it is wanted.
struct SlabSteps {
  uint32_t atomics;  // tried to take a slab
  uint32_t reads;    // of bitmaps: changes of resident
};

// A warp at its start, its resident not chosen yet: it shows full. The warp
// looks for free slabs from the word of lane first on, 0 to 31.
__device__ __forceinline__ SlabWarp slab_warp(uint32_t first) { return SlabWarp{0xffffffff, 0, 0, first}; }

// The word of the bitmap that holds the slab's bit.
__device__ __forceinline__ uint32_t* slab_word(const SlabPool& pool, uint32_t address) {
  uint32_t in_super = address & ((1u << SLAB_SUPER_BITS) - 1);
  return reinterpret_cast<uint32_t*>(pool.super_blocks[address >> SLAB_SUPER_BITS]) + (in_super >> 5);
}

// The memory of a slab.
__device__ __forceinline__ uint8_t* slab_pointer(const SlabPool& pool, uint32_t address) {
  uint64_t in_super = address & ((1u << SLAB_SUPER_BITS) - 1);
  uint64_t bitmaps = uint64_t(pool.blocks) << (SLAB_BLOCK_BITS - 3);
  return pool.super_blocks[address >> SLAB_SUPER_BITS] + bitmaps + (in_super << pool.slab_shift);
}

// Mixes x: the finisher of splitmix64.
__device__ __forceinline__ uint64_t slab_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The resident for a warp that has changed it so often: the first time, blocks
// are dealt out in turn, so that warps share one evenly; then a hash of warp
// and changes, its halves for super block and memory block.
__device__ __forceinline__ uint32_t slab_choose(const SlabPool& pool, uint32_t changes) {
  uint32_t super, block;
  if (changes == 0) {
    uint32_t turn = global_warp() + pool.seed;
    super = turn % pool.initial;
    block = turn / pool.initial % pool.blocks;
  } else {
    uint32_t used = pool.initial + changes / pool.changes_per_super;
    if (used > pool.count) used = pool.count;
    uint64_t hash = slab_mix((uint64_t(global_warp()) << 32 | changes) + pool.seed * 0x9e3779b97f4a7c15);
    super = __umulhi(uint32_t(hash >> 32), used);
    block = __umulhi(uint32_t(hash), pool.blocks);
  }
  return super << SLAB_SUPER_BITS | block << SLAB_BLOCK_BITS;
}

// The memory block after this one; after the last comes the first.
__device__ __forceinline__ uint32_t slab_next(const SlabPool& pool, uint32_t resident) {
  uint32_t super = resident >> SLAB_SUPER_BITS;
  uint32_t block = (resident >> SLAB_BLOCK_BITS & ((1u << (SLAB_SUPER_BITS - SLAB_BLOCK_BITS)) - 1)) + 1;
  if (block == pool.blocks) {
    block = 0;
    super = super + 1 == pool.count ? 0 : super + 1;
  }
  return super << SLAB_SUPER_BITS | block << SLAB_BLOCK_BITS;
}

// Takes a slab of the resident; SLAB_NONE if the registers show none free. Each
// round either takes one or sets a bit in the registers.
__device__ __forceinline__ uint32_t slab_take(const SlabPool& pool, SlabWarp& warp, SlabSteps* steps) {
  for (;;) {
    uint32_t lanes = __ballot_sync(FULL_MASK, warp.bitmap != 0xffffffff);
    if (lanes == 0) return SLAB_NONE;
    uint32_t turned = lanes >> warp.first | lanes << (-warp.first & 31);
    uint32_t source = (__ffs(turned) - 1 + warp.first) & 31;
    if (steps != nullptr) steps->atomics++;

    uint32_t address = SLAB_NONE;
    if (lane_id() == source) {
      uint32_t bit = __ffs(~warp.bitmap) - 1;
      address = warp.resident | source << 5 | bit;
      uint32_t before = atomicOr(slab_word(pool, address), 1u << bit);
      if ((before >> bit & 1) == 0) {
        warp.bitmap = before | 1u << bit;
      } else {
        warp.bitmap |= before;  // never a bit less: SLAB-ENDS
        address = SLAB_NONE;
      }
    }
    address = __shfl_sync(FULL_MASK, address, source);
    if (address != SLAB_NONE) return address;
  }
}

// Allocates one slab for the warp; all its lanes call it, converged, and all get
// the address: SLAB_NONE if every slab is in use (SLAB-TRUE). steps, unless
// null, is added to.
//
// The random tries find a block with room in 1/r of them, if a share r of the
// blocks has some. The last road is all blocks in order, from the resident's
// successor to the resident itself, each once.
__device__ __forceinline__ uint32_t slab_allocate(const SlabPool& pool, SlabWarp& warp, SlabSteps* steps = nullptr) {
  uint32_t tries = pool.tries;
  uint32_t rest = pool.count * pool.blocks;
  for (;;) {
    uint32_t address = slab_take(pool, warp, steps);
    if (address != SLAB_NONE) return address;
    if (tries > 0) {
      tries--;
      warp.resident = slab_choose(pool, warp.changes);
    } else if (rest > 0) {
      rest--;
      warp.resident = slab_next(pool, warp.resident);
    } else {
      return SLAB_NONE;
    }
    warp.changes++;
    warp.bitmap = ld_relaxed(slab_word(pool, warp.resident | lane_id() << 5));
    if (steps != nullptr) steps->reads++;
  }
}

// Gives a slab back. What its owner has written there is done before the next
// owner's writes: hence the fence. Any thread may call it, alone.
__device__ __forceinline__ void slab_free(const SlabPool& pool, uint32_t address) {
  __threadfence();
  atomicAnd(slab_word(pool, address), ~(1u << (address & 31)));
}
