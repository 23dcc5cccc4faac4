package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/bitpack"
)

// hybrid is a stream of small integers in the format's mix of run-length and
// bit-packed runs: levels, dictionary codes, booleans. It expands only what
// is asked for (LAZY).
//
//	run:  varint(count<<1)    | value in ceil(width/8) bytes    RLE
//	      varint(groups<<1|1) | groups times width bytes        8 values a group
type hybrid struct {
	data   []byte // what follows the consumed part; PAD
	width  uint   // bits a value, at most 32
	left   int    // values left in the current run
	packed bool   // the current run is bit-packed
	value  int32  // the value of an RLE run
	truth  bool   // booleans: parquet-go writes 255 for true in RLE runs

	// A group of which only a part has been asked for.
	group [8]int32
	at    int // next element of group; 8: none left
}

var errRunsEnd = errors.New("fewer values than promised")

// reset starts a stream at data. width is at most 32.
func (h *hybrid) reset(data []byte, width uint) {
	*h = hybrid{data: data, width: width, at: len(h.group)}
}

// resetPacked starts a stream that is one bit-packed run without a header.
func (h *hybrid) resetPacked(data []byte, width uint) {
	h.reset(data, width)
	h.packed = true
	h.left = len(data) * 8 / int(width)
}

// read fills dst.
func (h *hybrid) read(dst []int32) error {
	for len(dst) > 0 {
		if h.left == 0 {
			if err := h.next(); err != nil {
				return err
			}
			continue // a run may be empty
		}
		n := min(len(dst), h.left)
		if h.packed {
			h.unpack(dst[:n])
		} else {
			fill(dst[:n], h.value)
		}
		h.left -= n
		dst = dst[n:]
	}
	return nil
}

// constant reports whether the next n values all come from one RLE run, and
// which value it holds. It consumes them only if so.
func (h *hybrid) constant(n int) (value int32, ok bool, err error) {
	for h.left == 0 {
		if err := h.next(); err != nil {
			return 0, false, err
		}
	}
	if h.packed || h.left < n {
		return 0, false, nil
	}
	h.left -= n
	return h.value, true, nil
}

// next reads the header of the next run.
func (h *hybrid) next() error {
	head, n := binary.Uvarint(h.data)
	if n <= 0 {
		return errRunsEnd
	}
	h.data = h.data[n:]
	h.packed = head&1 == 1
	count := head >> 1
	if h.packed {
		return h.startPacked(count)
	}
	size := int(h.width+7) / 8
	if len(h.data) < size {
		return errRunsEnd
	}
	var value uint32
	for i := range size {
		value |= uint32(h.data[i]) << (8 * i)
	}
	if h.truth {
		value = min(value, 1)
	}
	if h.width < 32 && value>>h.width != 0 {
		return fmt.Errorf("damaged: value %d in a run of %d bits", value, h.width)
	}
	h.data = h.data[size:]
	h.value = int32(value)
	h.left = int(min(count, math.MaxInt32))
	return nil
}

// startPacked starts a bit-packed run. The last one of a page may be cut
// short by writers that do not fill the last group.
func (h *hybrid) startPacked(groups uint64) error {
	groups = min(groups, math.MaxInt32)
	if h.width == 0 {
		h.packed, h.value = false, 0
		h.left = int(groups) * 8
		return nil
	}
	h.left = min(int(groups)*8, len(h.data)*8/int(h.width))
	h.at = len(h.group)
	if h.left == 0 && groups > 0 {
		return errRunsEnd
	}
	return nil
}

// unpack fills dst, of at most left values, from the current bit-packed run.
func (h *hybrid) unpack(dst []int32) {
	n := copy(dst, h.group[h.at:])
	h.at += n
	dst = dst[n:]
	if whole := len(dst) &^ 7; whole > 0 {
		bitpack.Unpack(dst[:whole], h.data, h.width)
		h.data = h.data[min(whole/8*int(h.width), len(h.data)):]
		dst = dst[whole:]
	}
	if len(dst) > 0 {
		bitpack.Unpack(h.group[:], h.data, h.width)
		h.data = h.data[min(int(h.width), len(h.data)):]
		h.at = copy(dst, h.group[:])
	}
}

// fill stores eight at a time, for which the compiler takes two stores.
func fill(dst []int32, value int32) {
	eight := [8]int32{value, value, value, value, value, value, value, value}
	for ; len(dst) >= 8; dst = dst[8:] {
		*(*[8]int32)(dst) = eight
	}
	for i := range dst {
		dst[i] = value
	}
}
