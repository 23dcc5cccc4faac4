// Fibres: stacks of their own that hand the processor to each other where they choose to. A thread
// of a GPU is one, and all fibres of a block stay on one OS thread.
#pragma once

#include <cstddef>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define EMU_ASAN 1
#endif

namespace emu {

// Stack is memory for one fibre. A page below it that nobody may touch turns an overflow into a
// fault.
struct Stack {
  char* bottom;
  size_t size;
};

// Fiber is where a fibre stopped: valid while it does not run.
struct Fiber {
  void* sp;
  Stack stack;
  void* sanitizer;  // what AddressSanitizer keeps for a fibre that stopped
};

// fiber_prepare makes fiber begin with entry, which never returns, on the given stack.
void fiber_prepare(Fiber& fiber, const Stack& stack, void (*entry)());

// fiber_switch stops from and goes on with to. It returns when someone switches to from again.
void fiber_switch(Fiber& from, Fiber& to);

// fiber_leave goes on with to and forgets the running fibre, whose stack is free from then on.
[[noreturn]] void fiber_leave(Fiber& to);

// fiber_begun is the first call of an entry function.
void fiber_begun();

// thread_stack gives the stack of the OS thread itself, for the fibre that it is. Only
// AddressSanitizer asks for it: without, it is empty.
Stack thread_stack();

// Stacks hands out stacks of equal size and takes them back. Taken last, given first: those are in
// the cache. THREAD: one OS thread uses it at a time.
class Stacks {
 public:
  Stack take();
  void give(const Stack& stack) { free_.push_back(stack); }
  // clean wipes what AddressSanitizer knows of the frames on a stack whose fibre was left in the
  // middle.
  static void clean(const Stack& stack);

 private:
  std::vector<Stack> free_;
  size_t made_ = 0;
};

}  // namespace emu
