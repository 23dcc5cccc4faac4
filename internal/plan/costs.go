package plan

import (
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/feedback"
)

// Costs is what things cost, in seconds of one core unless it says otherwise. CPU costs are with 16
// threads (Xeon beside an H200), where tables of all workers share the memory; fewer threads are a
// little faster each. Where figures beside Byte, Unpack, Row, Update, Crowded and tables are others
// than their values, these lie between what 75 questions of 4e7 rows took on two such hosts, of
// which one takes 1.4 times as long as the other (docs/decisions/0039).
type Costs struct {
	Byte float64 // of decompressed input: read, unpack, decode; .9e-9 (texts) to 1.2e-9 (numbers)
	Row  float64 // key words and hash
	// Operation of an expression on a row, and Update of a state by it: TPC-H 1, of 8 aggregates
	// and 7 columns, took 65e-9 a row of each of 16 threads
	Operation, Update float64
	// Crowded is how many times as long expressions take where all threads compute as in a sample
	Crowded float64
	// LongKey: a long text of a key, beside its bytes: ClickBench 18
	LongKey float64

	Pack float64 // a row with its states into pinned memory, not measured alone: 64 bytes at 6 GB/s
	// Read: a byte of input that a device decodes, into memory that was not touched before: a
	// copy, a checksum, page faults
	Read float64
	// Unpack: a byte that comes out of ZSTD, beside Byte, or where workers decompress for a device:
	// 3.3e-9 of three columns of integers by the profile of 16 threads, and by p1 and p2 of the
	// payments with a device open, which wait for that; 2e-9 of texts. On two cores of an EPYC
	// integers took half as long
	Unpack float64
	// Text: a long text of a key that crosses as a code: its page decompressed, its code, and its
	// part of the refs that entries get. URL of 5e7 rows, 8.6e6 different ones: 500e-9 of each of
	// 16 threads, 200e-9 of them for codes; 30 to 150e-9 on two cores (docs/decisions/0026). Also a
	// text of which workers compute something: regexp_replace of Referer took 1.2e-6
	Text float64

	Group float64 // merging one from partitions: q10's scatter and merge, without its tables
	Put   float64 // finishing a group, to Arrow: q10's output, from a device

	// List: a value into its group's list and out of it, sorted in part: q6, less what it costs
	// without
	List float64
	// Listed: the same where a device has put the values of each group side by side: q6's output
	// took 11e-9; a median, and a median beside a mad, of 4e7 rows took 40 to 60e-9 a value.
	// The value lies between
	Listed float64

	// A row's way through a worker's table costs TableSmall where the table fits
	// SmallTable bytes, the processor's second-level cache, TableLarge from
	// LargeTable bytes on, and between them more by the same for each doubling:
	// q1, q2, q4; q3, q5, q7.
	TableSmall, TableLarge float64
	SmallTable, LargeTable float64
	TableText              float64 // a long text of a key more than that, in a large table

	// Place: a byte of a row that has left a device into memory that was not touched before, by
	// copying or by pinning it: q10 with 4 GiB of a device
	Place float64
	// TableShare: part of a device's memory that groups have, before rows leave it
	// (firstpass.TableShare)
	TableShare float64
	// LeftGain: rows of a group from which on those that have left come back to the device
	// (feedback.BucketGain)
	LeftGain float64

	Ready float64 // seconds until a device that is open takes rows: 3 to 8 ms
	// Start: seconds until a device is ready: driver 0.1, context 0.06, kernels and pinned
	// memory 0.02 (docs/decisions/0035). With 0.2, which it took beside workers that packed,
	// h17 and h23 of the other questions stayed on the CPU for 1.2 and 1.3 times as long
	Start float64
	// End: seconds beside the copies until groups are back: they are divided, readers pin their
	// buffers
	End  float64
	Exit float64 // seconds until a device is closed
	Link float64 // bytes a second, pinned (bench/results/NVIDIA-H200/link.md)

	// What a device takes beside Ready and End, by its time for 30 questions of 1e8 rows: of
	// ClickBench and TPC-H, on an H200 that was open. The four predict them within 37 %, 21 of them
	// within 20 % (docs/experiments/0019).
	Decode  float64 // bytes a second, as they cross
	Expand  float64 // seconds for each byte that decompressing adds
	Combine float64 // a group: its place in the table, out of all caches
	Stored  float64 // a long text of a key that the device keeps itself, of a row that passes

	// Gain is the part of the CPU's time that a device must save at least, since
	// both predictions may be wrong.
	Gain float64
	// PartsGain is the same of grouping by parts of the keys on the CPU
	PartsGain float64
	// Clear is the part of the CPU's predicted time up to which a device is opened without a pace
	// of workers. TPC-H 18, whose keys come in order, was predicted to take 1.7 times as long on
	// the CPU and took .7 of it
	Clear float64
	// Near is the part of the CPU's predicted time up to which a device may turn out to be faster
	// that is predicted to take longer than Gain allows (not measured)
	Near float64
	// Settled is the part of what the CPU is predicted to take for the rest, by a pace of workers,
	// up to which the run begins anew with a device. Early is the same by a pace that is not
	// settled (docs/decisions/0028)
	Settled, Early float64
}

var defaultCosts = Costs{
	Byte: 1.1e-9, Row: 5e-9, Operation: 1e-9, Update: 6e-9, Crowded: 1.8, LongKey: 15e-9, Pack: 10e-9, Read: 0.5e-9, Unpack: 2.1e-9, Text: 500e-9, Group: 110e-9, Put: 80e-9,
	List: 42e-9, Listed: 25e-9,
	TableSmall: 4e-9, TableLarge: 85e-9, SmallTable: 512 << 10, LargeTable: 64 << 20, TableText: 170e-9,
	Place: 1e-9, TableShare: firstpass.TableShare, LeftGain: feedback.DefaultBucketGain,
	Ready: 0.01, Start: 0.17, End: 0.02, Exit: 0.1, Link: 55e9,
	Decode: 12.6e9, Expand: 0.038e-9, Combine: 1.2e-9, Stored: 0.3e-9,
	Gain: 0.1, PartsGain: 0.2, Clear: 0.4, Near: 1.25, Settled: 0.7, Early: 0.3,
}
