package secondpass

const (
	// DefaultBufferBytes crosses the link in 75 µs at its full rate, and is filled in half a
	// millisecond by one core. Two of them are pinned in 3 ms.
	DefaultBufferBytes = 4 << 20

	// bufferShare is the part of the device memory that each buffer may take: what it takes, the
	// table lacks. It decides only below 64 MiB, where two buffers leave seven eighths to the
	// table.
	bufferShare = 16

	// leastBuffer is the rows of the smallest buffer, leastSlots those of the smallest table: a
	// Device for which more than this is too much does not pay, and tests have to be quick.
	leastBuffer, leastSlots = 16, 64

	// A count is asked for when dueParts of dueOf parts of a round are on their way. Earlier, more
	// rows would have to be taken for new groups when the round ends; later, the device would be
	// waited for. At a half and at seven eighths a pass took as long, within the noise
	// (docs/experiments/0014).
	dueParts, dueOf = 3, 4
)
