// Tables of rows: open addressing with linear probing, in device memory (EgaGlobal) or in a block's
// shared memory (EgaLocal). Threads find the slot of a key or claim one, then combine their row
// into it.
//
// A new slot already has the identities in its state words, so whoever has found a slot combines at
// once and waits for nobody. What has to be settled is which key a slot is for:
//
//   one key word     The word itself is the claim: atomicCAS from EGA_EMPTY to the key. A key that
//                    equals EGA_EMPTY has slot number `slots`, behind all others, to itself;
//                    tags[0] says whether it is in use.
//   several          A tag a slot: 0, or 30 bits of the hash with the state of the slot in the two
//                    lowest bits.
//
//                        0 --atomicCAS--> hash | TAG_CLAIMED --key words, fence--> hash | TAG_READY
//
//                    The words are whole for those who see TAG_READY and fence. That fence is dear
//                    in device memory, and mostly not needed: before the claim the words were
//                    EGA_EMPTY, and only the claimer writes them, so words that equal the key, none
//                    of it EGA_EMPTY, are what the claimer wrote (KEY-SEEN). Only those who see
//                    something else with 30 equal bits of the hash wait.
//
// Invariants:
//
//   SLOT-ONCE   A slot gets a key once and keeps it: no row is taken out. So all rows of a key,
//               which look at slots in the same order, end in the same slot.
//   WAIT-ENDS   Who waits, waits for TAG_READY of a claimer that waits for nobody. Lanes of a warp
//               may wait for each other: from sm_70 on they progress independently.
//   ROW-KEPT    A row that finds no slot goes to the rest, as a row. Nothing is lost while the rest
//               has room.
//
// Threads read what others write with no barrier between them. A race checker that knows only
// barriers and atomics (compute-sanitizer's racecheck) reports such pairs in shared memory. All are
// accesses of a whole word by ld_relaxed, st_relaxed or an atomic:
//
//   tag         TAG_READY is stored behind a fence and read before one: a release and an acquire,
//               of the block in EgaLocal, of the device in EgaGlobal. Who has seen it sees the key
//               words.
//   key word    Read while its claimer writes it, it is EGA_EMPTY or the key's, never a mix:
//               KEY-SEEN, or for a key of one word the compare-and-swap itself, decides.
//   hash word   Written by the claimer, that of the extra slot by all its rows with one value
//               (HASH-EQUAL); nobody reads it but ega_taken, behind a barrier or in a later kernel,
//               and ega_count_first, to which EGA_EMPTY says that there is none yet.
//   state word  Read before an atomic min, max, and, or: the word only ever goes one way, so what
//               is out of date costs that atomic and nothing else. Sums are not read before they
//               are whole.
//
// A word is added to in halves of 32 bits or as one of 64, never both ways: its operation says
// which.
#pragma once

#include "ega_rare.cuh"
#include "status.cuh"

constexpr uint32_t TAG_CLAIMED = 1, TAG_READY = 3, TAG_STATE = 3;

// No slot.
constexpr uint32_t EGA_NONE = 0xffffffff;

// EgaTable is a table in device memory.
struct EgaTable {
  uint64_t* rows;   // slots + 1 rows
  uint32_t* tags;   // a word a slot; 1 word with keys of one word
  uint32_t slots;   // 1 to 2^32 - 2
  uint32_t skip;    // top bits of the hash that belong to the partition, below 32
  uint32_t probes;  // slots that are looked at before a row goes to the rest, 1 to slots
};

// EgaRest is where rows go that find no slot. Rows past its capacity are lost, which status tells.
struct EgaRest {
  uint64_t* rows;
  uint64_t* count;       // how many there are, or would be
  uint64_t capacity;     // rows
  uint32_t* status;      // table_full: the rest was too small
  const uint64_t* stop;  // not 0: the rows could not be made, so none is taken; null: they are there in any case
  uint64_t* sent;        // added up: rows and groups that went from the tables of blocks to that in device memory; may be null
};

// ega_stopped says whether there are no rows to take. Nobody writes the word while a kernel runs
// that asks, so all threads get one answer, and may end before a barrier.
__device__ __forceinline__ bool ega_stopped(const EgaRest& rest) { return rest.stop != nullptr && *rest.stop != 0; }

// EgaGlobal is a table in device memory, by rows.
struct EgaGlobal : EgaGlobalWords {
  EgaTable table;
  uint32_t stride;

  __device__ __forceinline__ EgaGlobal(const EgaTable& t, uint32_t words) : table(t), stride(words) {}
  __device__ __forceinline__ uint32_t start(uint64_t hash) const { return ega_start(hash, table.skip, table.slots); }
  __device__ __forceinline__ uint32_t next(uint32_t slot) const { return slot + 1 == table.slots ? 0 : slot + 1; }
  __device__ __forceinline__ uint32_t probes() const { return table.probes; }
  __device__ __forceinline__ uint32_t extra() const { return table.slots; }
  __device__ __forceinline__ uint64_t* word(uint32_t slot, uint32_t w) const {
    return table.rows + uint64_t(slot) * stride + w;
  }
  __device__ __forceinline__ uint32_t* tag(uint32_t slot) const { return table.tags + slot; }
  __device__ __forceinline__ uint32_t step() const { return 1; }
  static __device__ __forceinline__ void fence() { __threadfence(); }
};

// EgaLocal is a table in shared memory, by columns, so that the lanes of a warp seldom meet in a
// bank. It has a part for every so many'th lane: where there are few groups, lanes with the same
// key would meet in a word.
struct EgaLocal : EgaSharedWords {
  uint64_t* words;  // (slots + 1) a column
  uint32_t* tags;   // behind the columns
  uint32_t slots, skip, limit;
  uint32_t first, last;  // the caller's part is [first, last)

  // One part, or several: a power of two up to 32, not more than slots.
  __device__ __forceinline__ EgaLocal(uint64_t* memory, uint32_t stride, uint32_t slots, uint32_t skip, uint32_t limit,
                                      uint32_t parts)
      : words(memory),
        tags(reinterpret_cast<uint32_t*>(memory + uint64_t(slots + 1) * stride)),
        slots(slots),
        skip(skip) {
    uint32_t part = slots / parts;
    this->limit = limit < part ? limit : part;
    first = lane_id() % parts * part;
    last = first + part;
  }
  __device__ __forceinline__ uint32_t start(uint64_t hash) const { return first + ega_start(hash, skip, last - first); }
  __device__ __forceinline__ uint32_t next(uint32_t slot) const { return slot + 1 == last ? first : slot + 1; }
  __device__ __forceinline__ uint32_t probes() const { return limit; }
  __device__ __forceinline__ uint32_t extra() const { return slots; }
  __device__ __forceinline__ uint64_t* word(uint32_t slot, uint32_t w) const { return words + w * (slots + 1) + slot; }
  __device__ __forceinline__ uint32_t* tag(uint32_t slot) const { return tags + slot; }
  __device__ __forceinline__ uint32_t step() const { return slots + 1; }
  static __device__ __forceinline__ void fence() { __threadfence_block(); }
};

// ega_fresh is what word w of an empty slot is.
template <class Shape>
__device__ __forceinline__ uint64_t ega_fresh(const EgaLayout& layout, uint32_t w) {
  uint32_t before = Shape::hashes(layout) + Shape::keys(layout);
  return w < before ? EGA_EMPTY : ega_identity(Shape::op(layout, w - before));
}

// ega_put writes hash and key words from number `from` on into a slot that the caller has claimed.
template <class Shape, class Place>
__device__ __forceinline__ void ega_put(const EgaLayout& layout, const Place& place, uint32_t slot,
                                        const EgaRow<Shape>& row, uint32_t from) {
  uint32_t hashes = Shape::hashes(layout);
  if (hashes == 1) st_relaxed(place.word(slot, 0), row.hash);
#pragma unroll
  for (uint32_t k = 0; k < Shape::MAX_KEYS; k++) {
    if (k >= from && k < Shape::keys(layout)) st_relaxed(place.word(slot, hashes + k), row.key[k]);
  }
}

// EgaSeen is what a thread can say of a slot's key without a fence.
enum EgaSeen { SEEN_EQUAL, SEEN_OTHER };

// ega_compare compares the key words of a slot. SURE: they are whole; else "equal" means KEY-SEEN.
template <bool SURE, class Shape, class Place>
__device__ __forceinline__ EgaSeen ega_compare(const EgaLayout& layout, const Place& place, uint32_t slot,
                                               const EgaRow<Shape>& row) {
  bool equal = true;
#pragma unroll
  for (uint32_t k = 0; k < Shape::MAX_KEYS; k++) {
    if (k >= Shape::keys(layout)) continue;
    uint64_t word = ld_relaxed(place.word(slot, Shape::hashes(layout) + k));
    if (word != row.key[k] || (!SURE && word == EGA_EMPTY)) equal = false;
  }
  return equal ? SEEN_EQUAL : SEEN_OTHER;
}

// ega_claim_word says whether a slot is for the row's key of one word, other than EGA_EMPTY; an
// empty one becomes it.
template <class Shape, class Place>
__device__ __forceinline__ bool ega_claim_word(const EgaLayout& layout, const Place& place, uint32_t slot,
                                               const EgaRow<Shape>& row) {
  uint64_t* p = place.word(slot, Shape::hashes(layout));
  uint64_t old = ld_relaxed(p);
  if (old == EGA_EMPTY) {
    old = atomicCAS(p, EGA_EMPTY, row.key[0]);
    if (old == EGA_EMPTY) {
      ega_put(layout, place, slot, row, 1);
      return true;
    }
  }
  return old == row.key[0];
}

// ega_claim_tag is the same for a key of several words.
template <class Shape, class Place>
__device__ __forceinline__ bool ega_claim_tag(const EgaLayout& layout, const Place& place, uint32_t slot,
                                              const EgaRow<Shape>& row) {
  uint32_t* p = place.tag(slot);
  uint32_t bits = static_cast<uint32_t>(row.hash) & ~TAG_STATE;
  uint32_t old = ld_relaxed(p);
  if (old == 0) {
    old = atomicCAS(p, 0u, bits | TAG_CLAIMED);
    if (old == 0) {
      ega_put(layout, place, slot, row, 0);
      Place::fence();
      st_relaxed(p, bits | TAG_READY);
      return true;
    }
  }
  if ((old & ~TAG_STATE) != bits) return false;
  if (ega_compare<false>(layout, place, slot, row) == SEEN_EQUAL) return true;
  while ((old & TAG_STATE) != TAG_READY) old = ld_relaxed(p);  // WAIT-ENDS
  Place::fence();
  return ega_compare<true>(layout, place, slot, row) == SEEN_EQUAL;
}

template <class Shape, class Place>
__device__ __forceinline__ bool ega_claim(const EgaLayout& layout, const Place& place, uint32_t slot,
                                          const EgaRow<Shape>& row) {
  if constexpr (Shape::SINGLE) {
    return ega_claim_word(layout, place, slot, row);
  } else {
    return ega_claim_tag(layout, place, slot, row);
  }
}

// ega_find returns the slot of the row's key, claimed if need be, or EGA_NONE.
template <class Shape, class Place>
__device__ __forceinline__ uint32_t ega_find(const EgaLayout& layout, const Place& place, const EgaRow<Shape>& row) {
  if (Shape::SINGLE && row.key[0] == EGA_EMPTY) {
    uint32_t slot = place.extra();
    if (Shape::hashes(layout) == 1) st_relaxed(place.word(slot, 0), row.hash);  // the same from all (HASH-EQUAL)
    st_relaxed(place.tag(0), TAG_READY);
    return slot;
  }
  uint32_t slot = place.start(row.hash);
  for (uint32_t probe = 0; probe < place.probes(); probe++) {
    if (ega_claim(layout, place, slot, row)) return slot;
    slot = place.next(slot);
  }
  return EGA_NONE;
}

// ega_find_batch is ega_find for those rows of a batch whose bit is set in `there`. All look at the
// slot of their hash first, so that these reads are under way at once, and mostly that is it. The
// lanes of a full warp call and meet behind each search.
template <class Shape, class Place>
__device__ __forceinline__ void ega_find_batch(const EgaLayout& layout, const Place& place, const EgaRow<Shape>* batch,
                                               uint32_t there, uint32_t* slots) {
  uint64_t seen[Shape::BATCH];
#pragma unroll
  for (uint32_t b = 0; b < Shape::BATCH; b++) {
    slots[b] = EGA_NONE;
    seen[b] = EGA_EMPTY;
    if (!Shape::SINGLE || (there >> b & 1) == 0) continue;
    slots[b] = place.start(batch[b].hash);
    seen[b] = ld_relaxed(place.word(slots[b], Shape::hashes(layout)));
  }
#pragma unroll
  for (uint32_t b = 0; b < Shape::BATCH; b++) {
    bool found = seen[b] != EGA_EMPTY && seen[b] == batch[b].key[0];
    if ((there >> b & 1) != 0 && !found) slots[b] = ega_find(layout, place, batch[b]);
    __syncwarp(FULL_MASK);
  }
}

// ega_combine combines the states of a row into a slot of its key.
template <class Shape, class Place>
__device__ __forceinline__ void ega_combine(const EgaLayout& layout, const Place& place, uint32_t slot,
                                            const EgaRow<Shape>& row) {
  uint32_t before = Shape::hashes(layout) + Shape::keys(layout);
  for (uint32_t s = 0; s < Shape::states(layout); s++) {
    uint32_t op = Shape::op(layout, s);
    uint32_t mate = ega_paired(op) ? layout.mates[s] : s;
    if (ega_is_rare<Shape>(layout, op, s)) {
      ega_combine_rare(layout, place, slot, row, op, s);
      continue;
    }
    ega_combine_word<Place>(op, place.word(slot, before + s), row.state(s), place.word(slot, before + mate),
                            ega_paired(op) ? row.state(mate) : 0);
  }
}

// ega_keep adds the rows of a warp that found no slot to the rest (ROW-KEPT): those of the lanes
// that say `kept`. The lanes of a full warp call. One atomic counts all of them: a table that is
// full sends most rows here, and atomics on one word are done one by one.
template <class Shape>
__device__ __forceinline__ void ega_keep(const EgaLayout& layout, const EgaRest& rest, const EgaRow<Shape>& row,
                                         bool kept) {
  uint32_t keepers = __ballot_sync(FULL_MASK, kept);
  if (keepers == 0) return;
  uint32_t first = __ffs(keepers) - 1;
  uint64_t at = 0;
  if (lane_id() == first) at = atomicAdd(rest.count, uint64_t(__popc(keepers)));
  at = __shfl_sync(FULL_MASK, at, first) + __popc(keepers & lanes_below());
  if (!kept) return;
  if (at < rest.capacity) {
    ega_write(layout, rest.rows, at, row);
  } else {
    report(rest.status, STATUS_TABLE_FULL);
  }
}

// ega_add_up adds what each lane of a full warp has counted to a word in device memory: one atomic.
__device__ __forceinline__ void ega_add_up(uint64_t* total, uint64_t count) {
  for (uint32_t distance = 16; distance > 0; distance /= 2) count += __shfl_xor_sync(FULL_MASK, count, distance);
  if (lane_id() == 0 && count > 0) atomicAdd(total, count);
}

// ega_send_batch combines rows of a batch into a table in device memory, or adds them to the rest.
// The lanes of a full warp call.
template <class Shape>
__device__ __forceinline__ void ega_send_batch(const EgaLayout& layout, const EgaGlobal& table, const EgaRest& rest,
                                               const EgaRow<Shape>* batch, uint32_t there) {
  uint32_t slots[Shape::BATCH], missed = 0;
  ega_find_batch(layout, table, batch, there, slots);
#pragma unroll
  for (uint32_t b = 0; b < Shape::BATCH; b++) {
    if ((there >> b & 1) == 0) continue;
    if (slots[b] != EGA_NONE) {
      ega_combine(layout, table, slots[b], batch[b]);
    } else {
      missed |= 1u << b;
    }
  }
  if (!__any_sync(FULL_MASK, missed != 0)) return;
#pragma unroll
  for (uint32_t b = 0; b < Shape::BATCH; b++) ega_keep(layout, rest, batch[b], (missed >> b & 1) != 0);
}

// ega_used says whether a slot has a key, once nobody claims any more. With keys of one word slot
// number `slots` counts.
template <class Shape, class Place>
__device__ __forceinline__ bool ega_used(const EgaLayout& layout, const Place& place, uint32_t slot) {
  if constexpr (Shape::SINGLE) {
    if (slot == place.extra()) return *place.tag(0) != 0;
    return *place.word(slot, Shape::hashes(layout)) != EGA_EMPTY;
  } else {
    return slot != place.extra() && *place.tag(slot) != 0;
  }
}

// ega_taken reads the row of a slot in use, once nobody combines any more.
template <class Shape, class Place>
__device__ __forceinline__ EgaRow<Shape> ega_taken(const EgaLayout& layout, const Place& place, uint32_t slot) {
  EgaRow<Shape> row;
  uint32_t hashes = Shape::hashes(layout), keys = Shape::keys(layout);
#pragma unroll
  for (uint32_t k = 0; k < Shape::MAX_KEYS; k++) row.key[k] = k < keys ? *place.word(slot, hashes + k) : 0;
  if (Shape::SINGLE && slot == place.extra()) row.key[0] = EGA_EMPTY;
  row.hash = hashes == 1 ? *place.word(slot, 0) : ega_hash<Shape>(layout, row.key);
  if constexpr (__is_same(Shape, EgaPair)) {
    row.value = *place.word(slot, 1);
  } else {
    row.states = place.word(slot, hashes + keys);
    row.step = place.step();
  }
  return row;
}
