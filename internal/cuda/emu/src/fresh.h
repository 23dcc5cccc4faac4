// The bytes of blocks that were just allocated: a pattern, never zeros.
#pragma once

#include <cstddef>
#include <cstdint>

namespace driver {

constexpr uint8_t fresh = 0xA5;  // as an integer negative, as an address absurd

// fresh_block returns `bytes` bytes of the pattern, aligned to at least `alignment`, a power of two
// and at most a page; null if there is no memory.
//
// A large block takes as long to make as it has pieces of some MiB, and memory only for the pages
// that somebody writes to: all pieces are private mappings of one file in memory that has the
// pattern. Under AddressSanitizer every block comes from malloc, whose red zones and quarantine are
// wanted.
void* fresh_block(size_t alignment, size_t bytes);

// free_block frees what fresh_block has returned.
void free_block(void* block, size_t bytes);

}  // namespace driver
