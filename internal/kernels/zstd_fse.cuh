// FSE tables (RFC 8878, section 4.1): how probable symbols are, and what states come of it.
#pragma once

#include "zstd.cuh"

// ZstdState is a state of a table: a symbol, and how the next state is read.
struct alignas(8) ZstdState {
  uint32_t base;  // what the symbol stands for,
  uint16_t next;  // the next state is this
  uint8_t bits;   // and so many bits
  uint8_t extra;  // and so many bits added to base; while a table is built: the symbol
};

constexpr uint32_t ZSTD_SYMBOLS = 53;  // of the longest alphabet that has a table

// ZstdOdds is how probable symbols are, in states of a table of 2^log; -1: one state, at its end.
struct ZstdOdds {
  int16_t of[ZSTD_SYMBOLS];
  uint8_t count;
  uint8_t log;
};

// zstd_odds reads them, of at most `symbols` symbols in a table of at most 2^most states, and goes
// behind them; false: they make no sense. For one thread. 4 bytes have to be there, as the CPU's
// decoder has it.
static __device__ __forceinline__ bool zstd_odds(ZstdSlice& in, uint32_t symbols, uint32_t most, ZstdOdds& odds) {
  if (in.n < 4) return false;
  uint32_t pos = 4;
  const uint32_t log = (in.at[0] & 15) + 5;
  if (log > most) return false;
  int32_t remaining = (1 << log) + 1, threshold = 1 << log;
  uint32_t bits = log + 1, count = 0;
  bool zero = false;
  while (remaining > 1 && count < symbols) {
    if (zero) {
      uint32_t more;
      do {
        more = in.number(pos / 8, 2) >> (pos % 8) & 3;
        pos += 2;
        if (count + more > symbols || pos / 8 > in.n) return false;
        for (uint32_t i = 0; i < more; i++) odds.of[count++] = 0;
      } while (more == 3);
      if (count == symbols) break;
    }
    const int32_t v = static_cast<int32_t>(in.number(pos / 8, 4) >> (pos % 8)), most_short = 2 * threshold - 1 - remaining;
    int32_t odd = v & (threshold - 1);
    if (odd < most_short) {
      pos += bits - 1;
    } else {
      odd = v & (2 * threshold - 1);
      if (odd >= threshold) odd -= most_short;
      pos += bits;
    }
    odd--;
    remaining -= odd < 0 ? -odd : odd;
    odds.of[count++] = static_cast<int16_t>(odd);
    zero = odd == 0;
    while (remaining < threshold && bits > 1) {
      bits--;
      threshold >>= 1;
    }
  }
  const uint32_t bytes = (pos + 7) / 8;
  if (remaining != 1 || count < 2 || bytes > in.n) return false;
  odds.count = static_cast<uint8_t>(count);
  odds.log = static_cast<uint8_t>(log);
  in.skip(bytes);
  return true;
}

// zstd_states makes the table, but for what symbols stand for. For one thread: it takes some 100
// cycles a state, and a block comes to some hundred states, beside thousands of sequences.
static __device__ __forceinline__ void zstd_states(ZstdOdds& odds, ZstdState* states) {
  const uint32_t size = 1u << odds.log, step = (size >> 1) + (size >> 3) + 3;
  uint32_t high = size - 1, place = 0;
  for (uint32_t s = 0; s < odds.count; s++) {
    if (odds.of[s] != -1) continue;
    states[high--].extra = static_cast<uint8_t>(s);
    odds.of[s] = 0x4000;  // has its place
  }
  for (uint32_t s = 0; s < odds.count; s++) {
    if (odds.of[s] == 0x4000) {
      odds.of[s] = 1;
      continue;
    }
    for (int32_t i = 0; i < odds.of[s]; i++) {
      states[place].extra = static_cast<uint8_t>(s);
      do place = (place + step) & (size - 1);
      while (place > high);
    }
  }
  for (uint32_t i = 0; i < size; i++) {
    ZstdState state = states[i];
    const uint32_t n = odds.of[state.extra]++;
    state.bits = static_cast<uint8_t>(odds.log - (31 - __clz(n)));
    state.next = static_cast<uint16_t>((n << state.bits) - size);
    states[i] = state;
  }
}
