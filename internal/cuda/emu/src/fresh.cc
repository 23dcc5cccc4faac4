#include "fresh.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace driver {

namespace {

constexpr size_t piece = size_t{2} << 20;  // a mapping each: a process has some 65,000
constexpr size_t large = size_t{1} << 20;  // to fill less takes about as long as a mapping does

// pattern is a file of one piece that holds the pattern, in memory; or -1.
int pattern() {
  static const int file = [] {
    const int made = memfd_create("gagg-emulator-fresh", MFD_CLOEXEC);
    if (made < 0) return -1;
    void* all = ftruncate(made, piece) == 0 ? mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0) : MAP_FAILED;
    if (all == MAP_FAILED) {
      close(made);
      return -1;
    }
    memset(all, fresh, piece);
    munmap(all, piece);
    return made;
  }();
  return file;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool mappings = false;
#else
constexpr bool mappings = true;
#endif

// Whether a block of so many bytes is mappings of the pattern.
bool is_mapped(size_t bytes) { return mappings && bytes >= large && pattern() >= 0; }

void* mapped(size_t bytes) {
  void* block = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  for (size_t at = 0; at < bytes; at += piece) {
    void* here = static_cast<uint8_t*>(block) + at;
    if (mmap(here, std::min(piece, bytes - at), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, pattern(), 0) == MAP_FAILED) {
      munmap(block, bytes);
      return nullptr;
    }
  }
  return block;
}

}  // namespace

void* fresh_block(size_t alignment, size_t bytes) {
  if (is_mapped(bytes)) return mapped(bytes);
  void* block = nullptr;
  if (posix_memalign(&block, alignment, bytes)) return nullptr;
  memset(block, fresh, bytes);
  return block;
}

void free_block(void* block, size_t bytes) {
  if (is_mapped(bytes)) munmap(block, bytes);
  else free(block);
}

}  // namespace driver
