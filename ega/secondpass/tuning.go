package secondpass

const (
	// DefaultBufferBytes crosses the link in 75 µs at its full rate, and is filled in half a
	// millisecond by one core. Two of them are pinned in 3 ms.
	DefaultBufferBytes = 4 << 20

	// bufferShare: each buffer may take one of this many parts of the device memory, which the
	// table then lacks. It decides only below 64 MiB, where two buffers leave seven eighths to the
	// table.
	bufferShare = 16

	// leastBuffer is the number of rows of the smallest buffer, leastSlots the number of slots of
	// the smallest table. They are so small only to keep tests quick: a pass with as little memory
	// is never worth it.
	leastBuffer, leastSlots = 16, 64

	// A count is requested when dueParts of dueOf parts of a round have been sent. Earlier, more
	// rows would count as new groups when the round ends; later, the pass would have to wait for
	// the count. At a half and at seven eighths a pass took as long, within the noise
	// (docs/experiments/0014).
	dueParts, dueOf = 3, 4
)
