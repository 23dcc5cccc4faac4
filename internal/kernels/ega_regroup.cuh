// Rows of groups by some of the keys of other groups: [hash | key words | state words] of a group
// by all of its keys become the row of one by all but the last, which is a value that aggregates
// of distinct values take once.
//
// Terms:
//
//   from    the row of a group of the table
//   to      the row that is made of it
//   value   the last key of `from`, which `to` does not have. If it is not NULL, the states of its
//           part of the aggregates, which are those of no row in `from`, are those of one row in
//           `to`; the others are the same in both
//
// The hash of a key is that of internal/key: a mix of the hashes of its fields. It is the same as
// that of rows that the CPU makes (RESULT-ORDER).
#pragma once

#include "ega_table.cuh"
#include "parquet_fixed.cuh"
#include "parquet_sums.cuh"
#include "parquet_words.cuh"
#include "xxh3.cuh"

// The field hash of NULL: internal/key's NullHash.
constexpr uint64_t EGA_REGROUP_NULL = 0x8ebc6af09c88c6e3;

// Bytes of a text whose hash is that of two words: internal/key's MaxInline.
constexpr uint32_t EGA_REGROUP_SHORT = 15;

// EgaRegroupForm is what a field of a key holds, as internal/key's Form.
enum EgaRegroupForm : uint8_t {
  EGA_REGROUP_BITS,    // `bits` bits of a word, which are the hash too
  EGA_REGROUP_NUMBER,  // the same, the number of a text: `hashes` has its hash
  EGA_REGROUP_TEXT,    // a text, its length in the last byte of the words; or the ref of a long one
  EGA_REGROUP_RAW,     // 16 bytes
  EGA_REGROUP_WIDE,    // 32 bytes
};

// EgaRegroupKey is a field of the keys of both rows. Words are those of the row.
struct EgaRegroupKey {
  uint64_t from_null;  // the bit that is set in word from_null_word if it is NULL; 0: it never is
  uint64_t to_null;    // the same of to_null_word
  uint32_t from_null_word;
  uint32_t to_null_word;
  uint32_t from_word;  // the first one of the value
  uint32_t to_word;
  uint8_t form;        // EgaRegroupForm
  uint8_t words;       // that hold the value
  uint8_t from_shift;  // of the bits in their word
  uint8_t to_shift;
  uint8_t bits;
};

// EgaRegroupState is how a state word becomes that of one row with a value.
struct EgaRegroupState {
  uint64_t constant;  // of PARQUET_CONSTANT: is added to the word; of fixed-point numbers as in ParquetState
  uint32_t state;     // number of the state word
  uint8_t word;       // ParquetWord: what the word is instead, where both factors of a product are the value
  uint8_t number;     // ParquetNumber of the value
};

// EgaRegroupKind is how the value's word is made of its bits in the key.
enum EgaRegroupKind : uint8_t {
  EGA_REGROUP_UNSIGNED,  // as they are
  EGA_REGROUP_SIGNED,    // an integer
  EGA_REGROUP_FLOAT,     // of 32 bits: a double
};

// EgaRegroupPlan says how rows are made.
struct EgaRegroupPlan {
  const EgaRegroupKey* keys;  // in the order of the key columns, which the hash depends on
  const EgaRegroupState* states;
  const uint64_t* hashes;  // of texts, by number
  const uint64_t* arena;   // of the long texts whose refs begin with base; null: there is none
  uint64_t base;
  uint64_t null;       // the bit of word null_word that says that the value is NULL
  uint32_t null_word;  // of `from`
  uint32_t word;       // of `from`: where the value's bits are
  uint32_t key_count;
  uint32_t state_count;
  uint32_t hash_count;
  uint32_t key_words;  // of `to`
  uint8_t shift;
  uint8_t bits;
  uint8_t kind;  // EgaRegroupKind
};

// EgaRegroupStop is why rows cannot be made.
enum EgaRegroupStop : uint64_t {
  EGA_REGROUP_ELSEWHERE = 100,  // a text is not in the memory of the device
};

// ega_regroup_text is the field hash of a text whose words begin at `words`.
static __device__ __forceinline__ uint64_t ega_regroup_text(const EgaRegroupPlan& regroup, const uint64_t* words, uint32_t count,
                                                            uint64_t* stop) {
  const uint64_t last = words[count - 1];
  uint32_t size = uint32_t(last >> 56);
  if (size <= EGA_REGROUP_SHORT) return parquet_hash_words(words[0], count == 2 ? last : words[1] | uint64_t(size) << 56);
  const uint64_t* text = words;
  if (last >> 63 != 0) {
    text = regroup.arena + uint32_t(words[0]);
    size = uint32_t(last);
    if (regroup.arena == nullptr || (words[0] & ~uint64_t(0xffffffff)) != regroup.base) {
      atomicMax(stop, uint64_t(EGA_REGROUP_ELSEWHERE));
      return 0;
    }
  }
  return xxh3_hash(reinterpret_cast<const uint8_t*>(text), size);
}

// ega_regroup_field makes the words of a field, and returns its hash.
static __device__ __forceinline__ uint64_t ega_regroup_field(const EgaRegroupPlan& regroup, const EgaRegroupKey& key,
                                                             const uint64_t* from, uint64_t* to, uint64_t* stop) {
  if ((from[key.from_null_word] & key.from_null) != 0) {
    to[key.to_null_word] |= key.to_null;
    return EGA_REGROUP_NULL;
  }
  const uint64_t* words = from + key.from_word;
  if (key.form == EGA_REGROUP_BITS || key.form == EGA_REGROUP_NUMBER) {
    const uint64_t value = words[0] >> key.from_shift & ~uint64_t(0) >> (64 - key.bits);
    to[key.to_word] |= value << key.to_shift;
    if (key.form == EGA_REGROUP_BITS) return value;
    if (value < regroup.hash_count) return regroup.hashes[value];
    atomicMax(stop, uint64_t(EGA_REGROUP_ELSEWHERE));
    return 0;
  }
  for (uint32_t w = 0; w < key.words; w++) to[key.to_word + w] = words[w];
  switch (key.form) {
    case EGA_REGROUP_RAW: return parquet_hash_words(words[0], words[1]);
    case EGA_REGROUP_WIDE: return ega_mix(parquet_hash_words(words[0], words[1]), parquet_hash_words(words[2], words[3]));
  }
  return ega_regroup_text(regroup, words, key.words, stop);
}

// ega_regroup_value is the word of the value.
static __device__ __forceinline__ uint64_t ega_regroup_value(const EgaRegroupPlan& regroup, const uint64_t* from) {
  const uint64_t bits = from[regroup.word] >> regroup.shift & ~uint64_t(0) >> (64 - regroup.bits);
  switch (regroup.kind) {
    case EGA_REGROUP_SIGNED: return uint64_t(int64_t(bits << (64 - regroup.bits)) >> (64 - regroup.bits));
    case EGA_REGROUP_FLOAT: return __builtin_bit_cast(uint64_t, double(__builtin_bit_cast(float, uint32_t(bits))));
  }
  return bits;
}

// ega_regroup_state is a state word of one row with a value, which is `old` without.
static __device__ __forceinline__ uint64_t ega_regroup_state(const EgaRegroupState& state, uint64_t value, uint64_t old,
                                                             uint64_t* stop) {
  switch (state.word) {
    case PARQUET_CONSTANT: return old + state.constant;
    case PARQUET_COPY: return value;
    case PARQUET_PRODUCT: return value * value;
    case PARQUET_NOT: return ~value;
    case PARQUET_SIGN: return uint64_t(int64_t(value) >> 63);
    case PARQUET_UNSIGNED: return value ^ uint64_t(1) << 63;
    case PARQUET_UNSIGNED_NOT: return ~(value ^ uint64_t(1) << 63);
    case PARQUET_ORDER: return uint64_t(ega_order(ega_canonical(value)));
    case PARQUET_ORDER_NOT: return ~uint64_t(ega_order(ega_canonical(value)));
  }
  const double x = parquet_number(value, state.number);
  if (state.word == PARQUET_SUM) return __builtin_bit_cast(uint64_t, x + 0.0);
  const uint32_t factors = parquet_fixed_factors(state.word);
  return factors == 0 ? parquet_sum_word(state.word, x, x) : parquet_fixed(stop, state.constant, factors, x, x);
}

// ega_regroup_row makes the row `to` of the row `from`, and returns whether that has a value.
static __device__ __forceinline__ bool ega_regroup_row(const EgaLayout& layout, const EgaRegroupPlan& regroup, const uint64_t* from,
                                                       uint64_t* to, uint64_t* stop) {
  for (uint32_t k = 0; k < regroup.key_words; k++) to[1 + k] = 0;
  uint64_t hash = EGA_SEED;
  for (uint32_t k = 0; k < regroup.key_count; k++) {
    const EgaRegroupKey key = regroup.keys[k];
    hash = ega_mix(hash, ega_regroup_field(regroup, key, from, to, stop));
  }
  to[0] = hash;
  uint64_t* states = to + 1 + regroup.key_words;
  for (uint32_t s = 0; s < layout.state_words; s++) states[s] = from[1 + layout.key_words + s];
  if ((from[regroup.null_word] & regroup.null) != 0) return false;
  const uint64_t value = ega_regroup_value(regroup, from);
  for (uint32_t s = 0; s < regroup.state_count; s++) {
    const EgaRegroupState state = regroup.states[s];
    states[state.state] = ega_regroup_state(state, value, states[state.state], stop);
  }
  return true;
}
