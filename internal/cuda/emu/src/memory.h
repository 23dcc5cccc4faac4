// Device memory and pinned host memory: both are host memory of this process, known to one table.
//
// INVARIANT (fresh): memory that was just allocated holds the byte pattern `fresh`, never zeros
// (fresh.h).
// INVARIANT (guards): without AddressSanitizer each block has a zone of `guard` bytes on both sides
// that nobody may write to; it is looked at when the block is freed and when leaks are asked for.
// With AddressSanitizer, its red zones and its quarantine do this and more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "libcuda.h"
#include "object.h"

namespace driver {

enum class Space { device, pinned, registered };

// Memory is the table of living blocks. Safe for any thread; kernels and copies look addresses up
// while others allocate.
class Memory {
 public:
  // allocate makes a block of size bytes, aligned like the driver's; it returns 2 when the device's
  // memory does not hold it.
  CUresult allocate(std::shared_ptr<Context> context, Space space, size_t size, void** out, bool portable = false);

  // enter makes memory of the caller's a block: 712 when a part of it is one already.
  CUresult enter(std::shared_ptr<Context> context, void* p, size_t size, bool portable);

  // release frees the block that begins at p: 1 when none of this space and context does, as after
  // a double free.
  CUresult release(const Context& context, Space space, void* p);

  // Whether n bytes at p lie inside one living block, of the context if it is given.
  bool contains(const void* p, size_t n) const;
  bool contains(const void* p, size_t n, const Context& context) const;

  // The same for host memory that is pinned, for this context or, being portable, for all.
  bool pinned(const void* p, size_t n, const Context& context) const;

  // Whether any of n bytes at p belongs to a living block.
  bool touches(const void* p, size_t n) const;

  // Free bytes of a device.
  size_t available(CUdevice device) const;

  // Moving bytes while nothing can be freed: from block to block, plain memory to block, block to
  // plain memory, and filling a block with count values of width bytes. False when a block does not
  // live (any more).
  bool copy(void* to, const void* from, size_t n) const;
  bool write(void* to, const void* plain, size_t n) const;
  bool read(void* plain, const void* from, size_t n) const;
  bool fill(void* to, uint32_t value, size_t width, size_t count) const;

  // One line for each living block of a context; frees them when told.
  std::vector<std::string> list(const Context& of, bool remove);

  // Looks at every guard zone; a problem for each that was written to.
  void check_guards() const;

 private:
  struct Block {
    std::shared_ptr<Context> context;
    Space space;
    size_t size;
    void* base;  // what fresh_block gave; null: it is the caller's memory, which has no guards
    Origin origin;
    bool portable;  // pinned for all contexts
  };
  using Blocks = std::map<uintptr_t, Block>;

  // With the lock held: the block that holds n bytes at p, or null.
  const Block* find(const void* p, size_t n) const;
  bool overlaps(const void* p, size_t n) const;
  bool intact(uintptr_t start, const Block& block) const;
  void drop(Blocks::iterator at);

  mutable std::shared_mutex mutex_;
  Blocks blocks_;  // by address
  std::map<CUdevice, size_t> used_;
};

Memory& memory();

}  // namespace driver
