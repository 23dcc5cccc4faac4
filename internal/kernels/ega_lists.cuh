// Lists: all values of a group, side by side, for what no fixed number of words can hold (a
// median).
//
// A list has three state words:
//
//   value  in a row of one input row: the value. In a table: nothing, and at the end the number of
//          the group's first value
//   next   0, and at the end how many of the group's values have been put in their places
//   count  in a row of one input row: `unit`, or 0 if there is no value (NULL). In a table: unit
//          times the values
//
// Of all rows of a job the groups are claimed first (ega_lists_claim). If each has one, the rows
// are combined as ever, and what they have in the list is noted as records [hash | key words |
// value] (ega_lists_note): the table may still move, and slots change. Else none of the job is
// taken (LIST-WHOLE), and what it has claimed stays as groups of no rows. When all rows are in,
// ega_lists_begin gives each group places for its values, in the order of the slots, which is
// almost that of the hashes, and ega_lists_place puts them there.
//
// Who takes part: warps that take 32 rows or records in turns; in ega_lists_begin a thread for each
// slot.
#pragma once

#include "ega_table.cuh"

// EgaList is a list of a layout, and its records.
struct EgaList {
  uint64_t* records;  // of hash words + key words + 1 words
  uint64_t* noted;    // how many there are
  uint64_t unit;
  uint32_t value, next, count;  // state words
};

// EgaClaim is what a claim tells, words of 0 before.
struct EgaClaim {
  uint64_t* missing;     // rows without a slot
  uint64_t* hold;        // not 0: there are such, or none at all because of `stop`
  const uint64_t* stop;  // not 0: the rows could not be made
};

// lists_record is the number of words of a record.
__device__ __forceinline__ uint32_t lists_record(const EgaLayout& layout) {
  return layout.hash_words + layout.key_words + 1;
}

// lists_state is a state word of a slot.
template <class Shape>
__device__ __forceinline__ uint64_t* lists_state(const EgaLayout& layout, const EgaGlobal& place, uint32_t slot,
                                                 uint32_t word) {
  return place.word(slot, Shape::hashes(layout) + Shape::keys(layout) + word);
}

// lists_claim has a slot claimed for the key of each row.
template <class Shape>
__device__ __forceinline__ void lists_claim(const EgaLayout& layout, const uint64_t* rows, uint64_t n,
                                            const EgaTable& table, const EgaClaim& claim) {
  if (claim.stop != nullptr && *claim.stop != 0) {
    if (global_thread() == 0) st_relaxed(claim.hold, uint64_t(1));
    return;
  }
  EgaGlobal place(table, ega_stride<Shape>(layout));
  uint64_t missing = 0;
  for (uint64_t i = global_thread(); i < n; i += global_threads()) {
    missing += ega_find(layout, place, ega_row<Shape>(layout, rows, i)) == EGA_NONE;
  }
  __syncwarp(FULL_MASK);
  if (missing > 0) st_relaxed(claim.hold, uint64_t(1));
  __syncwarp(FULL_MASK);
  ega_add_up(claim.missing, missing);
}

// lists_note copies hash, key and value of each row that has one.
__device__ __forceinline__ void lists_note(const EgaLayout& layout, const uint64_t* rows, uint64_t n,
                                           const EgaList& list) {
  const uint32_t before = layout.hash_words + layout.key_words, stride = before + layout.state_words;
  for (uint64_t first = global_thread() - lane_id(); first < n; first += global_threads()) {
    uint64_t i = first + lane_id();
    const uint64_t* row = rows + (i < n ? i : first) * stride;
    bool has = i < n && row[before + list.count] != 0;
    uint32_t having = __ballot_sync(FULL_MASK, has);
    if (having == 0) continue;
    uint64_t at = 0;
    if (lane_id() == 0) at = atomicAdd(list.noted, uint64_t(__popc(having)));
    at = __shfl_sync(FULL_MASK, at, 0) + __popc(having & lanes_below());
    if (!has) continue;
    uint64_t* record = list.records + at * lists_record(layout);
    for (uint32_t w = 0; w < before; w++) record[w] = row[w];
    record[before] = row[before + list.value];
  }
}

// lists_count is how many values the group of a slot has.
template <class Shape>
__device__ __forceinline__ uint64_t lists_count(const EgaLayout& layout, const EgaGlobal& place, uint32_t slot,
                                                const EgaList& list) {
  if (!ega_used<Shape>(layout, place, slot)) return 0;
  return *lists_state<Shape>(layout, place, slot, list.count) / list.unit;
}

// lists_find is the slot of the key of a record, which has one.
template <class Shape>
__device__ __forceinline__ uint32_t lists_find(const EgaLayout& layout, const EgaGlobal& place, const uint64_t* record) {
  EgaRow<Shape> row;
  uint32_t hashes = Shape::hashes(layout);
#pragma unroll
  for (uint32_t k = 0; k < Shape::MAX_KEYS; k++) row.key[k] = k < Shape::keys(layout) ? record[hashes + k] : 0;
  row.hash = hashes == 1 ? record[0] : ega_hash<Shape>(layout, row.key);
  return ega_find(layout, place, row);
}

// lists_place puts the values of n records in the places of their groups. Lanes whose groups are
// the same take places together: a group with most of the values would have all atomics on one
// word.
template <class Shape>
__device__ __forceinline__ void lists_place(const EgaLayout& layout, const EgaTable& table, const EgaList& list,
                                            uint64_t n, uint64_t* values, uint64_t room, uint32_t* status) {
  EgaGlobal place(table, ega_stride<Shape>(layout));
  for (uint64_t first = global_thread() - lane_id(); first < n; first += global_threads()) {
    uint64_t i = first + lane_id();
    const uint64_t* record = list.records + (i < n ? i : first) * lists_record(layout);
    uint32_t slot = i < n ? lists_find<Shape>(layout, place, record) : EGA_NONE;
    __syncwarp(FULL_MASK);
    uint32_t peers = __match_any_sync(FULL_MASK, slot), leader = __ffs(peers) - 1;
    uint64_t at = 0;
    if (slot != EGA_NONE && lane_id() == leader) {
      at = *lists_state<Shape>(layout, place, slot, list.value) +
           atomicAdd(lists_state<Shape>(layout, place, slot, list.next), uint64_t(__popc(peers)));
    }
    at = __shfl_sync(FULL_MASK, at, leader) + __popc(peers & lanes_below());
    if (i >= n) continue;
    if (slot == EGA_NONE || at >= room) {
      report(status, STATUS_INVARIANT);
    } else {
      values[at] = record[lists_record(layout) - 1];
    }
  }
}
