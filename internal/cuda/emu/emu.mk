# Builds the emulator: make emu and make emu-asan run this from the root of the module, once the
# generator has written the kernels' sources to build/emu/kernels.
#
#     make -f internal/cuda/emu/emu.mk VARIANT=plain|asan

VARIANT ?= plain
CXX     := g++

library.plain = build/emu/libcuda-emu.so
library.asan  = build/emu/libcuda-emu-asan.so

# A kernel is compiled like the rest. Its reads of memory that others write go through atomics and
# ld_*, so the optimizer may do here what it does on the device; it does not fuse a*b+c. Under the
# sanitizers less optimization, and line numbers alone (-g1), halve the time it takes to build.
flags       = -std=c++20 -g1 -fPIC -pthread -ffp-contract=off -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas -DGAGG_EMULATOR -I. -Iinternal/cuda/emu/src
flags.plain = -O2
flags.asan  = -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Wno-maybe-uninitialized

objects = $(patsubst %.cc,build/emu/$(VARIANT)/%.o,$(notdir $(wildcard internal/cuda/emu/src/*.cc build/emu/kernels/*.cc)))

vpath %.cc internal/cuda/emu/src build/emu/kernels

# Renamed at the end, so that a process that has the old one open keeps it.
$(library.$(VARIANT)): $(objects)
	@echo "g++ ($(VARIANT)) $@"
	@$(CXX) $(flags) $(flags.$(VARIANT)) -shared -Wl,--no-undefined -o $@.new $^
	@mv $@.new $@

build/emu/$(VARIANT)/%.o: %.cc internal/cuda/emu/emu.mk
	@mkdir -p $(@D)
	@echo "g++ ($(VARIANT)) $<"
	@$(CXX) $(flags) $(flags.$(VARIANT)) -MMD -MP -c -o $@ $<

-include $(objects:.o=.d)
