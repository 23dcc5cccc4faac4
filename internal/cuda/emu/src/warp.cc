// Collectives: the lanes of a mask meet, exchange values and go on.
#include <bit>

#include "block.h"

namespace emu {

namespace {

// After a collective the last lane to come goes on at once, or lets another do so once in so many
// times.
constexpr uint32_t collective_point = 4;

// What a shuffle gives for a lane outside the mask.
constexpr uint64_t rubbish = 0xb5b5b5b5b5b5b5b5;

// source_lane is the lane that a shuffle of lane reads, as PTX defines shfl.sync: out of the
// segment of width lanes means itself.
uint32_t source_lane(const Arrival& a, uint32_t lane) {
  const uint32_t inside = a.width - 1u;
  const uint32_t first = lane & ~inside, last = first | inside;
  const uint32_t distance = a.argument & (lanes - 1);
  switch (a.op) {
    case Op::shuffle_up:
      return distance > lane - first ? lane : lane - distance;
    case Op::shuffle_down:
      return lane + distance > last ? lane : lane + distance;
    case Op::shuffle_xor:
      return (lane ^ distance) > last ? lane : lane ^ distance;
    default:
      return first | (distance & inside);
  }
}

// votes is the set of lanes of mask whose value is not zero.
uint32_t votes(const Warp& w, uint32_t mask) {
  uint32_t set = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    set |= static_cast<uint32_t>(w.arrivals[lane].value != 0) << lane;
  }
  return set;
}

// match gives each lane of mask the set of those with its value.
void match(Warp& w, uint32_t mask) {
  for (uint32_t left = mask; left != 0;) {
    const uint64_t value = w.arrivals[std::countr_zero(left)].value;
    uint32_t same = 0;
    for (uint32_t set = left; set != 0; set &= set - 1) {
      const int lane = std::countr_zero(set);
      same |= static_cast<uint32_t>(w.arrivals[lane].value == value) << lane;
    }
    for (uint32_t set = same; set != 0; set &= set - 1) w.results[std::countr_zero(set)] = same;
    left &= ~same;
  }
}

void shuffle(Warp& w, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t source = source_lane(w.arrivals[lane], lane);
    w.results[lane] = mask >> source & 1 ? w.arrivals[source].value : rubbish;
  }
}

void all_get(Warp& w, uint32_t mask, uint64_t result) {
  for (uint32_t left = mask; left != 0; left &= left - 1) w.results[std::countr_zero(left)] = result;
}

// exchange fills in the results of the lanes of mask, all of which have arrived.
void exchange(Warp& w, uint32_t mask) {
  switch (w.arrivals[std::countr_zero(mask)].op) {
    case Op::sync:
      return;
    case Op::ballot:
      return all_get(w, mask, votes(w, mask));
    case Op::any:
      return all_get(w, mask, votes(w, mask) != 0);
    case Op::all:
      return all_get(w, mask, votes(w, mask) == mask);
    case Op::match:
      return match(w, mask);
    default:
      return shuffle(w, mask);
  }
}

}  // namespace

const char* op_name(Op op) {
  switch (op) {
    case Op::sync:
      return "__syncwarp";
    case Op::ballot:
      return "__ballot_sync";
    case Op::any:
      return "__any_sync";
    case Op::all:
      return "__all_sync";
    case Op::match:
      return "__match_any_sync";
    case Op::shuffle:
      return "__shfl_sync";
    case Op::shuffle_up:
      return "__shfl_up_sync";
    case Op::shuffle_down:
      return "__shfl_down_sync";
    case Op::shuffle_xor:
      return "__shfl_xor_sync";
  }
  __builtin_unreachable();
}

uint64_t Block::collective(const Arrival& arrival) {
  Thread& t = threads_[here->thread];
  Warp& w = *t.warp;
  const uint32_t mask = arrival.mask;
  if (!(mask & t.bit())) {
    fault(719, "lane %u calls %s of mask 0x%08x, which does not name it", t.lane, op_name(arrival.op), mask);
  }
  if (mask & w.exited) {
    fault(719, "lane %u of warp %u calls %s of mask 0x%08x, but lanes 0x%08x have exited or do not exist", t.lane,
          warp_index(w), op_name(arrival.op), mask, mask & w.exited);
  }
  w.arrivals[t.lane] = arrival;
  w.waiting |= t.bit();
  if (!(mask & ~w.waiting) && meets(w, t, arrival)) {
    exchange(w, mask);
    w.waiting &= ~mask;
    make_ready(w, mask & ~t.bit());
    point(collective_point);
  } else {
    park();
  }
  return w.results[t.lane];
}

// meets tells whether all lanes of the mask, which wait, wait for the same as the last that came.
// Two lanes that name each other and brought different collectives never go on. A lane that waits
// for others first may come to this collective later.
bool Block::meets(const Warp& w, const Thread& t, const Arrival& arrival) {
  bool met = true;
  for (uint32_t set = arrival.mask; set != 0; set &= set - 1) {
    const int lane = std::countr_zero(set);
    const Arrival& other = w.arrivals[lane];
    if (other.mask == arrival.mask && other.op == arrival.op) continue;
    if (other.mask & t.bit()) {
      fault(719, "lane %u of warp %u calls %s of mask 0x%08x, but lane %d waits for it in %s of mask 0x%08x", t.lane,
            warp_index(w), op_name(arrival.op), arrival.mask, lane, op_name(other.op), other.mask);
    }
    met = false;
  }
  return met;
}

// active gathers the lanes that come to one place while the first of them is held up: whoever is
// picked first answers for all.
uint32_t Block::active(const char* file, uint32_t line) {
  Thread& t = threads_[here->thread];
  Warp& w = *t.warp;
  if (w.converging != 0 && (w.converging_line != line || w.converging_file != file)) {
    w.results[t.lane] = t.bit();  // another place gathers
    return t.bit();
  }
  w.converging |= t.bit();
  w.converging_file = file;
  w.converging_line = line;
  yield();
  if (w.converging & t.bit()) {
    all_get(w, w.converging, w.converging);
    w.converging = 0;
  }
  return static_cast<uint32_t>(w.results[t.lane]);
}

}  // namespace emu
