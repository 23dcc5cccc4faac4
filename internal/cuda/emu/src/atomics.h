// CUDA's atomics, fences, and the loads and stores of device.cuh that other threads' meet, for host
// code. Part of device_emu.h.
//
// Each is a point where another thread may go on, before the access: so it also falls between a
// plain load and the atomic that relies on it.
#pragma once

namespace emu {

// How often threads change over: guesses. A loop that spins must let others go on soon, one that
// counts need not.
constexpr uint32_t atomic_point = 4, load_point = 2, store_point = 4;

template <class T>
inline void before(T* p, uint32_t once_in) {
  point(once_in);
  touch(p, sizeof(T));
}

// update is an atomic whose new value f makes of the old one. It returns the old one.
template <class T, class F>
inline T update(T* p, F f) {
  before(p, atomic_point);
  T old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, f(old), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}

}  // namespace emu

#define EMU_ATOMIC(name, builtin)                                                    \
  template <class T>                                                                 \
  inline T name(T* p, typename emu::Same<T>::Type v) {                               \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 or 8 bytes"); \
    emu::before(p, emu::atomic_point);                                               \
    return builtin(p, v, __ATOMIC_RELAXED);                                          \
  }
EMU_ATOMIC(atomicAdd, __atomic_fetch_add)
EMU_ATOMIC(atomicAnd, __atomic_fetch_and)
EMU_ATOMIC(atomicOr, __atomic_fetch_or)
EMU_ATOMIC(atomicXor, __atomic_fetch_xor)
EMU_ATOMIC(atomicExch, __atomic_exchange_n)
#undef EMU_ATOMIC

template <class T>
inline T atomicMin(T* p, typename emu::Same<T>::Type v) {
  return emu::update(p, [v](T old) { return old < v ? old : v; });
}

template <class T>
inline T atomicMax(T* p, typename emu::Same<T>::Type v) {
  return emu::update(p, [v](T old) { return old > v ? old : v; });
}

inline double atomicAdd(double* p, double v) {
  auto value = [](uint64_t bits) { return __builtin_bit_cast(double, bits); };
  auto* word = reinterpret_cast<uint64_t*>(p);
  return value(emu::update(word, [&](uint64_t old) { return __builtin_bit_cast(uint64_t, value(old) + v); }));
}

template <class T>
inline T atomicCAS(T* p, typename emu::Same<T>::Type expected, typename emu::Same<T>::Type desired) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 or 8 bytes");
  emu::before(p, emu::atomic_point);
  __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

template <class T>
inline T ld_relaxed(const T* p) {
  emu::before(p, emu::load_point);
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}

template <class T>
inline T ld_acquire(const T* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "acquire takes 4 or 8 bytes");
  emu::before(p, emu::load_point);
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

template <class T>
inline void st_relaxed(T* p, typename emu::Same<T>::Type v) {
  emu::before(p, emu::store_point);
  __atomic_store_n(p, v, __ATOMIC_RELAXED);
}

template <class T>
inline void st_release(T* p, typename emu::Same<T>::Type v) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "release takes 4 or 8 bytes");
  emu::before(p, emu::store_point);
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
}

inline uint32_t or_acquire(uint32_t* p, uint32_t v) {
  emu::before(p, emu::atomic_point);
  return __atomic_fetch_or(p, v, __ATOMIC_ACQUIRE);
}

inline void and_release(uint32_t* p, uint32_t v) {
  emu::before(p, emu::atomic_point);
  __atomic_fetch_and(p, v, __ATOMIC_RELEASE);
}

// Other threads may go on between the four loads, as each is an access of its own on the device
// too.
inline void ld_relaxed4(const uint32_t* p, uint32_t (&v)[4]) {
  for (uint32_t i = 0; i < 4; i++) v[i] = ld_relaxed(p + i);
}
