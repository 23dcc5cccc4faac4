#include "fiber.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// emu_fiber_swap keeps the registers that a called function must keep on the running stack, stores
// the stack pointer at save, and takes the same from another stack. Control registers of the
// floating point unit are nobody's here, so they stay.
extern "C" void emu_fiber_swap(void** save, void* sp) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
asm(R"(
.text
.globl emu_fiber_swap
.hidden emu_fiber_swap
.type emu_fiber_swap, @function
emu_fiber_swap:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emu_fiber_swap, .-emu_fiber_swap
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl emu_fiber_swap
.hidden emu_fiber_swap
.type emu_fiber_swap, %function
emu_fiber_swap:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size emu_fiber_swap, .-emu_fiber_swap
)");
#else
#error "the emulator knows fibres on x86-64 and aarch64"
#endif

namespace emu {

namespace {

#ifdef EMU_ASAN
constexpr size_t stack_size = 256 << 10;  // its frames are several times larger
#else
constexpr size_t stack_size = 64 << 10;
#endif

// Tops of stacks at the same place of every page would share a few sets of the cache: they are
// moved by up to a page.
constexpr size_t colours = 32, colour_step = 128;

#if defined(__x86_64__)
constexpr size_t saved_words = 6;  // the return address lies above them
#else
constexpr size_t saved_words = 20, return_word = 11;
#endif

}  // namespace

void fiber_prepare(Fiber& fiber, const Stack& stack, void (*entry)()) {
  auto top = reinterpret_cast<uintptr_t>(stack.bottom + stack.size) & ~uintptr_t{15};
#if defined(__x86_64__)
  auto* words = reinterpret_cast<uint64_t*>(top) - saved_words - 2;  // a function begins 8 bytes below a multiple of 16
  words[saved_words] = reinterpret_cast<uint64_t>(entry);
  words[saved_words + 1] = 0;  // the return address of entry: a debugger's end of the stack
#else
  auto* words = reinterpret_cast<uint64_t*>(top) - saved_words;
  words[return_word] = reinterpret_cast<uint64_t>(entry);
  words[return_word - 1] = 0;
#endif
  fiber = {words, stack, nullptr};
}

void fiber_switch(Fiber& from, Fiber& to) {
#ifdef EMU_ASAN
  __sanitizer_start_switch_fiber(&from.sanitizer, to.stack.bottom, to.stack.size);
#endif
  emu_fiber_swap(&from.sp, to.sp);
#ifdef EMU_ASAN
  __sanitizer_finish_switch_fiber(from.sanitizer, nullptr, nullptr);
#endif
}

void fiber_leave(Fiber& to) {
  void* nobody;
#ifdef EMU_ASAN
  __sanitizer_start_switch_fiber(nullptr, to.stack.bottom, to.stack.size);
#endif
  emu_fiber_swap(&nobody, to.sp);
  __builtin_unreachable();
}

void fiber_begun() {
#ifdef EMU_ASAN
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

Stack thread_stack() {
#ifdef EMU_ASAN
  pthread_attr_t attributes;
  void* bottom = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &bottom, &size);
  pthread_attr_destroy(&attributes);
  return {static_cast<char*>(bottom), size};
#else
  return {};
#endif
}

Stack Stacks::take() {
  if (!free_.empty()) {
    Stack stack = free_.back();
    free_.pop_back();
    return stack;
  }
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, stack_size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {
    perror("gagg emulator: memory for the stack of a thread");
    abort();
  }
  return {static_cast<char*>(memory) + page, stack_size - made_++ % colours * colour_step};
}

void Stacks::clean([[maybe_unused]] const Stack& stack) {
#ifdef EMU_ASAN
  __asan_unpoison_memory_region(stack.bottom, stack.size);
#endif
}

}  // namespace emu
