#!/bin/sh
# Runs a program that opens build/emu/libcuda-emu-asan.so: go test -exec
# internal/cuda/emu/asan.sh. AddressSanitizer has to be the first library of a process. Signals
# and their stacks are the Go runtime's. Leaks of what matters are reported by the emulator
# itself.
LD_PRELOAD="$(g++ -print-file-name=libasan.so)"
ASAN_OPTIONS="detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0:allow_user_segv_handler=1:use_sigaltstack=0:detect_stack_use_after_return=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
export LD_PRELOAD ASAN_OPTIONS UBSAN_OPTIONS
exec "$@"
