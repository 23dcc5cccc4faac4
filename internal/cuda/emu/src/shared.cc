// Shared memory of a block. A static __shared__ array is a thread_local of this library, one for
// each OS thread, so the library's whole block of thread-local memory is shared memory on a thread
// that runs blocks: nothing else of the library may keep something in a thread_local there, but for
// emu::here.
#include <link.h>

#include <cstdlib>
#include <cstring>

#include "block.h"

namespace emu {

namespace {

struct Range {
  char* begin;
  size_t size;

  bool holds(const void* p, size_t n) const {
    const auto at = reinterpret_cast<uintptr_t>(p), from = reinterpret_cast<uintptr_t>(begin);
    return at >= from && at - from <= size && n <= size - (at - from);
  }
};

// find_shared is this library's block of thread-local memory of the calling OS thread.
Range find_shared() {
  Range found{reinterpret_cast<char*>(&here), 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* range = static_cast<Range*>(data);
        for (int i = 0; i < info->dlpi_phnum; i++) {
          const Range block{static_cast<char*>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
          if (info->dlpi_phdr[i].p_type != PT_TLS || block.begin == nullptr || !block.holds(range->begin, 1)) continue;
          *range = block;
          return 1;
        }
        return 0;
      },
      &found);
  return found;
}

// static_shared is the same without the search: the block has one layout on all threads. One thread
// measures that layout whole: the distance holds only between addresses of the same thread.
Range static_shared() {
  struct Layout {
    ptrdiff_t before;  // the bytes of the block before `here`
    size_t size;
  };
  static const Layout layout = [] {
    const Range found = find_shared();
    return Layout{reinterpret_cast<char*>(&here) - found.begin, found.size};
  }();
  return {reinterpret_cast<char*>(&here) - layout.before, layout.size};
}

bool checks() {
  static const bool on = [] {
    const char* v = getenv("GAGG_EMU_CHECK");
    return v != nullptr && strcmp(v, "1") == 0;
  }();
  return on;
}

}  // namespace

// spoil_shared makes and fills the block's shared memory. The byte differs between blocks and is
// never 0.
void Block::spoil_shared() {
  const uint32_t size = grid_->launch.shared;
  shared_ = static_cast<char*>(malloc(size));
  const int byte = static_cast<int>(random_.draw() & 0xff) | 1;
  if (size > 0) memset(shared_, byte, size);
  const Range range = static_shared();
  static_shared_ = range.begin;
  static_shared_size_ = range.size;
  const Place* kept = here;
  memset(static_shared_, byte, static_shared_size_);
  here = kept;
}

// touch asks whether memory is the block's, the thread's own or a living allocation of the device.
void Block::touch(const void* p, size_t n) {
  const Stack& stack = threads_[here->thread].fiber.stack;
  const bool fine = Range{static_shared_, static_shared_size_}.holds(p, n) ||
                    Range{shared_, grid_->launch.shared}.holds(p, n) || Range{stack.bottom, stack.size}.holds(p, n) ||
                    emu_device_range(p, n);
  if (!fine) fault(700, "an access of %zu bytes at %p, which is no living memory of the device", n, p);
}

void touch(const void* p, size_t n) {
  if (checks()) static_cast<const Thread*>(here)->owner->touch(p, n);
}

}  // namespace emu
