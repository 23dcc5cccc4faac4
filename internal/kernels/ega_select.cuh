// Which groups of a table are wanted: those that pass a filter on groups and, of an order with a
// limit, come among the first.
//
// Terms:
//
//   value    the result of an aggregate, or a key, as a word that follows from words of a group's
//            row (EgaValue)
//   program  steps over values (parquet_program.cuh): the filter on groups keeps a group, the word
//            that groups are put in order by is stored as EGA_RANK_WORD. What is stored under other
//            numbers only has to be computed without a failure
//   rank     that word as a number without sign, the less the earlier the group comes
//   unsure   of a group a step failed, where the host's arithmetic may not: the group is wanted,
//            and ranks with no other
//
// RANK-WEAK: of two groups the one that comes first has a rank that is not greater. Different
// groups may have equal ranks: who wants the first k wants all with the rank of the k-th. Where
// groups with equal ranks come in order of their hashes, and too many have that of the k-th, they
// are ranked by these in a second round (EgaWanted.by_hash).
#pragma once

#include "ega_table.cuh"
#include "parquet_program.cuh"

// EgaValueKind is what a value is made of.
enum EgaValueKind : uint8_t {
  EGA_VALUE_BITS,    // (word >> shift & mask) ^ flip
  EGA_VALUE_SIGNED,  // the same of an integer of `bits` bits, with its sign
  EGA_VALUE_ROWS,    // how many rows it is of (EgaPresence)
  EGA_VALUE_SUM,     // an integer of several words, the lowest signed: fails unless the others, from `high` on, are 0
  EGA_VALUE_WIDE,    // an integer of several words in two's complement: fails unless the others are its sign
  EGA_VALUE_POSITIVE,  // an integer of several words without sign: fails unless it is below 2^63
  EGA_VALUE_DOUBLE,  // a double + 0.0
  EGA_VALUE_DOUBLES,  // a sum of two: word + that at `high`
};

// EgaPresence is how many rows of a group a value is of: those of the group less those in which an
// argument is NULL; of a flag 1, or 0. The value is NULL if there are none.
struct EgaPresence {
  uint64_t least;  // is added to the first
  uint64_t rows_mask;
  uint64_t nulls_mask;
  uint32_t rows_word;  // of the group's row
  uint32_t nulls_word;
  uint8_t rows_shift;
  uint8_t nulls_shift;
};

// EgaValue is how the word of a value follows from a group's row.
struct EgaValue {
  EgaPresence presence;
  uint64_t mask;
  uint64_t flip;
  double point;  // above 0: the value is a mean, and divided by the number of its rows times this
  uint32_t word;  // of the group's row
  uint32_t high;
  uint32_t more;  // words from high on
  uint8_t kind;   // EgaValueKind
  uint8_t shift;
  uint8_t bits;
};

// EgaRank is how the stored word becomes a rank.
enum EgaRank : uint8_t { EGA_RANK_SIGNED, EGA_RANK_UNSIGNED, EGA_RANK_DOUBLE };

// EGA_RANK_WORD is the number of the stored word that ranks groups.
constexpr uint32_t EGA_RANK_WORD = 0;

// EgaWanted says which groups are wanted.
struct EgaWanted {
  const EgaValue* values;  // what the program loads, by number
  const ParquetStep* steps;
  uint64_t rows_mask;   // of the count of a group's rows
  uint64_t tied;        // with by_hash: the rank of those that are ranked by their hashes
  uint32_t rows_word;   // of the group's row
  uint32_t step_count;
  uint32_t registers;
  uint32_t every;       // of so many slots one is looked at: of 1 all
  uint8_t rows_shift;
  uint8_t rank;         // EgaRank
  uint8_t descending;
  uint8_t nulls_first;
  uint8_t by_hash;      // 1: lesser ranks than `tied` become 0, greater ones are not wanted
};

// EgaVerdict is what the program says of a group.
enum EgaVerdict : uint8_t { EGA_DROPPED, EGA_RANKED, EGA_UNSURE };

static __device__ __forceinline__ uint64_t ega_field(const uint64_t* row, uint32_t word, uint8_t shift, uint64_t mask) {
  return row[word] >> shift & mask;
}

// ega_value_rows is of how many rows a value is.
static __device__ __forceinline__ uint64_t ega_value_rows(const EgaPresence& p, const uint64_t* row) {
  return ega_field(row, p.rows_word, p.rows_shift, p.rows_mask) + p.least -
         ega_field(row, p.nulls_word, p.nulls_shift, p.nulls_mask);
}

// ega_value_word is a value that is not NULL, before it is divided.
static __device__ __forceinline__ ParquetResult ega_value_word(const EgaValue& v, const uint64_t* row, uint64_t rows) {
  const uint64_t word = row[v.word];
  const double number = __builtin_bit_cast(double, word);
  switch (v.kind) {
    case EGA_VALUE_BITS: return {(word >> v.shift & v.mask) ^ v.flip, false, false};
    case EGA_VALUE_SIGNED: return {uint64_t(int64_t(word >> v.shift << (64 - v.bits)) >> (64 - v.bits)) ^ v.flip, false, false};
    case EGA_VALUE_ROWS: return {rows, false, false};
    case EGA_VALUE_DOUBLE: return {__builtin_bit_cast(uint64_t, number + 0.0), false, false};
    case EGA_VALUE_DOUBLES: {  // internal/agg's compensated.value
      const double sum = number + __builtin_bit_cast(double, row[v.high]);
      return {sum != sum || number - number != 0 ? word : __builtin_bit_cast(uint64_t, sum), false, false};
    }
  }
  const uint64_t wanted = v.kind == EGA_VALUE_WIDE ? uint64_t(int64_t(word) >> 63) : 0;
  bool bad = v.kind == EGA_VALUE_POSITIVE && int64_t(word) < 0;
  for (uint32_t i = 0; i < v.more; i++) bad = bad || row[v.high + i] != wanted;
  return {word, false, bad};
}

// ega_value is a value of a group. A mean of integers fails where it would not be rounded once: its
// sum, or what it is divided by, has more than 53 bits.
static __device__ __forceinline__ ParquetResult ega_value(const EgaValue& v, const uint64_t* row) {
  constexpr int64_t EXACT = int64_t(1) << 53;
  const uint64_t rows = ega_value_rows(v.presence, row);
  if (rows == 0 && v.kind != EGA_VALUE_ROWS) return {0, true, false};
  ParquetResult value = ega_value_word(v, row, rows);
  if (v.point == 0 || value.bad) return value;
  const double by = static_cast<double>(int64_t(rows)) * v.point;
  const int64_t sum = int64_t(value.word);
  if (v.kind == EGA_VALUE_DOUBLES) {
    value.word = __builtin_bit_cast(uint64_t, __builtin_bit_cast(double, value.word) / by);
  } else {
    value.bad = sum > EXACT || sum < -EXACT || by > static_cast<double>(EXACT);
    value.word = __builtin_bit_cast(uint64_t, static_cast<double>(sum) / by);
  }
  return value;
}

// ega_rank is the rank of a group whose stored word is in register `at` (RANK-WEAK).
static __device__ __forceinline__ uint64_t ega_rank(const EgaWanted& wanted, const ParquetRegisters& of, uint32_t at) {
  if (of.null(at)) return wanted.nulls_first != 0 ? 0 : ~uint64_t(0);
  constexpr uint64_t SIGN = uint64_t(1) << 63;
  uint64_t rank = of.word(at);
  if (wanted.rank == EGA_RANK_DOUBLE) rank = uint64_t(ega_order(ega_canonical(rank)));
  if (wanted.rank != EGA_RANK_UNSIGNED) rank ^= SIGN;
  return wanted.descending != 0 ? ~rank : rank;
}

// ega_verdict runs the program on a group, and sets its rank.
static __device__ __forceinline__ EgaVerdict ega_verdict(const EgaWanted& wanted, const uint64_t* row, uint64_t* words,
                                                         uint64_t& rank) {
  ParquetRegisters registers = {words, 0, 0};
  bool kept = true, unsure = false;
  rank = 0;
  for (uint32_t s = 0; s < wanted.step_count; s++) {
    const ParquetStep step = wanted.steps[s];
    if (step.code == PARQUET_KEEP) {
      unsure = unsure || registers.bad(step.a);
      kept = registers.bad(step.a) || registers.is(step.a);
    } else if (step.code == PARQUET_STORE) {
      unsure = unsure || registers.bad(step.a);
      if (step.constant == EGA_RANK_WORD) rank = ega_rank(wanted, registers, step.a);
    } else {
      const bool loads = step.code == PARQUET_LOAD;
      const ParquetResult result =
          loads ? ega_value(wanted.values[step.constant], row) : parquet_result(step, registers);
      registers.put(step.to, result.word, result.null, result.bad);
    }
  }
  if (!kept) return EGA_DROPPED;
  if (unsure) return EGA_UNSURE;
  if (wanted.by_hash == 0) return EGA_RANKED;
  if (rank > wanted.tied) return EGA_DROPPED;
  rank = rank < wanted.tied ? 0 : row[0];  // the hash
  return EGA_RANKED;
}

// EgaGroups is the groups of a table, or of a sample of its slots, as threads go over them, each
// every so many'th slot, a warp as many rounds. The slots of a sample are as far apart as may be:
// slots side by side have hashes that are almost in order (HASH-ORDER), and groups are ranked by
// these, too.
struct EgaGroups {
  const EgaLayout& layout;
  const EgaWanted& wanted;
  EgaGlobal place;
  uint64_t* words;  // of the thread's registers

  __device__ __forceinline__ EgaGroups(const EgaLayout& layout, const EgaTable& table, const EgaWanted& wanted,
                                       uint64_t* words)
      : layout(layout), wanted(wanted), place(table, ega_stride<EgaAny>(layout)), words(words) {}

  __device__ __forceinline__ const uint64_t* row(uint64_t slot) const {
    return place.word(static_cast<uint32_t>(slot), 0);
  }

  __device__ __forceinline__ bool used(uint64_t slot) const {
    if (slot > place.table.slots) return false;
    const uint32_t at = static_cast<uint32_t>(slot);
    return layout.key_words == 1 ? ega_used<EgaKeys<1>>(layout, place, at) : ega_used<EgaAny>(layout, place, at);
  }

  // each calls f(slot, used, verdict, rank).
  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    const uint64_t every = wanted.every, most = place.table.slots / every;
    for (uint64_t first = uint64_t(blockIdx.x) * blockDim.x; first <= most; first += global_threads()) {
      const uint64_t slot = (first + threadIdx.x) * every;
      const bool in_use = used(slot);
      uint64_t rank = 0;
      const EgaVerdict verdict = in_use ? ega_verdict(wanted, row(slot), words, rank) : EGA_DROPPED;
      __syncwarp(FULL_MASK);
      f(slot, in_use, verdict, rank);
    }
  }
};
