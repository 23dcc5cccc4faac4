// How the emulator hands a kernel its parameters, which lie one behind the other as in a C struct.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tuple>
#include <type_traits>
#include <utility>

// ParamsLayout is the offsets of parameters of these types, and, last, their size without padding
// at the end.
template <class... Params>
struct ParamsLayout {
  size_t offsets[sizeof...(Params) + 1];

  constexpr ParamsLayout() : offsets{} {
    size_t at = 0, i = 0;
    ((at = (at + alignof(Params) - 1) / alignof(Params) * alignof(Params), offsets[i++] = at, at += sizeof(Params)), ...);
    offsets[i] = at;
  }
};

template <class... Params>
constexpr uint32_t params_bytes(void (*)(Params...)) {
  return ParamsLayout<Params...>().offsets[sizeof...(Params)];
}

template <class Param>
inline Param param_at(const void* params, size_t offset) {
  Param value;
  memcpy(&value, static_cast<const char*>(params) + offset, sizeof value);
  return value;
}

template <class... Params, size_t... I>
inline void unpack_at(void (*kernel)(Params...), [[maybe_unused]] const void* params, std::index_sequence<I...>) {
  [[maybe_unused]] constexpr ParamsLayout<Params...> layout;
  kernel(param_at<std::remove_const_t<Params>>(params, layout.offsets[I])...);
}

// unpack calls a kernel with the parameters at params.
template <class... Params>
inline void unpack(void (*kernel)(Params...), const void* params) {
  unpack_at(kernel, params, std::index_sequence_for<Params...>());
}
