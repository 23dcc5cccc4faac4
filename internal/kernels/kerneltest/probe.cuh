// A struct of every type that Go and kernels can share, with gaps between its members.
#pragma once

#include <stdint.h>

struct ProbePair {
  uint8_t small;
  uint32_t large;
  uint16_t three[3];
};

struct ProbeTypes {
  bool truth;
  double real;
  int8_t i8;
  int64_t i64;
  uint8_t u8;
  int16_t i16;
  uint16_t u16;
  float single;
  uint64_t u64;
  int32_t i32;
  const uint32_t* pointer;
  uint32_t u32;
  ProbePair pairs[2];
  uint8_t last;
};
