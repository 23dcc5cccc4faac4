package agg

import (
	"encoding/binary"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// This file is the chains of states as bytes. Of a chain that keeps less than all values the
// entries are compacted and sorted; those of others come as they lie, and a long one with runs in
// order.

// refs is where the refs of rows are valid.
type refs = *arena.Arenas

// isLong reports whether the entries of a chain do not stay in the row of its group.
func (f *finisher) isLong(k link) bool {
	if k.runs && *k.runList() != 0 {
		return true
	}
	return 8*k.entries(f.reg, &f.work.stop) > stateInline
}

// stateChains writes the entries of chains that are not long.
func (f *finisher) stateChains() error {
	return f.withWork(func() error {
		for i, row := range f.groups() {
			from := len(f.out.Data)
			if k := linkOf(f.slot(0), row); !f.isLong(k) {
				err := f.eachBytes(k, func(b []byte) error {
					f.out.Data = append(f.out.Data, b...)
					return f.checkRoom(len(f.out.Data))
				})
				if err != nil {
					return err
				}
			}
			f.out.Span[i] = column.Span{Off: uint32(from), Len: uint32(len(f.out.Data) - from)}
		}
		return nil
	})
}

// withWork calls do with a workspace.
func (f *finisher) withWork(do func() error) error {
	f.work = f.workspace()
	f.work.reader = f.farReader(f.work.reader.buf, &f.work.stop)
	defer f.release(f.work)
	if err := do(); err != nil {
		return err
	}
	return f.work.stop.err
}

// LongStates calls put with each piece of the long chains of a group (STATES-PIECES): its column,
// and its bytes, which are valid until put returns.
func (l *Layout) LongStates(row []uint64, reg refs, put func(col int, piece []byte) error) error {
	for col := range l.states {
		c := &l.states[col]
		if c.what != stateChain {
			continue
		}
		f := finisher{Layout: l.exporter, call: &call{slots: [5]int{c.slot}}, rows: row, stride: len(row), reg: reg}
		err := f.withWork(func() error {
			k := linkOf(f.slot(0), row)
			if !f.isLong(k) {
				return nil
			}
			var piece []byte
			err := f.eachBytes(k, func(b []byte) (err error) {
				if piece = append(piece, b...); len(piece) >= statePiece {
					err, piece = put(col, piece), piece[:0]
				}
				return err
			})
			if err == nil && len(piece) > 0 {
				err = put(col, piece)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachBytes calls do with the entries of a chain as bytes, whole entries each time.
func (f *finisher) eachBytes(k link, do func(b []byte) error) error {
	if !k.compacts() && !(k.runs && *k.runList() != 0) {
		return k.blobs(f.reg, &f.work.stop, func(words []uint64) error { return do(littleEndian(nil, words)) })
	}
	var b []byte
	return f.eachEntry(k, func(e *entry) (err error) {
		b = littleEndian(b[:0], e.words)
		if k.words == 0 {
			if b, err = f.work.reader.appendTo(b, e); err != nil {
				return err
			}
			b = append(b, make([]byte, -len(b)&7)...)
		}
		return do(b)
	})
}

func littleEndian(b []byte, words []uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// takeChain appends entries that State has written, and that were checked, to the chain of a group.
func (l *Layout) takeChain(k link, a *arena.Arena, b []byte, words []uint64) []uint64 {
	words = words[:0]
	for ; len(b) >= 8; b = b[8:] {
		words = append(words, binary.LittleEndian.Uint64(b))
	}
	if len(words) == 0 {
		return words
	}
	entries, values := uint64(0), uint64(0)
	for rest := words; len(rest) > 0; rest = rest[k.entryWords(rest):] {
		entries++
		if k.count != none {
			values += rest[k.count]
		}
	}
	if k.count == none {
		values = entries
	}
	l.append(k, a, words)
	*k.tail() += values << countShift
	if k.compacts() {
		if *k.base() += values - entries; k.hasBlobs() && l.compactDue(k) {
			l.compact(k, a)
		}
	}
	return words
}

// mostCounted is more values than a chain counts.
const mostCounted = 1 << (64 - countShift)

// mostPosition is more than any row has as its number.
const mostPosition = 1 << 62

// whole reports whether bytes are entries of the chain, as State writes them.
func (c *chain) whole(b []byte) bool {
	if len(b)%8 != 0 {
		return false
	}
	for all := uint64(0); len(b) > 0; {
		head := c.value + 1
		if c.words > 0 {
			head = c.words
		}
		if len(b) < 8*head {
			return false
		}
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
		if c.count != none {
			n := word(c.count)
			if all += n; n == 0 || n >= mostCounted || all >= mostCounted {
				return false
			}
		}
		if c.pos != none && word(c.pos) >= mostPosition {
			return false
		}
		size := head
		if c.words == 0 {
			n := word(c.value)
			if n > uint64(len(b)) || 8*(head-1+stringWords(int(n))) > len(b) {
				return false
			}
			size = head - 1 + stringWords(int(n))
		}
		b = b[8*size:]
	}
	return true
}

// encoding says of what the entries of the chain consist.
func (c *chain) encoding() string {
	text := "entries:"
	if c.count != none {
		text += " count"
	}
	if c.pos != none {
		text += " position"
	}
	switch {
	case c.keep == keepHashes:
		return text + " hash"
	case c.rep == column.RepBytes:
		return text + " length bytes"
	case c.rep == column.RepWide:
		text += " 4-word"
	}
	if c.keep == keepOrder {
		return text + " value"
	}
	if c.keep == keepGreatest {
		return text + " inverted-key"
	}
	return text + " key"
}
