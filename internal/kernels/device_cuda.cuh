// CUDA's names over clang's builtins. clang -nocudainc defines none of them. Included by
// device.cuh, which says what they promise.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#define DEVICE_FN static __device__ __forceinline__

struct DeviceIndex {
  uint32_t x;
};
#define threadIdx (DeviceIndex{static_cast<uint32_t>(__nvvm_read_ptx_sreg_tid_x())})
#define blockIdx (DeviceIndex{static_cast<uint32_t>(__nvvm_read_ptx_sreg_ctaid_x())})
#define blockDim (DeviceIndex{static_cast<uint32_t>(__nvvm_read_ptx_sreg_ntid_x())})
#define gridDim (DeviceIndex{static_cast<uint32_t>(__nvvm_read_ptx_sreg_nctaid_x())})

// One array serves all kernels of a file; 16 is the widest access of a thread.
extern __shared__ __attribute__((aligned(16))) unsigned char device_dynamic_shared[];
#define DYNAMIC_SHARED(type, name) type* name = reinterpret_cast<type*>(device_dynamic_shared)

DEVICE_FN uint32_t lane_id() { return __nvvm_read_ptx_sreg_laneid(); }
DEVICE_FN uint32_t multiprocessor_id() { return __nvvm_read_ptx_sreg_smid(); }
DEVICE_FN uint32_t multiprocessor_count() { return __nvvm_read_ptx_sreg_nsmid(); }
DEVICE_FN uint64_t clock64() { return __nvvm_read_ptx_sreg_clock64(); }
DEVICE_FN uint64_t globaltimer() { return __nvvm_read_ptx_sreg_globaltimer(); }

// --- bits ---

DEVICE_FN int32_t __popc(uint32_t v) { return __builtin_popcount(v); }
DEVICE_FN int32_t __popcll(uint64_t v) { return __builtin_popcountll(v); }
DEVICE_FN int32_t __ffs(uint32_t v) { return __builtin_ffs(v); }
DEVICE_FN int32_t __ffsll(uint64_t v) { return __builtin_ffsll(v); }
DEVICE_FN int32_t __clz(uint32_t v) { return v == 0 ? 32 : __builtin_clz(v); }
DEVICE_FN int32_t __clzll(uint64_t v) { return v == 0 ? 64 : __builtin_clzll(v); }
DEVICE_FN uint32_t __brev(uint32_t v) { return __builtin_bitreverse32(v); }
DEVICE_FN uint64_t __brevll(uint64_t v) { return __builtin_bitreverse64(v); }
DEVICE_FN uint32_t __umulhi(uint32_t a, uint32_t b) { return __nvvm_mulhi_ui(a, b); }
DEVICE_FN uint64_t __umul64hi(uint64_t a, uint64_t b) { return __nvvm_mulhi_ull(a, b); }

// --- barriers, fences, waiting (clang itself declares __syncthreads) ---

DEVICE_FN void __syncwarp(uint32_t mask = FULL_MASK) { __nvvm_bar_warp_sync(mask); }
DEVICE_FN void __threadfence() { __nvvm_membar_gl(); }
DEVICE_FN void __threadfence_block() { __nvvm_membar_cta(); }
DEVICE_FN void __nanosleep(uint32_t nanoseconds) { __nvvm_nanosleep(nanoseconds); }
[[noreturn]] DEVICE_FN void trap() { __builtin_trap(); }

// --- votes, match, shuffles ---

DEVICE_FN uint32_t __ballot_sync(uint32_t mask, bool v) { return __nvvm_vote_ballot_sync(mask, v); }
DEVICE_FN bool __any_sync(uint32_t mask, bool v) { return __nvvm_vote_any_sync(mask, v); }
DEVICE_FN bool __all_sync(uint32_t mask, bool v) { return __nvvm_vote_all_sync(mask, v); }
DEVICE_FN uint32_t __activemask() { return __nvvm_activemask(); }

template <class T>
DEVICE_FN uint32_t __match_any_sync(uint32_t mask, T v) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "match takes 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(uint32_t, v));
  } else {
    return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(uint64_t, v));
  }
}

// The last operand of shfl.sync holds the lanes of a segment (high byte) and the lane that a source
// may not pass, counted in the segment: 0 for up, whose sources lie before the caller, 31 for the
// others. A value of 8 bytes takes two instructions.
#define DEVICE_SHUFFLE(name, builtin, argument, clamp)                                                     \
  template <class T>                                                                                       \
  DEVICE_FN T name(uint32_t mask, T v, argument, uint32_t width = warpSize) {                              \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");                         \
    const int32_t control = ((warpSize - width) << 8) | (clamp);                                           \
    if constexpr (sizeof(T) == 4) {                                                                        \
      return __builtin_bit_cast(T, builtin(mask, __builtin_bit_cast(int32_t, v), source, control));        \
    } else {                                                                                               \
      const uint64_t bits = __builtin_bit_cast(uint64_t, v);                                               \
      const uint32_t low = builtin(mask, static_cast<int32_t>(bits), source, control);                     \
      const uint64_t high = static_cast<uint32_t>(builtin(mask, static_cast<int32_t>(bits >> 32), source, control)); \
      return __builtin_bit_cast(T, high << 32 | low);                                                      \
    }                                                                                                      \
  }
DEVICE_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, int32_t source, 31)
DEVICE_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, uint32_t source, 0)
DEVICE_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, uint32_t source, 31)
DEVICE_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int32_t source, 31)
#undef DEVICE_SHUFFLE

// --- atomics: relaxed, of the device's scope ---

template <class T>
struct DeviceSame {
  using Type = T;
};
#define DEVICE_ATOMIC(name, builtin)                                                \
  template <class T>                                                                \
  DEVICE_FN T name(T* p, typename DeviceSame<T>::Type v) {                          \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 or 8 bytes"); \
    return builtin(p, v, __ATOMIC_RELAXED);                                         \
  }
DEVICE_ATOMIC(atomicAdd, __atomic_fetch_add)
DEVICE_ATOMIC(atomicAnd, __atomic_fetch_and)
DEVICE_ATOMIC(atomicOr, __atomic_fetch_or)
DEVICE_ATOMIC(atomicXor, __atomic_fetch_xor)
DEVICE_ATOMIC(atomicMin, __atomic_fetch_min)
DEVICE_ATOMIC(atomicMax, __atomic_fetch_max)
DEVICE_ATOMIC(atomicExch, __atomic_exchange_n)
#undef DEVICE_ATOMIC

DEVICE_FN double atomicAdd(double* p, double v) { return __nvvm_atom_add_gen_d(p, v); }

template <class T>
DEVICE_FN T atomicCAS(T* p, typename DeviceSame<T>::Type expected, typename DeviceSame<T>::Type desired) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 or 8 bytes");
  __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

// --- loads and stores that other threads' loads and stores meet ---

template <class T>
DEVICE_FN T ld_relaxed(const T* p) {
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}

template <class T>
DEVICE_FN void st_relaxed(T* p, typename DeviceSame<T>::Type v) {
  __atomic_store_n(p, v, __ATOMIC_RELAXED);
}

// clang 19 would give acquire and release the whole system's scope, whose fence costs more.
template <class T>
DEVICE_FN T ld_acquire(const T* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "acquire takes 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    uint32_t v;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return static_cast<T>(v);
  } else {
    uint64_t v;
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return static_cast<T>(v);
  }
}

template <class T>
DEVICE_FN void st_release(T* p, typename DeviceSame<T>::Type v) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "release takes 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(p), "r"(static_cast<uint32_t>(v)) : "memory");
  } else {
    asm volatile("st.release.gpu.u64 [%0], %1;" : : "l"(p), "l"(static_cast<uint64_t>(v)) : "memory");
  }
}

// The same for the two atomics that hand something over from thread to thread; p is in global
// memory. The address is made one of that space, which the compiler cannot see through asm.
DEVICE_FN uint32_t or_acquire(uint32_t* p, uint32_t v) {
  uint32_t old;
  asm volatile("{ .reg .u64 a; cvta.to.global.u64 a, %1; atom.acquire.gpu.global.or.b32 %0, [a], %2; }"
               : "=r"(old)
               : "l"(p), "r"(v)
               : "memory");
  return old;
}

DEVICE_FN void and_release(uint32_t* p, uint32_t v) {
  asm volatile("{ .reg .u64 a; cvta.to.global.u64 a, %0; red.release.gpu.global.and.b32 [a], %1; }"
               :
               : "l"(p), "r"(v)
               : "memory");
}

DEVICE_FN void ld_relaxed4(const uint32_t* p, uint32_t (&v)[4]) {
  asm volatile("{ .reg .u64 a; cvta.to.global.u64 a, %4; ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [a]; }"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "l"(p)
               : "memory");
}
#undef DEVICE_FN
