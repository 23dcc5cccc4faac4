package evict

// The values of eviction. Where docs/experiments/0014 is named, a lower and a higher value were
// measured there on an H100.

// Of the pages that lanes append to.
const (
	// poolPage is the size of a page where there is enough memory. With larger pages the lists of
	// pages are shorter; with smaller pages less memory is lost in pages that are not full. With
	// 32 and with 512 KiB a pass took 2 to 6 % longer (0014).
	poolPage = 128 << 10

	// poolPages is how many pages there are at least before they are made larger: twice what all
	// chains want.
	poolPages = 2 * poolChain << MaxChainBits

	// poolMost is the most pages, of which ondevice.Chains knows twice as many.
	poolMost = 1 << 20

	// MaxChainBits is the most bits of the hash by which chains are told apart, and so the most of
	// Rows.Bits: each of the 2^7 chains goes to the host in long pieces, for one host bucket or a
	// few. With 5 bits a pass whose rows are retained took 22 times as long, since buckets are no
	// smaller than chains; with 9 58 % longer (0014).
	MaxChainBits = 7

	// poolChain is how many pages there are for each chain, so that most of what leaves at once are
	// whole pages. With 2 and with 16 a pass took 3 to 5 % longer (0014).
	poolChain = 4

	// poolPageRows is the least rows of a page, of ondevice.Chains.
	poolPageRows = 32

	// poolPerPage is what a page takes besides itself: in the list of pages 4 bytes, in two
	// directories of up to four slots a page 64, and its bit.
	poolPerPage = 72

	// poolPerChain is what a chain takes: 28 bytes, and the slots for a page that is asked for in
	// vain.
	poolPerChain = 28 + poolPerPage

	// poolFixed is for a part of the bitmap, for counters, and for the rounding of allocations.
	poolFixed = 8 << 10
)

// Of chain sets.
const (
	// setBytes is the size of a set where there is enough memory. It leaves in 3 ms, so reading
	// the sizes of its chains first adds little, and little is left in the sets when the input
	// ends. Sets of 256 MiB were a little slower.
	setBytes = 128 << 20

	// setAppends is how many appends a set has room for at least where memory is plenty. With 2 and
	// with 8 a pass took as long (0014).
	setAppends = 4

	// mostSets: one set is filled, one leaves, and the others help while writers are slow. With 2
	// a pass that gives all rows to writers took 11 % longer, with 8 5 % (0014).
	mostSets = 4
)

// Of copies to the host.
const (
	// sendShare: the pieces of a sender have at most one of this many parts of a lane's memory.
	// With 64 a pass that retains its rows took 12 % longer, with 8 2 % (0014).
	sendShare = 16

	// sendAhead is how many buffers of a sender have copies under way at most: 4 MiB cross in 80
	// µs, while an evictor that waits for them sleeps for 90 µs and then waits for a core, as
	// writers keep them busy. With 2 and with 8 a pass took up to 5 % longer (0014).
	sendAhead = 4

	// sendPieces: one is filled while another leaves.
	sendPieces = 2

	// pieceBytes is the size of a piece where memory is plenty: with 4 MiB a first pass of which
	// all rows leave was a twentieth slower.
	pieceBytes = 8 << 20

	// writeBytes is the size of a buffer between device and writers: the link's full rate, and
	// enough rows for each host bucket. With 1 MiB a pass took as long, with 16 MiB 13 % longer
	// (0014).
	writeBytes = 4 << 20
)

// Of rows that stay in pinned memory.
const (
	// retainBufferBytes is the size of a buffer where memory is plenty. The driver's lock is taken
	// for each: beside copies and kernels four goroutines pinned 8 GB/s by 4 MiB and 14 by 32,
	// nearly all of which was the system clearing pages (docs/experiments/0012).
	retainBufferBytes = 32 << 20

	// pinners is how many buffers are being pinned or lie ready at a time. Together they hold two
	// sets of chains, one of which leaves when rows are first retained. Twelve were no faster.
	pinners = 8

	// retainBuffers is how many there should be, so that a last one half full is not much: a
	// sixteenth of the memory. With 2 and with 32 a pass took as long (0014).
	retainBuffers = 8
)
