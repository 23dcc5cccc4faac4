package parquetio

import "github.com/gagg-dev/gagg/internal/hostmem"

// padding is the bytes that PAD speaks of: what bit unpacking reads past its
// input (a group of 64-bit values and 32 bytes), and column.SpanPadding.
const padding = 128

// trimFrom is the size below which a buffer is not worth giving back while
// its column is read.
const trimFrom = 1 << 20

// A buffer is memory for bytes that satisfies PAD, drawn from an account. It
// lies off the Go heap when it is large: slices of it must not be used after
// the next call of a method. A new one has room for an eighth more than is
// asked for: pages of a column are of nearly the same size, and each new
// buffer is memory to be touched for the first time.
type buffer struct {
	mem  *account
	b    []byte // all of it
	most int    // the most bytes asked for since it was last trimmed
}

// room returns n bytes that mean nothing; what names them in the error of a
// budget that refuses.
func (b *buffer) room(n int, what string) ([]byte, error) {
	b.most = max(b.most, n)
	if len(b.b) < n+padding {
		b.free()
		if err := b.make(n, what); err != nil {
			return nil, err
		}
	}
	return b.b[:n], nil
}

// move is room for n bytes that begin with those of head, a part of the
// buffer. After an error the buffer is as it was.
func (b *buffer) move(head []byte, n int, what string) ([]byte, error) {
	b.most = max(b.most, n)
	if len(b.b) < n+padding {
		larger := buffer{mem: b.mem, most: b.most}
		if err := larger.make(n, what); err != nil {
			return nil, err
		}
		copy(larger.b, head)
		b.free()
		*b = larger
		return b.b[:n], nil
	}
	copy(b.b, head)
	return b.b[:n], nil
}

// grow makes room for n bytes or more that begin with the first used ones, at least twice as many
// if there is too little. After an error the buffer is as it was.
func (b *buffer) grow(used, n int, what string) error {
	if b.most = max(b.most, n); len(b.b) >= n+padding {
		return nil
	}
	_, err := b.move(b.b[:used], max(n, 2*used), what)
	return err
}

func (b *buffer) make(n int, what string) error {
	size := int(withSlack(int64(n)))
	if b.mem.draw(int64(size), what) != nil {
		size = n + padding
		if err := b.mem.draw(int64(size), what); err != nil {
			return err
		}
	}
	b.b = hostmem.Make[byte](size)
	return nil
}

// withSlack is the size of a new buffer for n bytes.
func withSlack(n int64) int64 { return n + n/8 + padding }

// trim lets go of a large buffer of which little was used since the last
// call, so that one large page does not keep its memory to the end.
func (b *buffer) trim() {
	if len(b.b) > trimFrom && b.most < len(b.b)/4 {
		b.free()
	}
	b.most = 0
}

// free gives the memory back; the buffer may be used again.
func (b *buffer) free() {
	if b.b == nil {
		return
	}
	size := int64(len(b.b))
	hostmem.Free(b.b)
	b.b = nil
	b.mem.give(size)
}

// transfer leaves the memory and what was drawn for it to another account.
func (b *buffer) transfer(to *account) {
	b.mem.transfer(int64(len(b.b)), to)
	b.mem = to
}
