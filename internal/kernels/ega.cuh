// Group-by aggregation on the device, of rows of 64-bit words (EGA, paper 003 section 4).
//
// Terms:
//
//   row       [hash | key words | state words], stride words in all; row r begins at
//             rows + r * stride
//   state     what the aggregates of a group have come to; two rows of one key combine word by
//             word, each as its operation says. The row of one input row has the states of that row
//             alone (a count of 1, the value ...), so that input rows and partial groups are the
//             same thing
//   identity  the state word that changes nothing when it is combined with another: what a new
//             group begins with
//   shape     what is known of a layout when the kernels are compiled: EgaPair, EgaKeys<1> to <4>;
//             EgaRare and EgaAny
//
// Files: this one has layouts, shapes, rows and their hash; ega_state.cuh combines states;
// ega_table.cuh has tables of rows in device or shared memory; ega_local.cuh is for those in shared
// memory; ega_gather.cuh makes rows dense; ega_lists.cuh keeps all values of a group;
// ega_kernels.cuh has the kernels, which ega_pair.cu, ega_key1.cu ... make for each shape.
//
// Invariants:
//
//   HASH-EQUAL   Equal keys have equal hashes. Nothing else is asked of a hash: it may be the same
//                for all rows.
//   HASH-ORDER   The top `skip` bits of a hash belong to the partition, the 32 bits below them
//                choose the slot, and greater ones a later slot; the lowest bits are the tag.
#pragma once

#include "device.cuh"

// Words that a row may have of each kind.
constexpr uint32_t EGA_MAX_KEYS = 8;
constexpr uint32_t EGA_MAX_STATES = 32;

// EgaLayout says what the words of a row are; a kernel takes it by value.
struct EgaLayout {
  const uint64_t* texts;  // the arena of the store (parquet_texts.cuh) to which EGA_TEXT_REF refers; null: there is none
  uint32_t hash_words;   // 1: word 0 is the hash; 0: it is computed from the key words
  uint32_t key_words;    // 1 to EGA_MAX_KEYS
  uint32_t state_words;  // 0 to EGA_MAX_STATES
  uint8_t ops[32];       // of each state word: EgaOp
  uint8_t mates[32];     // of an EGA_ADD_LO, EGA_ADD_MID, EGA_SUM or EGA_SUM_FINE: the state word that takes its carry or error; of
                         // an EGA_LEAST or EGA_LEAST_MID: the one that takes what it gives up; of a
                         // least or greatest text: the EGA_TEXT_REF; of what decides which value a
                         // group has: the next such word, or the EGA_PLACED (ega_placed.cuh)
};

// EgaOp is what becomes of a state word when rows combine. A word that another one names as its
// mate changes only with that one.
enum EgaOp : uint8_t {
  EGA_ADD,       // modulo 2^64
  EGA_ADD_LO,    // unsigned; sum = mate * 2^64 + this
  EGA_ADD_LO_I,  // signed; the same
  EGA_ADD_HI,    // the highest word of a sum: the mate of either, or of an EGA_ADD_MID
  EGA_SUM,       // double; sum = this + mate
  EGA_ERR,       // the mate of EGA_SUM or EGA_SUM_FINE: double
  EGA_MIN_I,     // int64_t
  EGA_MAX_I,
  EGA_MIN_U,     // uint64_t
  EGA_MAX_U,
  EGA_MIN_F,     // double: NaN is the greatest, -0 becomes 0
  EGA_MAX_F,
  EGA_AND,
  EGA_OR,
  EGA_XOR,
  EGA_ADD_MID,  // unsigned word of a sum of more than 128 bits, between the lowest and the highest: the mate of the
                // word below it; its own mate is the word above
  EGA_SUM_FINE,  // as EGA_SUM, with twice the digits of a double: the mate, an EGA_ERR, is kept small
  EGA_LEAST,     // int64_t: the least of all values; the words that follow as mates are the next ones, in order
  EGA_LEAST_MID,   // one of them that has a mate itself
  EGA_LEAST_LAST,  // the last of them
  EGA_LEAST_TEXT,     // uint64_t: the first 8 bytes of the least of all texts, the first byte the highest; the mate is its ref
  EGA_GREATEST_TEXT,  // the same of the greatest
  EGA_TEXT_REF,       // a ref to the store whose arena is EgaLayout.texts; 0: there is no text
  EGA_FIRST,       // int64_t: the least of all positions of rows; the mate is the value there
  EGA_LAST,        // the same of the greatest; -1: there is none
  EGA_BEST,        // int64_t: the least of all keys; the mate is an EGA_BEST_PLACE
  EGA_BEST_PLACE,  // int64_t: the least of the positions of rows with that key; the mate is the value there
  EGA_PLACED,      // a value, whatever it is
  EGA_LEAST_BY,      // as EGA_LEAST_TEXT: the least of all keys; the mate is an EGA_BY_REF
  EGA_GREATEST_BY,   // the same of the greatest
  EGA_BY_REF,        // as EGA_TEXT_REF; the mate is an EGA_BEST_PLACE
  EGA_OPS,  // how many there are
};

// EGA_EMPTY is what the key words of an empty slot are. A key may be the same: see ega_table.cuh.
constexpr uint64_t EGA_EMPTY = 0xa5f152c98e3d7b07;

// EgaPair is two words, a key and what is added up: 16 bytes, read and written at once.
struct EgaPair {
  static constexpr uint32_t MAX_KEYS = 1;
  static constexpr bool SINGLE = true;  // one key word, which is the claim to a slot
  static constexpr bool RARE = false;   // without the operations that few queries need
  static constexpr uint32_t BATCH = 4;  // rows that a thread has read before it looks at the first: hides latency
  static __device__ __forceinline__ uint32_t hashes(const EgaLayout&) { return 0; }
  static __device__ __forceinline__ uint32_t keys(const EgaLayout&) { return 1; }
  static __device__ __forceinline__ uint32_t states(const EgaLayout&) { return 1; }
  static __device__ __forceinline__ uint32_t op(const EgaLayout&, uint32_t) { return EGA_ADD; }
};

// EgaKeys has KEYS key words, EgaAny as many as the layout says, and all operations.
template <uint32_t KEYS>
struct EgaKeys {
  static constexpr uint32_t MAX_KEYS = KEYS;
  static constexpr bool SINGLE = KEYS == 1;
  static constexpr bool RARE = false;
  static constexpr uint32_t BATCH = KEYS == 1 ? 2 : 1;
  static __device__ __forceinline__ uint32_t hashes(const EgaLayout& layout) { return layout.hash_words; }
  static __device__ __forceinline__ uint32_t keys(const EgaLayout&) { return KEYS; }
  static __device__ __forceinline__ uint32_t states(const EgaLayout& layout) { return layout.state_words; }
  static __device__ __forceinline__ uint32_t op(const EgaLayout& layout, uint32_t i) { return layout.ops[i]; }
};

// EgaRare is EgaKeys<1> with all operations.
struct EgaRare : EgaKeys<1> {
  static constexpr bool RARE = true;
};

struct EgaAny : EgaKeys<EGA_MAX_KEYS> {
  static constexpr bool RARE = true;
  static __device__ __forceinline__ uint32_t keys(const EgaLayout& layout) { return layout.key_words; }
};

// ega_stride is the number of words of a row.
template <class Shape>
__device__ __forceinline__ uint32_t ega_stride(const EgaLayout& layout) {
  return Shape::hashes(layout) + Shape::keys(layout) + Shape::states(layout);
}

// ega_mix adds a key word to the hash of those before it: internal/key's mix, the mixing step of
// wyhash.
__device__ __forceinline__ uint64_t ega_mix(uint64_t hash, uint64_t word) {
  constexpr uint64_t MULTIPLIER = 0xe7037ed1a0b428db;
  uint64_t x = hash ^ word;
  return x * MULTIPLIER ^ __umul64hi(x, MULTIPLIER);
}

// What the hash of a key begins with: internal/key's hashSeed.
constexpr uint64_t EGA_SEED = 0xa0761d6478bd642f;

// ega_start is the slot, of so many, at which a hash begins (HASH-ORDER).
__device__ __forceinline__ uint32_t ega_start(uint64_t hash, uint32_t skip, uint32_t slots) {
  return __umulhi(static_cast<uint32_t>((hash << skip) >> 32), slots);
}

// EgaRow is a row that a thread has at hand: hash and key in registers, states where they are.
template <class Shape>
struct EgaRow {
  uint64_t hash;
  uint64_t key[Shape::MAX_KEYS];
  const uint64_t* states;
  uint32_t step;  // between state words: 1 in a row

  __device__ __forceinline__ uint64_t state(uint32_t i) const { return states[uint64_t(i) * step]; }
};

template <>
struct EgaRow<EgaPair> {
  uint64_t hash;
  uint64_t key[1];
  uint64_t value;

  __device__ __forceinline__ uint64_t state(uint32_t) const { return value; }
};

// EgaTwo is two words that one instruction reads or writes.
struct alignas(16) EgaTwo {
  uint64_t first, second;
};

// ega_hash computes the hash of a row that has none.
template <class Shape>
__device__ __forceinline__ uint64_t ega_hash(const EgaLayout& layout, const uint64_t* key) {
  uint64_t hash = EGA_SEED;
#pragma unroll
  for (uint32_t k = 0; k < Shape::MAX_KEYS; k++) {
    if (k < Shape::keys(layout)) hash = ega_mix(hash, key[k]);
  }
  return hash;
}

// ega_row reads row i.
template <class Shape>
__device__ __forceinline__ EgaRow<Shape> ega_row(const EgaLayout& layout, const uint64_t* rows, uint64_t i) {
  EgaRow<Shape> row;
  if constexpr (__is_same(Shape, EgaPair)) {
    EgaTwo pair = reinterpret_cast<const EgaTwo*>(rows)[i];
    row.key[0] = pair.first;
    row.value = pair.second;
    row.hash = ega_hash<Shape>(layout, row.key);
  } else {
    const uint64_t* at = rows + i * ega_stride<Shape>(layout);
    const uint64_t* key = at + Shape::hashes(layout);
#pragma unroll
    for (uint32_t k = 0; k < Shape::MAX_KEYS; k++) row.key[k] = k < Shape::keys(layout) ? key[k] : 0;
    row.states = key + Shape::keys(layout);
    row.step = 1;
    row.hash = Shape::hashes(layout) == 1 ? at[0] : ega_hash<Shape>(layout, row.key);
  }
  return row;
}

// ega_write makes row i of rows a copy of a row.
template <class Shape>
__device__ __forceinline__ void ega_write(const EgaLayout& layout, uint64_t* rows, uint64_t i,
                                          const EgaRow<Shape>& row) {
  if constexpr (__is_same(Shape, EgaPair)) {
    reinterpret_cast<EgaTwo*>(rows)[i] = EgaTwo{row.key[0], row.value};
  } else {
    uint64_t* at = rows + i * ega_stride<Shape>(layout);
    if (Shape::hashes(layout) == 1) *at++ = row.hash;
#pragma unroll
    for (uint32_t k = 0; k < Shape::MAX_KEYS; k++) {
      if (k < Shape::keys(layout)) *at++ = row.key[k];
    }
    for (uint32_t s = 0; s < Shape::states(layout); s++) at[s] = row.state(s);
  }
}
