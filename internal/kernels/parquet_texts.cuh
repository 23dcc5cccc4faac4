// Strings of any length: pages of them, the words that they have in a key, and the refs that states
// have of them.
//
// A string of more bytes than its field of the key has room for has two words that are not 0
// (internal/key: longWord): a ref to its bytes, and a mark with bits of its hash and its size. A
// state refers to strings of any size. All jobs of a run share one store that has each such string
// once, so that equal words are equal strings (TEXT-ONCE of package key).
//
// # The store
//
//   arena  values one behind the other, at multiples of 8 bytes, each behind a header of its size
//          and of its room, as in a chunk of package arena: no room, since many rows refer to it
//          (SHARED-KEPT there). A ref is `base` and where the bytes begin, in units of 8 bytes: the
//          host gives the run's registry a copy of the arena as the chunk of that base
//   slots  a table, open addressing. A slot has 32 bits of a hash, of which one is always set, and
//          where the bytes are in the arena, in units of 8 bytes. 0: it is free
//
// A thread that finds a free slot claims it with a place of PARQUET_TEXT_CLAIMED, puts the string
// into the arena, and then writes the place. Who comes meanwhile with the same 32 bits looks again
// until the place is there: it waits for a thread that runs and waits for nobody. Whatever a thread
// does between two looks it does in one turn of its loop, so that threads of a warp that claimed
// are not kept from going on by those that look.
//
// Where the arena or the table is full the job is stopped: PARQUET_STOP_TEXTS.
#pragma once

#include "chain_page.cuh"
#include "parquet_levels.cuh"
#include "parquet_strings.cuh"
#include "xxh3.cuh"

// What a slot has in place of a place: claimed, and lost for want of room.
constexpr uint32_t PARQUET_TEXT_CLAIMED = 0;
constexpr uint32_t PARQUET_TEXT_LOST = 0xffffffff;

// Slots that a string is looked for in: a table that is three quarters full hardly needs as many.
constexpr uint32_t PARQUET_TEXT_PROBES = 256;

constexpr uint64_t PARQUET_TEXT_MARK = uint64_t(0x80) << 56;  // internal/key: longMark

// The last word of a string whose first word is the address of its bytes, and whose others are not
// written: parquet_texts_rows makes the words that it has in a key. The low 32 bits are its size.
constexpr uint64_t PARQUET_TEXT_RAW = uint64_t(0xc0) << 56;

// What is set in the word of a PARQUET_REF that is no ref yet: the others are the address of the
// string's bytes, which lie behind their size in a page. Neither refs nor addresses have it.
constexpr uint64_t PARQUET_REF_RAW = uint64_t(1) << 63;

// parquet_same_text tells whether a value of the arena is the string at p. The words of the arena
// are read past the first-level cache, which may have what they were before.
__device__ __forceinline__ bool parquet_same_text(const ParquetTextStore& store, uint32_t place, const uint8_t* p, uint32_t size) {
  const uint64_t* word = store.arena + place;
  if (uint32_t(ld_relaxed(word - 1)) != size) return false;
  uint32_t left = size;
  for (; left >= 8; left -= 8, p += 8) {
    if (ld_relaxed(word++) != parquet_load(p, 8)) return false;
  }
  return left == 0 || ld_relaxed(word) == parquet_load(p, left);
}

// parquet_put_text puts a string into the arena, and returns its place; PARQUET_TEXT_LOST: there is
// no room.
__device__ __forceinline__ uint32_t parquet_put_text(const ParquetTextStore& store, const uint8_t* p, uint32_t size) {
  const uint32_t words = uint32_t((uint64_t(size) + 7) / 8);
  const uint64_t at = atomicAdd(store.used, uint64_t(words) + 1);
  if (at + words + 1 > store.words) return PARQUET_TEXT_LOST;
  uint64_t* to = store.arena + at;
  *to++ = size;
  uint32_t left = size;
  for (; left >= 8; left -= 8, p += 8) *to++ = parquet_load(p, 8);
  if (left > 0) *to = parquet_load(p, left);
  atomicAdd(store.used + 1, 1);
  return uint32_t(at) + 1;
}

// parquet_place_of_text is the place of a long string in the arena, into which it is put if it is
// not there; PARQUET_TEXT_LOST: there is no room.
__device__ __forceinline__ uint32_t parquet_place_of_text(const ParquetTextStore& store, const uint8_t* p, uint32_t size, uint64_t hash) {
  const uint32_t tag = uint32_t(hash >> 32) | 1;
  uint64_t at = hash;
  for (uint32_t probes = 0; probes < PARQUET_TEXT_PROBES;) {
    uint64_t* slot = store.slots + (at & store.mask);
    const uint64_t own = uint64_t(tag) << 32;
    uint64_t seen = ld_acquire(slot);
    if (seen == 0) {
      seen = atomicCAS(slot, 0, own | PARQUET_TEXT_CLAIMED);
      if (seen == 0) {
        const uint32_t place = parquet_put_text(store, p, size);
        __threadfence();
        st_release(slot, own | place);
        return place;
      }
    }
    const uint32_t place = uint32_t(seen);
    if (seen >> 32 == tag) {
      if (place == PARQUET_TEXT_CLAIMED) continue;
      if (place == PARQUET_TEXT_LOST) return place;
      if (parquet_same_text(store, place, p, size)) return place;
    }
    at++;
    probes++;
  }
  return PARQUET_TEXT_LOST;
}

// parquet_hash_of_text is the field hash of a string: internal/key's hashText.
__device__ __forceinline__ uint64_t parquet_hash_of_text(const uint8_t* p, uint32_t size) {
  if (size > PARQUET_MAX_INLINE) return xxh3_hash(p, size);
  const uint64_t lo = parquet_load(p, size < 8 ? size : 8);
  return parquet_hash_words(lo, parquet_load(p + 8, size < 8 ? 0 : size - 8) | uint64_t(size) << 56);
}

// parquet_put_ref writes the ref of the string at p, of any size.
__device__ __forceinline__ void parquet_put_ref(const ParquetJob& job, const ParquetArrays& arrays, uint32_t row, const uint8_t* p,
                                                uint32_t size) {
  const uint32_t place = parquet_place_of_text(job.store, p, size, parquet_hash_of_text(p, size));
  if (place == PARQUET_TEXT_LOST) return parquet_stop(job.stop, PARQUET_STOP_TEXTS);
  arrays.put(0, row, job.store.base | place);
}

// parquet_words_of_text makes the words and the field hash of the string at p, of any size, of
// which an output holds as many bytes itself as its words have room for.
__device__ __forceinline__ void parquet_words_of_text(const ParquetJob& job, const ParquetArrays& arrays, uint32_t words,
                                                      uint32_t row, const uint8_t* p, uint32_t size) {
  if (words == 2 && size <= PARQUET_MAX_INLINE) return parquet_string(arrays, row, p, size);
  const uint32_t last = words - 1;
  const uint64_t hash = parquet_hash_of_text(p, size);
  arrays.put(words, row, hash);
  if (size < 8 * words) {
    for (uint32_t w = 0; w < words; w++) {
      const uint32_t left = size > 8 * w ? size - 8 * w : 0;
      arrays.put(w, row, parquet_load(p + 8 * w, left < 8 ? left : 8) | (w == last ? uint64_t(size) << 56 : 0));
    }
    return;
  }
  const uint32_t place = parquet_place_of_text(job.store, p, size, hash);
  if (place == PARQUET_TEXT_LOST) return parquet_stop(job.stop, PARQUET_STOP_TEXTS);
  arrays.put(0, row, job.store.base | place);
  for (uint32_t w = 1; w < last; w++) arrays.put(w, row, 0);
  arrays.put(last, row, PARQUET_TEXT_MARK | hash >> 40 << 32 | size);
}

// ParquetStrings is the strings of a PLAIN page, as chain_page.cuh wants its elements.
struct ParquetStrings {
  static constexpr uint32_t NEAR = 1024;

  uint32_t rows;  // of the page

  __device__ __forceinline__ uint32_t bytes(const uint8_t* at) const {
    const uint32_t size = uint32_t(parquet_load(at, 4));
    return size < CHAIN_ENDLESS - 4 ? size + 4 : CHAIN_ENDLESS;
  }

  __device__ __forceinline__ uint32_t behind(const uint8_t* at, uint32_t left) const {
    if (left < 4) return CHAIN_NONE;
    const uint32_t size = uint32_t(parquet_load(at, 4));
    return size <= left - 4 ? size + 4 : CHAIN_NONE;
  }

  __device__ __forceinline__ uint32_t length(const uint8_t* at, uint32_t left) const {
    return behind(at, left) == CHAIN_NONE ? 0 : 1;
  }

  __device__ __forceinline__ uint32_t most() const { return rows; }
};

// ParquetStringsPage is a page of strings of any length.
struct ParquetStringsPage {
  ChainPage chain;  // of strings of different lengths
  ParquetStrings strings;
  uint32_t* each;  // in front of the chain's memory: the bytes that all strings have, or PARQUET_UNEVEN
};
constexpr uint32_t PARQUET_UNEVEN = 0xffffffff;
constexpr uint32_t PARQUET_EACH_ROOM = 16;  // bytes of `each`

// parquet_strings_page reads where the strings of a page lie, and what is found out of them; false:
// it has none.
__device__ __forceinline__ bool parquet_strings_page(const ParquetJob& job, const ParquetPage& page, ParquetStringsPage& p) {
  if (page.texts == 0) return false;
  const ParquetParts body = parquet_parts(page, parquet_bytes(job, page));
  if (body.damaged || body.values.size == 0) return false;
  p.strings = {page.rows};
  p.each = reinterpret_cast<uint32_t*>(job.work + page.runs);
  p.chain.elements = body.values.at;
  p.chain.n = body.values.size;
  p.chain.place(job.work + page.runs + PARQUET_EACH_ROOM);
  return true;
}

// parquet_strings_even finds out whether all strings of a page have the length of the first, which
// is mostly so where they are codes. Each is then where the string before it ends, as EVEN of
// parquet_strings.cuh has it. All threads of a block call. `uneven` is shared memory, 0 before. The
// barriers: before the answer is read, in each round, and behind the last.
__device__ __forceinline__ void parquet_strings_even(const ParquetStringsPage& p, uint32_t* uneven) {
  constexpr uint32_t ROUND = 8;  // strings of a thread
  const uint32_t size = p.chain.n < 4 ? PARQUET_UNEVEN : uint32_t(parquet_load(p.chain.elements, 4));
  const uint64_t apart = uint64_t(size) + 4, count = p.chain.n / apart;
  bool good = count * apart == p.chain.n;
  for (uint64_t first = 0; good && first < count; first += blockDim.x * ROUND) {
    bool even = true;
    for (uint32_t i = 0; i < ROUND; i++) {
      const uint64_t at = first + i * blockDim.x + threadIdx.x;
      if (at < count) even &= uint32_t(parquet_load(p.chain.elements + at * apart, 4)) == size;
    }
    if (!even) st_relaxed(uneven, 1);
    __syncthreads();
    good = ld_relaxed(uneven) == 0;
    __syncthreads();
  }
  if (threadIdx.x == 0) *p.each = good ? size : PARQUET_UNEVEN;
}

// parquet_cut_of leaves of a string what an output has of it.
__device__ __forceinline__ void parquet_cut_of(const ParquetJob& job, const ParquetOutput& output, const uint8_t*& p, uint32_t& size) {
  if (output.cut != 0) parquet_cut(job.patterns + output.cut - 1, p, size);
}

// parquet_put_raw writes where the string at p is, unless its words tell all of it.
__device__ __forceinline__ void parquet_put_raw(const ParquetJob& job, const ParquetOutput& output, const ParquetArrays& arrays,
                                                uint32_t row, const uint8_t* p, uint32_t size) {
  parquet_cut_of(job, output, p, size);
  const bool is_short = size <= PARQUET_MAX_INLINE && output.words == 2;
  if (parquet_put_told(job, output, arrays, row, p, size)) return;
  if (output.form == PARQUET_REF) return arrays.put(0, row, PARQUET_REF_RAW | reinterpret_cast<uint64_t>(p));
  if (is_short) return parquet_string(arrays, row, p, size);
  if (output.texts == 0) return parquet_stop(job.stop, PARQUET_STOP_LONG);
  arrays.put(0, row, reinterpret_cast<uint64_t>(p));
  arrays.put(output.words - 1, row, PARQUET_TEXT_RAW | size);
}

// parquet_is_true tells whether an output of the program is 1 in a row.
__device__ __forceinline__ bool parquet_is_true(const ParquetJob& job, uint32_t output, uint32_t row) {
  const uint32_t place = job.places[output * job.array_words + row];
  return place != PARQUET_NULL && job.arrays[job.outputs[output].array * job.array_words + place] == 1;
}

// parquet_settle_raw makes the words of what parquet_put_raw has written, if there is more to them.
__device__ __forceinline__ void parquet_settle_raw(const ParquetJob& job, const ParquetOutput& output, uint32_t place) {
  const ParquetArrays arrays = {job.arrays + output.array * job.array_words, job.array_words};
  const uint64_t first = arrays.get(0, place);
  if (output.form == PARQUET_REF) {
    const uint8_t* p = reinterpret_cast<const uint8_t*>(first & ~PARQUET_REF_RAW);
    if ((first & PARQUET_REF_RAW) != 0) parquet_put_ref(job, arrays, place, p, uint32_t(parquet_load(p - 4, 4)));
    return;
  }
  const uint64_t last = arrays.get(output.words - 1, place);
  if (last >> 56 != PARQUET_TEXT_RAW >> 56) return;
  parquet_words_of_text(job, arrays, output.words, place, reinterpret_cast<const uint8_t*>(first), uint32_t(last));
}

// parquet_each_string calls each(row, at, size) for the first `rows` strings of a page, those of
// this block, which is share `part` of `parts`. All threads of the block call. `sums` is
// shared memory. The barriers: that of each sum, and one before the next.
template <class Each>
__device__ __forceinline__ void parquet_each_string(const ParquetJob& job, const ParquetPage& page, uint32_t rows, uint32_t part,
                                                    uint32_t parts, uint32_t* sums, const Each& each) {
  if (rows == 0) return;
  ParquetStringsPage p;
  if (!parquet_strings_page(job, page, p)) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  if (*p.each != PARQUET_UNEVEN) {
    const uint64_t apart = uint64_t(*p.each) + 4;
    if (rows * apart > p.chain.n) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
    for (uint64_t row = part * blockDim.x + threadIdx.x; row < rows; row += parts * blockDim.x) {
      each(uint32_t(row), p.chain.elements + row * apart + 4, *p.each);
    }
    return;
  }
  const uint32_t count = p.chain.window_count, share = (count + parts - 1) / parts;
  const uint32_t lo = uint64_t(part) * share < count ? part * share : count, hi = count - lo < share ? count : lo + share;
  if (lo == hi) return;
  uint32_t row = 0;
  for (uint32_t first = 0; first < lo; first += blockDim.x) {
    const uint32_t w = first + threadIdx.x;
    uint32_t total;
    block_sum_up_to(w < lo ? p.chain.windows[w].sum : 0, page.rows, sums, total);
    row = add_up_to(row, total, page.rows);
    __syncthreads();
  }
  for (uint32_t w = lo; w < hi && row < rows; w++) {
    const uint32_t n = p.chain.windows[w].sum;
    for (uint32_t i = threadIdx.x; i < n && i < rows - row; i += blockDim.x) {
      const uint8_t* at = p.chain.elements + w * CHAIN_WINDOW + p.chain.table[w * CHAIN_ENTRIES + i];
      each(row + i, at + 4, uint32_t(parquet_load(at, 4)));
    }
    row = add_up_to(row, n, page.rows);
  }
  if (hi == count && row < rows && threadIdx.x == 0) parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
}
