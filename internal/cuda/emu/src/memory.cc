#include "memory.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "call.h"
#include "config.h"
#include "emu.h"
#include "fresh.h"
#include "report.h"

namespace driver {

namespace {

constexpr size_t alignment = 512;  // of what cuMemAlloc gives on every device we met
constexpr uint8_t guarded = 0x5C;

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t guard = 0;
#else
constexpr size_t guard = alignment;
#endif

const char* name(Space space) {
  switch (space) {
    case Space::device: return "device memory";
    case Space::pinned: return "pinned memory";
    case Space::registered: return "registered memory";
  }
  return "";
}

bool all(const uint8_t* p, uint8_t value, size_t n) {
  return std::all_of(p, p + n, [value](uint8_t b) { return b == value; });
}

}  // namespace

Memory& memory() {
  static auto* table = new Memory;
  return *table;
}

CUresult Memory::allocate(std::shared_ptr<Context> context, Space space, size_t size, void** out, bool portable) {
  const CUdevice device = context->device;
  if (space == Space::device) {
    std::lock_guard lock(mutex_);
    if (size > config().memory - used_[device]) return CUDA_ERROR_OUT_OF_MEMORY;
    used_[device] += size;
  }
  void* base = fresh_block(alignment, guard + size + guard);
  if (!base) {
    std::lock_guard lock(mutex_);
    if (space == Space::device) used_[device] -= size;
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  auto* start = static_cast<uint8_t*>(base) + guard;
  memset(base, guarded, guard);
  memset(start + size, guarded, guard);
  std::lock_guard lock(mutex_);
  blocks_[reinterpret_cast<uintptr_t>(start)] = {std::move(context), space, size, base, current_call(), portable};
  *out = start;
  return CUDA_SUCCESS;
}

CUresult Memory::enter(std::shared_ptr<Context> context, void* p, size_t size, bool portable) {
  std::lock_guard lock(mutex_);
  if (overlaps(p, size)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  blocks_[reinterpret_cast<uintptr_t>(p)] = {std::move(context), Space::registered, size, nullptr, current_call(), portable};
  return CUDA_SUCCESS;
}

CUresult Memory::release(const Context& context, Space space, void* p) {
  std::lock_guard lock(mutex_);
  auto at = blocks_.find(reinterpret_cast<uintptr_t>(p));
  if (at == blocks_.end() || at->second.space != space || at->second.context.get() != &context) return CUDA_ERROR_INVALID_VALUE;
  const bool good = intact(at->first, at->second);
  drop(at);
  return good ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

void Memory::drop(Blocks::iterator at) {
  if (at->second.space == Space::device) used_[at->second.context->device] -= at->second.size;
  if (at->second.base) free_block(at->second.base, guard + at->second.size + guard);
  blocks_.erase(at);
}

const Memory::Block* Memory::find(const void* p, size_t n) const {
  const auto address = reinterpret_cast<uintptr_t>(p);
  auto at = blocks_.upper_bound(address);
  if (at == blocks_.begin()) return nullptr;
  --at;
  const size_t offset = address - at->first;
  return offset <= at->second.size && n <= at->second.size - offset ? &at->second : nullptr;
}

bool Memory::contains(const void* p, size_t n) const {
  std::shared_lock lock(mutex_);
  return find(p, n) != nullptr;
}

bool Memory::contains(const void* p, size_t n, const Context& context) const {
  std::shared_lock lock(mutex_);
  const Block* block = find(p, n);
  return block && block->context.get() == &context;
}

bool Memory::pinned(const void* p, size_t n, const Context& context) const {
  std::shared_lock lock(mutex_);
  const Block* block = find(p, n);
  return block && block->space != Space::device && (block->portable || block->context.get() == &context);
}

bool Memory::touches(const void* p, size_t n) const {
  std::shared_lock lock(mutex_);
  return overlaps(p, n);
}

bool Memory::overlaps(const void* p, size_t n) const {
  const auto begin = reinterpret_cast<uintptr_t>(p);
  auto at = blocks_.lower_bound(begin + n);  // the first block past the bytes; the one before it is the only one that can overlap
  return at != blocks_.begin() && n > 0 && (--at)->first + at->second.size > begin;
}

size_t Memory::available(CUdevice device) const {
  std::shared_lock lock(mutex_);
  auto at = used_.find(device);
  return config().memory - (at == used_.end() ? 0 : at->second);
}

bool Memory::copy(void* to, const void* from, size_t n) const {
  std::shared_lock lock(mutex_);
  if (!find(to, n) || !find(from, n)) return false;
  memmove(to, from, n);
  return true;
}

bool Memory::write(void* to, const void* plain, size_t n) const {
  std::shared_lock lock(mutex_);
  if (!find(to, n)) return false;
  memcpy(to, plain, n);
  return true;
}

bool Memory::read(void* plain, const void* from, size_t n) const {
  std::shared_lock lock(mutex_);
  if (!find(from, n)) return false;
  memcpy(plain, from, n);
  return true;
}

bool Memory::fill(void* to, uint32_t value, size_t width, size_t count) const {
  std::shared_lock lock(mutex_);
  if (!find(to, width * count)) return false;
  if (width == 1) memset(to, static_cast<int>(value & 0xFF), count);
  else std::fill_n(static_cast<uint32_t*>(to), count, value);
  return true;
}

bool Memory::intact(uintptr_t start, const Block& block) const {
  const auto* p = reinterpret_cast<const uint8_t*>(start);
  if (!block.base || (all(p - guard, guarded, guard) && all(p + block.size, guarded, guard))) return true;
  problem(format("%s of %zu bytes at %p, made by call %llu (%s), was written to outside its bounds", name(block.space), block.size,
                 static_cast<const void*>(p), static_cast<unsigned long long>(block.origin.number), block.origin.call));
  return false;
}

void Memory::check_guards() const {
  std::shared_lock lock(mutex_);
  for (auto& [start, block] : blocks_) intact(start, block);
}

std::vector<std::string> Memory::list(const Context& of, bool remove) {
  std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    auto here = at++;
    const Block& block = here->second;
    if (block.context.get() != &of) continue;
    lines.push_back(format("%s of %zu bytes, made by call %llu (%s)", name(block.space), block.size,
                           static_cast<unsigned long long>(block.origin.number), block.origin.call));
    if (remove) drop(here);
  }
  return lines;
}

}  // namespace driver

bool emu_device_range(const void* p, size_t n) { return driver::memory().contains(p, n); }
