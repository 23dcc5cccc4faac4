// Numbers of pages that are not coded: values of a fixed number of bytes, PLAIN or in
// BYTE_STREAM_SPLIT, and booleans; and strings of a fixed number of bytes. The twins are
// internal/parquetio's decoder and unsplit.
//
// Cost, in BYTE_STREAM_SPLIT: a load for each byte of a value, where a PLAIN one takes one or two.
// Lanes load bytes that lie side by side.
#pragma once

#include "parquet_bytes.cuh"
#include "parquet_words.cuh"

// ParquetPlain is PLAIN values.
struct ParquetPlain {
  const uint8_t* at;
  uint32_t width;

  // `count` bytes of a value, up to 8, from byte `from` on, as a number, the first the lowest.
  __device__ __forceinline__ uint64_t operator()(uint64_t row, uint32_t from, uint32_t count) const {
    return parquet_load(at + row * width + from, count);
  }
};

// ParquetSplit is values in BYTE_STREAM_SPLIT: the first bytes of all, then their second ones, and
// so on.
struct ParquetSplit {
  const uint8_t* at;
  uint32_t apart;  // bytes from one byte of a value to the next: as many as there are values

  // As ParquetPlain's.
  __device__ __forceinline__ uint64_t operator()(uint64_t row, uint32_t from, uint32_t count) const {
    const uint8_t* p = at + uint64_t(from) * apart + row;
    uint64_t v = 0;
    for (uint32_t k = 0; k < count; k++) v |= uint64_t(p[uint64_t(k) * apart]) << (k * 8);
    return v;
  }
};

// parquet_width is the bytes of a value in a page, of those that have a fixed number.
__device__ __forceinline__ uint32_t parquet_width(const ParquetOutput& output) {
  if (output.physical == PARQUET_DECIMAL || output.physical == PARQUET_BINARY) return output.width;
  if (output.physical == PARQUET_INT96) return 12;
  return output.physical == PARQUET_INT64 || output.physical == PARQUET_DOUBLE ? 8 : 4;
}

// parquet_decimal is value `row` of a page of decimals; `outside` becomes true where 64 bits do not
// hold it. The twin is fixedInts.
template <class Values>
__device__ __forceinline__ int64_t parquet_decimal(const Values& values, uint64_t row, uint32_t width, bool& outside) {
  const uint32_t high = width > 8 ? width - 8 : 0, low = width - high;  // bytes
  const int64_t v = int64_t(__builtin_bswap64(values(row, high, low))) >> (64 - low * 8);
  if (high > 0) outside |= values(row, 0, high) != (v < 0 ? ~uint64_t(0) >> (64 - high * 8) : 0);
  return v;
}

// parquet_int96 is a time in microseconds since 1970; one that 64 bits do not hold is the least or
// the greatest that they hold. The twin is int96.
__device__ __forceinline__ int64_t parquet_int96(uint64_t nanos, uint32_t julian) {
  constexpr int64_t DAY = 86400000000, MOST = 0x7fffffffffffffff;
  int64_t micros = int64_t(nanos) / 1000, day = int64_t(int32_t(julian)) - 2440588;
  if (day < 0) {  // the first day that has a number at all begins before it
    day++;
    micros -= DAY;
  }
  const int64_t start = int64_t(uint64_t(day) * uint64_t(DAY)), v = int64_t(uint64_t(start) + uint64_t(micros));
  const bool overflow = ((start ^ v) & (micros ^ v)) < 0;
  if (!overflow && day <= MOST / DAY && day >= -MOST / DAY) return v;
  return day < 0 ? -MOST - 1 : MOST;
}

// parquet_number is what value `row` of a page comes to.
template <class Values>
__device__ __forceinline__ uint64_t parquet_number(const ParquetOutput& output, const Values& values, uint64_t row,
                                                   bool& outside) {
  switch (output.physical) {
    case PARQUET_DOUBLE:
      return parquet_float(output, __builtin_bit_cast(double, values(row, 0, 8)));
    case PARQUET_FLOAT:
      return parquet_float(output, __builtin_bit_cast(float, uint32_t(values(row, 0, 4))));
    case PARQUET_INT32:
      return parquet_int(output, int32_t(uint32_t(values(row, 0, 4))), outside);
    case PARQUET_INT64:
      return parquet_int(output, int64_t(values(row, 0, 8)), outside);
    case PARQUET_DECIMAL:
      return parquet_int(output, parquet_decimal(values, row, output.width, outside), outside);
    default:  // PARQUET_INT96
      return parquet_int(output, parquet_int96(values(row, 0, 8), uint32_t(values(row, 8, 4))), outside);
  }
}

// parquet_put_numbers writes the numbers of a thread, every threads'th from `thread` on.
template <class Values>
__device__ __forceinline__ void parquet_put_numbers(const ParquetJob& job, const ParquetOutput& output,
                                                    const ParquetArrays& arrays, const Values& values, uint32_t rows,
                                                    uint32_t thread, uint32_t threads) {
  bool outside = false;
  for (uint64_t row = thread; row < rows; row += threads) {
    if (output.physical == PARQUET_BINARY) {
      parquet_put_binary(output, arrays, values, uint32_t(row));
      continue;
    }
    parquet_put(output, arrays, uint32_t(row), parquet_number(output, values, row, outside));
  }
  if (outside) parquet_stop(job.stop, PARQUET_STOP_RANGE);
}

// parquet_put_binary writes the words of string `row` of a page of strings of `width` bytes.
template <class Values>
__device__ __forceinline__ void parquet_put_binary(const ParquetOutput& output, const ParquetArrays& arrays, const Values& values,
                                                   uint32_t row) {
  const uint32_t width = output.width, low = width < 8 ? width : 8;
  if (output.form == PARQUET_LENGTH) return arrays.put(0, row, width);
  const uint64_t lo = values(row, 0, low);
  const uint64_t hi = values(row, low, width - low) | (width < 16 ? uint64_t(width) << 56 : 0);
  arrays.put(0, row, lo);
  arrays.put(1, row, hi);
  arrays.put(2, row, parquet_hash_words(lo, hi));
}

// parquet_booleans writes the booleans of a thread of a page of `rows` values.
__device__ __forceinline__ void parquet_booleans(const ParquetJob& job, const ParquetOutput& output,
                                                 const ParquetArrays& arrays, ParquetBytes values, uint32_t rows,
                                                 uint32_t thread, uint32_t threads) {
  if (rows > uint64_t(values.size) * 8) return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  bool outside = false;
  for (uint64_t row = thread; row < rows; row += threads) {
    parquet_put(output, arrays, uint32_t(row), parquet_int(output, values.at[row / 8] >> (row % 8) & 1, outside));
  }
  if (outside) parquet_stop(job.stop, PARQUET_STOP_RANGE);
}

// parquet_numbers writes the numbers of a thread of a page of `rows` values. There may be more
// bytes than these have; in BYTE_STREAM_SPLIT those of whole values.
__device__ __forceinline__ void parquet_numbers(const ParquetJob& job, const ParquetPage& page, const ParquetOutput& output,
                                                const ParquetArrays& arrays, ParquetBytes values, uint32_t rows,
                                                uint32_t thread, uint32_t threads) {
  if (output.physical == PARQUET_BOOL) return parquet_booleans(job, output, arrays, values, rows, thread, threads);
  const uint32_t width = parquet_width(output);
  const bool split = page.encoding == PARQUET_SPLIT;
  if (uint64_t(rows) * width > values.size || (split && values.size % width != 0)) {
    return parquet_stop(job.stop, PARQUET_STOP_DAMAGED);
  }
  if (split) {
    parquet_put_numbers(job, output, arrays, ParquetSplit{values.at, values.size / width}, rows, thread, threads);
  } else {
    parquet_put_numbers(job, output, arrays, ParquetPlain{values.at, width}, rows, thread, threads);
  }
}
