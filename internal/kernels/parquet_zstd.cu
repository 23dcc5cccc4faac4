// Decompression of Zstandard pages (zstd.cuh).
//
// A page is the work of a block of two warps, its frames and their blocks one after the other. Many
// pages are under way at once: that is what the device has for it. Of a compressed block:
//
//  1. warp 0 makes the table of the Huffman codes and decodes the literals, one lane a stream;
//     warp 1 makes the tables of the sequences;
//  2. lane 0 of warp 1 reads sequences, ZSTD_CHUNK of them, while warp 0 does what the ZSTD_CHUNK
//     before say;
//  3. warp 0 copies the literals behind the last sequence.
//
// Literals that the block does not have as they are lie in work memory, behind the room of the
// page:
//
//   | room: size + PARQUET_PADDING | literals: size, ZSTD_BLOCK at most, + 16 |
//   expanded                       aligned to 16
//
// Invariants:
//
//   TOLD     What decides whether threads go on is read by all of them from the block's bytes, or
//            from shared memory between two barriers (zstd_told).
//   REACHED  Before a sequence is done its literals are known to be there, its output to be of the
//            block's and the page's size, and its offset not to reach before the frame (WITHIN of
//            parquet.cuh).
//
// Cost, not measured: reading a sequence is a chain of some 150 cycles, a literal one of some 45. A
// block of 128 KiB takes about a millisecond, a checksum another 0.1. Shared memory: 18 KiB,
// static, so that a multiprocessor has room for 12 pages.
#include "device.cuh"

#include "block_copy.cuh"
#include "zstd_hash.cuh"
#include "zstd_output.cuh"

constexpr uint32_t ZSTD_THREADS = 2 * warpSize;
constexpr uint32_t ZSTD_CHUNK = 2 * warpSize;

// ZstdShared is the shared memory of a page.
struct ZstdShared {
  ZstdHuffman huffman;
  ZstdCoding coding;
  ZstdSequence chunks[2][ZSTD_CHUNK];
  uint32_t count;  // of the block's sequences
  uint32_t out;    // ZstdTarget.out behind the block
  uint32_t damaged;
};

// zstd_told tells all threads the same (TOLD): whether one has come upon damage. All threads call.
// The first barrier is for that and for all else that is in shared memory; behind the second nobody
// reads the word any more, which a thread that goes on may set.
static __device__ __forceinline__ bool zstd_told(ZstdShared& shared, bool good) {
  if (!good) st_relaxed(&shared.damaged, 1);
  __syncthreads();
  const bool told = ld_relaxed(&shared.damaged) == 0;
  __syncthreads();
  return told;
}

// zstd_prepare is phase 1 of warp 1; false: damaged. The barriers of the warp: behind what lane 0
// has read.
static __device__ __forceinline__ bool zstd_prepare(ZstdShared& shared, ZstdSlice in, ZstdReader& reader) {
  bool good = true;
  uint32_t count = 0;
  if (lane_id() == 0) {
    good = zstd_codings(shared.coding, in, count);
    shared.count = count;
  }
  __syncwarp();
  if (!__all_sync(FULL_MASK, good) || shared.count == 0) return good;
  zstd_make(shared.coding);
  return lane_id() != 0 || reader.open(shared.coding, in);
}

// zstd_read reads chunk c of the sequences; false: damaged. Behind the last sequence nothing is
// left.
static __device__ __forceinline__ bool zstd_read(ZstdShared& shared, ZstdReader& reader, uint32_t c) {
  const uint32_t first = c * ZSTD_CHUNK, count = shared.count, end = count - first < ZSTD_CHUNK ? count : first + ZSTD_CHUNK;
  for (uint32_t i = first; i < end; i++) {
    if (!reader.next(shared.coding, i + 1 == count, shared.chunks[c % 2][i - first])) return false;
  }
  if (end < count) return true;
  for (uint32_t i = 0; i < 3; i++) shared.coding.recent[i] = reader.recent[i];
  return reader.bits.ended();
}

// zstd_compressed expands a compressed block; false: damaged. All threads call. The barriers:
// behind phase 1; behind each chunk, which was read, and one of which was done; and behind the
// output.
static __device__ __forceinline__ bool zstd_compressed(ZstdShared& shared, const ZstdSlice& block, const ZstdFrame& frame,
                                                       ZstdTarget& target, uint8_t* room) {
  ZstdLiteralHead head;
  const uint32_t left = target.end - target.out, end = target.out + (frame.block < left ? frame.block : left);
  if (!zstd_literal_head(block, head) || head.size > end - target.out) return false;
  ZstdSlice literals{room, 0};
  ZstdReader reader{};
  bool good;
  if (warp_id() == 0) {
    good = zstd_literals(shared.huffman, block, head, room, literals);
  } else {
    ZstdSlice in = block;
    in.skip(head.bytes + head.packed);
    good = zstd_prepare(shared, in, reader);
  }
  if (!zstd_told(shared, good)) return false;
  const uint32_t count = shared.count, chunks = (count + ZSTD_CHUNK - 1) / ZSTD_CHUNK;
  for (uint32_t c = 0; c <= chunks; c++) {
    if (warp_id() == 0 && c > 0) {
      const uint32_t first = (c - 1) * ZSTD_CHUNK, n = count - first < ZSTD_CHUNK ? count - first : ZSTD_CHUNK;
      good = zstd_run(shared.chunks[(c - 1) % 2], n, frame, target, end, literals);
    }
    if (threadIdx.x == warpSize && c < chunks) good = zstd_read(shared, reader, c);
    if (!zstd_told(shared, good)) return false;
  }
  if (warp_id() == 0) {
    good = literals.n <= end - target.out;
    if (good) zstd_copy_long({target.output + target.out, literals.at, literals.n, literals.n});
    if (lane_id() == 0) shared.out = target.out + literals.n;
  }
  if (!zstd_told(shared, good)) return false;
  target.out = shared.out;
  return true;
}

// zstd_block expands the block that `in` begins with, and goes behind it; false: damaged. All
// threads call. The barrier is behind the output.
static __device__ __forceinline__ bool zstd_block(ZstdShared& shared, ZstdSlice& in, const ZstdFrame& frame, ZstdTarget& target,
                                                  uint8_t* room, bool& last) {
  if (in.n < 3) return false;
  const uint32_t head = static_cast<uint32_t>(in.number(0, 3)), kind = head >> 1 & 3, size = head >> 3;
  const uint32_t packed = kind == ZSTD_RLE ? 1 : size;
  last = (head & 1) != 0;
  in.skip(3);
  if (kind == ZSTD_RESERVED || size > frame.block || packed > in.n) return false;
  const ZstdSlice block{in.at, packed};
  in.skip(packed);
  if (kind == ZSTD_COMPRESSED) return zstd_compressed(shared, block, frame, target, room);
  if (size > target.end - target.out) return false;
  uint8_t* to = target.output + target.out;
  if (kind == ZSTD_RAW) {
    block_copy(to, block.at, size);
  } else {
    const uint8_t byte = block.at[0];
    for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) to[i] = byte;
  }
  target.out += size;
  __syncthreads();
  return true;
}

// zstd_begin forgets the tables and offsets of the frame before. The barrier is for that.
static __device__ __forceinline__ void zstd_begin(ZstdShared& shared) {
  if (threadIdx.x == 0) {
    shared.huffman.log = 0;
    for (uint32_t t = 0; t < ZSTD_TABLES; t++) shared.coding.known[t] = false;
    shared.coding.recent[0] = 1;
    shared.coding.recent[1] = 4;
    shared.coding.recent[2] = 8;
  }
  __syncthreads();
}

// zstd_frames expands all frames of a page; false: damaged. All threads call. The barrier in a
// frame is behind its checksum.
static __device__ __forceinline__ bool zstd_frames(ZstdShared& shared, ZstdSlice in, ZstdTarget& target, uint8_t* room) {
  while (in.n != 0) {
    ZstdFrame frame;
    if (!zstd_frame(in, frame)) return false;
    target.begin = target.out;
    zstd_begin(shared);
    for (bool last = false; !last;) {
      if (!zstd_block(shared, in, frame, target, room, last)) return false;
    }
    const uint32_t size = target.out - target.begin;
    if (frame.known && frame.content != size) return false;
    if (!frame.hashed) continue;
    if (in.n < 4) return false;
    bool good = true;
    if (warp_id() == 0) {
      const uint64_t hash = zstd_hash(target.output + target.begin, size);
      good = static_cast<uint32_t>(hash) == static_cast<uint32_t>(in.number(0, 4));
    }
    if (!zstd_told(shared, good)) return false;
    in.skip(4);
  }
  return target.out == target.end;
}

// Threads a block: ZSTD_THREADS; blocks: n, one a page, of those that are compressed so. A page
// that is damaged stops the parcel (PARQUET_STOP_DAMAGED); what is in its room then means nothing.
// The first barrier is that of the stop word, for `damaged` too.
extern "C" __global__ void __launch_bounds__(ZSTD_THREADS)
    parquet_zstd_expand(const uint8_t* parcel, uint8_t* work, const ParquetPage* pages, uint32_t n, uint64_t* stop) {
  __shared__ ZstdShared shared;
  if (threadIdx.x == 0) shared.damaged = 0;
  if (parquet_stopped(stop, &shared.count) || blockIdx.x >= n) return;
  const ParquetPage& page = pages[blockIdx.x];
  if (page.codec != PARQUET_ZSTD) return;
  const uint32_t levels = page.levels == PARQUET_SIZED_LEVELS ? 0 : page.levels;
  bool good = page.bytes <= ZSTD_LIMIT && page.size <= ZSTD_LIMIT && levels <= page.bytes && levels <= page.size;
  if (good) {
    const uint8_t* bytes = parcel + page.at;
    uint8_t* output = work + page.expanded;
    uint8_t* room = output + ((page.size + PARQUET_PADDING + 15) & ~uint32_t(15));
    block_copy(output, bytes, levels);
    ZstdTarget target{output, levels, levels, page.size};
    good = zstd_frames(shared, {bytes + levels, page.bytes - levels}, target, room);
  }
  if (!good && threadIdx.x == 0) parquet_stop(stop, PARQUET_STOP_DAMAGED);
}
