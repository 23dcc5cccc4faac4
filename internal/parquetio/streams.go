package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

// streams holds one stream of each kind, so that a page needs no new ones.
type streams struct {
	blocks  plainBlocks
	spans   plainSpans
	bools   bools
	deltas  deltaInts
	lengths deltaLengths
	strings deltaStrings
	unsplit buffer
}

// use sets where the streams draw their memory from.
func (s *streams) use(mem *account) {
	s.unsplit.mem, s.strings.out.mem, s.strings.last.mem = mem, mem, mem
}

// trim lets go of large buffers that are hardly used any more.
func (s *streams) trim() {
	s.unsplit.trim()
	s.strings.out.trim()
	s.strings.last.trim()
}

func (s *streams) free() {
	s.unsplit.free()
	s.strings.out.free()
	s.strings.last.free()
}

// widths of values by physical type; 0: not fixed by it.
var widths = [...]int{
	format.Int32: 4, format.Int64: 8, format.Int96: 12, format.Float: 4, format.Double: 8,
	format.FixedLenByteArray: 0,
}

// start points d at the stream for the encoded values of a page with rows
// rows. max bounds what the values of one read may expand to.
func (s *streams) start(d *decoder, enc format.Encoding, values []byte, rows int, max int64) error {
	s.startEmpty(d)
	switch enc {
	case format.Plain:
		s.startPlain(d, values)
		return nil
	case format.RLE:
		if d.physical == format.Boolean {
			return s.startBoolRuns(values)
		}
	case format.DeltaBinaryPacked:
		if d.physical == format.Int32 || d.physical == format.Int64 {
			s.deltas.narrow = d.physical == format.Int32
			d.intSrc = &s.deltas
			return s.deltas.reset(values, rows)
		}
	case format.DeltaLengthByteArray:
		if d.physical == format.ByteArray {
			d.spanSrc = &s.lengths
			return s.lengths.reset(values, rows)
		}
	case format.DeltaByteArray:
		if d.physical == format.ByteArray || d.physical == format.FixedLenByteArray {
			d.spanSrc, d.blockSrc = &s.strings, &s.strings
			return s.strings.reset(values, rows, max, d.length)
		}
	case format.ByteStreamSplit:
		if s.blocks.width > 0 {
			dst, err := s.unsplit.room(len(values), "the values of a page")
			if err != nil {
				return err
			}
			s.blocks.data = dst
			return unsplit(dst, values, s.blocks.width)
		}
	}
	return fmt.Errorf("%v values encoded as %v (%d); not supported", d.physical, enc, enc)
}

// startEmpty points d at streams without values.
func (s *streams) startEmpty(d *decoder) {
	s.blocks = plainBlocks{width: d.length}
	if d.physical != format.FixedLenByteArray && d.physical != format.ByteArray {
		s.blocks.width = widths[d.physical]
	}
	s.spans = plainSpans{}
	s.bools.runs.reset(nil, 1)
	d.intSrc, d.blockSrc, d.spanSrc = &s.blocks, &s.blocks, &s.spans
	if d.physical == format.Boolean {
		d.intSrc = &s.bools
	}
}

func (s *streams) startPlain(d *decoder, values []byte) {
	s.blocks.data = values
	s.spans.data = values
	if d.physical == format.Boolean {
		s.bools.runs.resetPacked(values, 1)
	}
}

// startBoolRuns starts booleans in runs, which have their size before them.
func (s *streams) startBoolRuns(values []byte) error {
	if len(values) < 4 {
		return errors.New("damaged: no booleans")
	}
	n := binary.LittleEndian.Uint32(values)
	values = values[4:]
	if int64(n) > int64(len(values)) {
		return fmt.Errorf("damaged: %d bytes of booleans in %d", n, len(values))
	}
	s.bools.runs.reset(values[:n], 1)
	s.bools.runs.truth = true
	return nil
}
