// Encoded pages of Parquet files on the device: what the kernels that decompress them
// (parquet_snappy.cu, parquet_zstd.cu), find their runs (parquet_coded.cu), decode them
// (parquet_decode.cu) and make rows of their values (parquet_rows.cu) are handed.
//
// Terms:
//
//   parcel   pages of one or more row groups as they lie in the files, the entries of their
//            dictionaries, and the descriptors below, in one piece of device memory. Package
//            internal/decode says how it is laid out
//   source   a column of the file, one page of it after the other
//   output   a use of a source: a value (the argument of aggregates) or a field of the key
//   array    a word of 64 bits for each value of an output, in work memory; those of a page lie
//            from the page's first row on without gaps. A value has one; a field has one for each
//            key word that it has bits in, the bits at their place, and behind them one for its
//            hash
//   program  the steps of a job (parquet_compute.cu): what rows are filtered by, and the computed
//            outputs, which are made of the words of others: a word for each row
//   register a word of a row while its program runs, and whether it is NULL, or failed (a sum that
//            overflows)
//   place    of a row, for an output: the number of its word in the output's arrays, or
//            PARQUET_NULL
//   stop     the word where a kernel says why it could not go on (ParquetStop); the greatest reason
//            stays. 0: none
//
// Invariants:
//
//   ROOM       Behind the bytes of a page lie PARQUET_PADDING more that may be read: in the parcel
//              and decompressed. Kernels read them and take nothing from them.
//   WITHIN     Whatever the bytes of a page say, nothing else is read and nothing outside of the
//              arrays is written. The descriptors and the entries are the host's: they are taken at
//              their word.
//   STOPPED    When a kernel has set the stop word, the later ones do nothing; what is in arrays
//              and rows means nothing.
#pragma once

#include "device.cuh"

constexpr uint32_t PARQUET_PADDING = 16;

// ParquetPage.levels of a page of the first kind (v1): definition levels in runs behind their size,
// which takes 4 bytes.
constexpr uint32_t PARQUET_SIZED_LEVELS = 0xffffffff;

// The place of a row that is NULL.
constexpr uint32_t PARQUET_NULL = 0xffffffff;

// ParquetStop is why the rows of a parcel were not made. Numbers: greater ones win.
enum ParquetStop : uint64_t {
  PARQUET_STOP_NULLS = 1,    // NULLs where none are admitted
  PARQUET_STOP_LONG = 2,     // a string has more than 15 bytes
  PARQUET_STOP_RANGE = 3,    // a value is outside of what its output admits, or computing one failed
  PARQUET_STOP_DAMAGED = 4,  // the bytes of a page make no sense
  PARQUET_STOP_TEXTS = 5,    // there is no room for the run's strings (parquet_texts.cuh)
};

// ParquetCodec is how a page is compressed.
enum ParquetCodec : uint8_t { PARQUET_PLAIN_BYTES, PARQUET_SNAPPY, PARQUET_ZSTD };

// ParquetPage is a page in a parcel.
struct ParquetPage {
  uint64_t at;        // where its bytes begin in the parcel
  uint64_t expanded;  // where it lies decompressed in the work memory, aligned to 16 bytes; of a page that is not
                      // compressed: unused
  uint64_t runs;      // of a page with runs or texts: where the work memory has room for what is found out
                      // about these (parquet_coded.cu), aligned to 16 bytes; of others: unused
  uint32_t bytes;     // in the parcel; the levels of a v2 page, which are never compressed, included
  uint32_t size;      // decompressed, levels included
  uint32_t levels;    // bytes of runs of definition levels in front of a v2 page; PARQUET_SIZED_LEVELS; 0: there are none
  uint32_t rows;      // values and NULLs
  uint32_t first;     // row of the parcel that it begins with
  uint8_t codec;      // ParquetCodec of what is behind the levels of a v2 page, or of the whole of a v1 page
  uint8_t coded;      // 1: codes of a dictionary, whose width comes first; 0: values
  uint8_t texts;      // 1: PLAIN strings of any length; 0: other values, or strings of which few are long
  uint8_t encoding;   // ParquetEncoding; of a coded page: PARQUET_PLAIN or PARQUET_TRUTHS
};

// ParquetEncoding is how the values of a page lie.
enum ParquetEncoding : uint8_t {
  PARQUET_PLAIN,  // one after the other
  PARQUET_SPLIT,  // BYTE_STREAM_SPLIT: numbers, the first bytes of all, then their second ones, and so on
  PARQUET_DELTAS,  // DELTA_BINARY_PACKED: integers; see parquet_deltas.cuh
  PARQUET_TRUTHS,  // booleans in runs, as codes of the entries false and true: the bytes of the runs in 4 bytes, then runs
                   // of one bit, in which any value but 0 is 1
};

// What is set in ParquetTask.entries that lie in the work memory.
constexpr uint64_t PARQUET_IN_WORK = uint64_t(1) << 63;

// ParquetTask is the decoding of a page for an output of its source.
struct ParquetTask {
  uint64_t entries;  // where in the parcel the dictionary's words for this output begin, aligned to 8 bytes: `count` words
                     // for each array of the output; with PARQUET_IN_WORK: in the work memory
                     // (ParquetDict); of a page of values: unused
  uint32_t page;
  uint32_t output;
  uint32_t count;   // of the dictionary's entries
  uint32_t walk;    // 0 in the parcel; parquet_decode_values notes here what it leaves to parquet_decode_walks
  uint32_t values;  // 0 in the parcel; parquet_decode_levels notes here how many the page has
};

// ParquetDict is a dictionary page of strings, of whose entries parquet_texts_entries makes the
// words for an output.
struct ParquetDict {
  uint64_t words;  // where in the work memory the words go, as ParquetTask.entries has them
  uint32_t page;   // one of texts: its rows are the entries
  uint32_t output;
};

// ParquetTextStore is the store of long strings that all jobs of a run share: parquet_texts.cuh.
struct ParquetTextStore {
  uint64_t* slots;  // all 0 before the first job
  uint64_t* arena;
  uint64_t* used;  // two words, 0 before: those of the arena, more than `words` if there was no room; and the strings
  uint64_t mask;   // slots - 1, of which there are a power of two
  uint64_t words;  // of the arena: less than 2^32
  uint64_t base;   // of its refs
};

// ParquetPhysical is what a value is in a page.
enum ParquetPhysical : uint8_t {
  PARQUET_INT32,
  PARQUET_INT64,
  PARQUET_FLOAT,
  PARQUET_DOUBLE,
  PARQUET_BYTES,
  PARQUET_BOOL,     // a bit, the lowest of a byte first: 0 or 1
  PARQUET_DECIMAL,  // an integer in two's complement of `width` bytes, the highest first
  PARQUET_INT96,    // nanoseconds of a day in 8 bytes, a Julian day in 4: microseconds since 1970
  PARQUET_BINARY,   // a string of `width` bytes, 1 to 16
};

// ParquetForm is which arrays an output has, and what PLAIN values come to in them.
enum ParquetForm : uint8_t {
  PARQUET_VALUE,   // one: the int64, or the bits of the double
  PARQUET_BITS,    // key word (the low `bits` of the value << shift), field hash (the same before the shift); floats as
                   // internal/key normalises them, of 32 bits: the bits of the float. Of four
                   // words: an integer of 256 bits
  PARQUET_INLINE,  // two key words or, of texts, more (a string, its length in the last byte), field hash. 16 bytes of
                   // PARQUET_BINARY fill the two
  PARQUET_LENGTH,  // one: the bytes that the string has
  PARQUET_MATCH,   // one: 1 or 0, whether the string is of the output's pattern (parquet_match.cuh)
  PARQUET_CHARACTERS,  // one: the characters that the string has (parquet_cut.cuh)
  PARQUET_REF,     // one: the ref of the string, of any size, in the store (parquet_texts.cuh)
};

// ParquetCut is what a step of a cut takes of a string, by its numbers a and b: parquet_cut.cuh.
enum ParquetCut : uint32_t {
  PARQUET_CUT_CHARACTERS,  // the characters from a on, up to b
  PARQUET_CUT_FROM_END,    // likewise, with as many as there are added to a and b
  PARQUET_CUT_PART,        // part number a of those between separators, from 1 on
  PARQUET_CUT_LAST_PART,   // part number a from the end
  PARQUET_CUT_BLANKS,      // what is behind blanks, if a is 1, and in front of others, if b is 1
};

// ParquetOutput is how values of a source become words.
struct ParquetOutput {
  int64_t lo, hi;     // an integer outside stops the parcel
  int64_t factor;     // an integer inside is multiplied by this
  uint32_t array;     // number of its first array
  uint8_t physical;   // ParquetPhysical
  uint8_t form;       // ParquetForm
  uint8_t shift;      // of PARQUET_BITS
  uint8_t bits;       // of PARQUET_BITS: 1 to 64; 32 of a float or double: the bits of a float
  uint8_t mask32;     // 1: only the low 32 bits of an integer count, before lo and hi are looked at
  uint8_t words;      // arrays of key words that it has; the field hash is behind them. Of a value: 1, and no hash
  uint8_t nulls;      // 1: rows may be NULL; 0: a NULL stops the parcel
  uint8_t texts;      // of PARQUET_INLINE: 1: a string may have any length, and is in the store if the words have no
                      // room; 0: one of more than 15 bytes stops the parcel. Of PARQUET_REF: 1
  uint8_t width;      // of PARQUET_DECIMAL and PARQUET_BINARY: bytes of a value, 1 to 16
  uint32_t pattern;   // of PARQUET_MATCH: where it is among the patterns
  uint32_t cut;       // a part of each string counts, which a cut leaves: 1 more than where this is among the
                      // patterns; 0: all of it. Not of PARQUET_REF; of texts of any length alone
  uint32_t only;      // of PARQUET_REF: rows are NULL where output number `only` - 1, of the program, is not 1; 0: all count
};

// ParquetField is a key field in rows: `words` arrays from `array` on, whose words go into the key
// words from `word` on, and the array of its field hash behind them. Fields may share a word of the
// key.
struct ParquetField {
  uint64_t null_bit;  // what a NULL is in the key, whose other bits of the field are 0
  uint32_t null_word;
  uint32_t array;
  uint32_t words;
  uint32_t word;
  uint32_t place;  // number of the output, whose places it has
};

// ParquetWord is what makes a state word. A number is the array's word as a double, read as
// ParquetNumber has it. A sum of one product or power has two words, as internal/agg leaves them:
// parquet_sums.cuh.
enum ParquetWord : uint32_t {
  PARQUET_CONSTANT,   // the constant
  PARQUET_COPY,       // the word of the array, whatever it is
  PARQUET_SUM,        // the number + 0.0: what a sum of one value is, for which there is no -0
  PARQUET_PRODUCT,    // the array's integer times that, at the same place, of the array whose number is the constant,
                      // modulo 2^64
  PARQUET_NOT,        // the word of the array, each bit turned round: integers in descending order
  PARQUET_ORDER,      // the place of the array's double in order, as an int64_t: NaN last, one zero
  PARQUET_ORDER_NOT,  // that in descending order
  PARQUET_PRODUCT_S,  // a sum of one: the number times that, at the same place, of the array whose number is the constant
  PARQUET_PRODUCT_C,  // what its rounding lost
  PARQUET_THIRD_POWER_S,  // a sum of one: the number to the power of 3
  PARQUET_THIRD_POWER_C,
  PARQUET_FOURTH_POWER_S,
  PARQUET_FOURTH_POWER_C,
  PARQUET_FIXED,      // a word of the number as a fixed-point number: parquet_fixed.cuh
  PARQUET_FIXED_PRODUCT,  // the same of the number times that of another array at the same place
  PARQUET_FIXED_THIRD_POWER,  // of the number to the power of 3
  PARQUET_FIXED_FOURTH_POWER,
  PARQUET_SIGN,  // each bit the sign of the array's integer
  PARQUET_UNSIGNED,      // the place of the array's uint64_t in order, as an int64_t
  PARQUET_UNSIGNED_NOT,  // that in descending order
  PARQUET_PREFIX,  // of the text of the array's ref the first 8 bytes, the first one the highest; 0 behind its end
  PARQUET_POSITION,  // the number of the row in the input
};

// ParquetNumber is how the word of an array is read as a double.
enum ParquetNumber : uint8_t {
  PARQUET_IS_DOUBLE,    // it is one
  PARQUET_IS_UNSIGNED,  // a uint64_t
  PARQUET_IS_DECIMAL,   // an int64_t; PARQUET_IS_DECIMAL + n: in units of 10^-n, up to 18
};

// ParquetUnit is where rows of a parcel are in the input: row group by row group, in order of
// `first`.
struct ParquetUnit {
  uint64_t position;  // the number of its first row in the input
  uint64_t first;     // and in the parcel
};

// ParquetState is how a state word is made.
struct ParquetState {
  uint64_t constant;
  uint64_t null;  // what it is if the row is NULL
  uint32_t array;
  uint32_t place;  // number of the output, whose places it has
  uint32_t word;   // ParquetWord
  uint8_t number;  // ParquetNumber of the array
  uint8_t times;   // ParquetNumber of the array whose number is the constant
  uint16_t other;  // 1 more than the number of an output where that is NULL the word is `null` too; 0: there is none
};

// ParquetNull is what rows add to a state word in which an output is NULL: one to a count of NULLs,
// or a flag.
struct ParquetNull {
  uint64_t add;
  uint32_t place;   // number of the output
  uint16_t state;   // number of the state word
  uint16_t unless;  // 1 more than the number of an output: where that is NULL nothing is added; 0: there is none
};

// ParquetCode is what a step does. a, b and c are the registers that it names. Where a register is
// NULL so is the result, and where one failed it failed, unless something else is said. Integers
// are of 64 bits and signed.
enum ParquetCode : uint8_t {
  PARQUET_LOAD,            // the word of output number `constant`
  PARQUET_LITERAL,         // the constant
  PARQUET_NONE,            // NULL
  PARQUET_STORE,           // a is the word of computed output number `constant`, of rows that are kept
  PARQUET_KEEP,            // rows are kept where a is 1, the others passed over. Once at most, before anything is stored
  PARQUET_COMPARE_INT,     // 1 or 0: whether a < b, a == b or a > b is wanted: bits 0, 1 and 2 of the constant
  PARQUET_COMPARE_UINT,    // the same of unsigned integers
  PARQUET_COMPARE_DOUBLE,  // the same of doubles: NaN equals NaN and is above all others
  PARQUET_AND,             // of booleans, three-valued: 0 and NULL is 0
  PARQUET_OR,              // of booleans, three-valued: 1 or NULL is 1
  PARQUET_NOT_BOOL,        // of a boolean
  PARQUET_IS_NULL,         // 1 or 0: whether a is NULL is 1 or, of constant 1, 0
  PARQUET_SELECT,          // b where c is 1, else a; neither NULL nor failed for what the other one is
  PARQUET_REPLACE,         // the constant
  PARQUET_NULL_UNLESS,     // a where it is 1, else NULL
  PARQUET_ADD,             // of integers: an overflow fails
  PARQUET_SUBTRACT,        // likewise
  PARQUET_MULTIPLY,        // likewise
  PARQUET_DIVIDE,          // likewise, cut to whole; by 0: NULL
  PARQUET_REMAINDER,       // of that division; by 0: NULL
  PARQUET_WITHIN,          // a, an integer, which fails outside of -constant - 1 to constant
  PARQUET_BIT_AND,
  PARQUET_BIT_OR,
  PARQUET_BIT_XOR,
  PARQUET_FLOOR,             // the greatest integer q with q * constant <= a; the constant is above 0
  PARQUET_FLOOR_REST,        // a - q * constant
  PARQUET_CIVIL,             // of a day since 1970 the year, month or day: of constant 0, 1 or 2
  PARQUET_TO_DOUBLE,         // an integer as a double
  PARQUET_TO_FLOAT,          // a double rounded to what a float holds, as a double
  PARQUET_TO_INTEGER,        // a double without a fraction as an integer: one that is none fails
  PARQUET_MAGNITUDE,         // a double without its sign
  PARQUET_ADD_DOUBLE,
  PARQUET_SUBTRACT_DOUBLE,
  PARQUET_MULTIPLY_DOUBLE,
  PARQUET_DIVIDE_DOUBLE,     // by 0: NULL
  PARQUET_ROUND_DOUBLE,      // a to multiples of 1 / b or, of bit 3 of the constant, of b: ParquetRounding
};

// ParquetRounding is how a double becomes whole: bits 0 to 2 of the constant of
// PARQUET_ROUND_DOUBLE.
enum ParquetRounding : uint8_t {
  PARQUET_HALF_AWAY,  // to the nearest, halves away from zero
  PARQUET_DOWN,
  PARQUET_UP,
  PARQUET_CUT,        // towards zero
  PARQUET_HALF_EVEN,  // to the nearest, halves to the even one
};

// ParquetStep is a step of a program: register `to` becomes what the code makes of registers a, b
// and c.
struct ParquetStep {
  uint64_t constant;
  uint8_t code;  // ParquetCode
  uint8_t to;
  uint8_t a;
  uint8_t b;
  uint8_t c;
};

// The most registers of a program: a bit each of a word of 32 bits.
constexpr uint32_t PARQUET_REGISTERS = 32;

// ParquetJob is a parcel and what is made of it. Kernels take it by value.
struct ParquetJob {
  const uint8_t* parcel;
  uint8_t* work;
  const ParquetPage* pages;
  ParquetTask* tasks;
  const ParquetOutput* outputs;
  const ParquetField* fields;  // in the order of the key columns, which the hash depends on
  const ParquetState* states;
  const ParquetNull* nulls;
  const ParquetStep* steps;
  const ParquetDict* dicts;
  const ParquetUnit* units;
  const uint8_t* patterns;  // at a multiple of 4
  uint64_t* arrays;      // word i of array a is arrays[a * array_words + i]
  uint32_t* places;      // of row r for output o: places[o * array_words + r]
  uint32_t* kept;        // the rows that the program keeps; null: rows are made of all
  uint64_t* made;        // how many are kept; 0 before
  uint64_t* stop;
  ParquetTextStore store;  // of jobs with outputs that have texts
  uint64_t array_words;  // at least `rows`
  uint32_t page_count;
  uint32_t task_count;
  uint32_t field_count;
  uint32_t null_count;
  uint32_t step_count;
  uint32_t dict_count;
  uint32_t registers;   // of the program
  uint32_t rows;        // of the parcel
  uint32_t unit_count;  // one or more, if a state is made of positions
  uint32_t text_end;    // outputs from this number on have no texts (ParquetOutput.texts)
  uint32_t hash_words;  // of a row: 1 or 0
  uint32_t key_words;
  uint32_t state_words;
};

// parquet_stop notes why a parcel cannot be made.
__device__ __forceinline__ void parquet_stop(uint64_t* stop, ParquetStop reason) { atomicMax(stop, uint64_t(reason)); }

// parquet_stopped tells all threads of a block the same about a stop word that other blocks may be
// writing. All threads of the block call; `flag` is a word of shared memory that nobody else uses
// before the next barrier. The barrier is for the flag.
__device__ __forceinline__ bool parquet_stopped(const uint64_t* stop, uint32_t* flag) {
  if (threadIdx.x == 0) *flag = ld_relaxed(stop) != 0;
  __syncthreads();
  return *flag != 0;
}
