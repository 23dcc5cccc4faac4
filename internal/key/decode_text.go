package key

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file decodes strings without copies where that is possible. A short string needs none: its
// bytes lie in the row in order, on machines that store the low byte of a word first.

// lowFirst reports whether this machine does.
var lowFirst = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// decodeInline sets out to strings of which none is long.
func (d *Decoder) decodeInline(i int, words []uint64, out *column.Vector) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*cap(words))
	if !lowFirst || len(bytes) > math.MaxUint32 {
		d.copyInline(i, words, out)
		return
	}
	out.Data = bytes[:8*len(words)]
	spans, stride := slices.Grow(out.Span, out.Len)[:out.Len], d.Stride
	out.Span = spans
	last := d.Layout.fields[i].size - 1
	for i, at := 0, 0; i < len(spans); i, at = i+1, at+stride {
		spans[i] = column.Span{Off: uint32(8 * at), Len: uint32(words[at+last] >> 56 & lengthBits)}
	}
}

// copyInline sets out to strings of any length.
func (d *Decoder) copyInline(i int, words []uint64, out *column.Vector) {
	last := d.Layout.fields[i].size - 1
	// there is one row: its string may be too long for a copy
	if len(words) <= d.Stride && isLong(words[last]) {
		b := longBytes(d.Arenas, words[0], words[last])
		// in an arena as many bytes follow
		out.Data = unsafe.Slice(unsafe.SliceData(b), len(b)+column.SpanPadding)[:len(b)]
		out.Span = append(out.Span, column.Span{Len: uint32(len(b))})
		return
	}
	data, chunks := d.text[i][:0], d.Arenas.Chunks()
	for at := 0; at < len(words); at += d.Stride {
		if at%(touchRows*d.Stride) == 0 {
			d.touch(words[at:min(at+touchRows*d.Stride, len(words))], last, chunks)
		}
		field := words[at:][:last+1]
		off := len(data)
		if hi := field[last]; isLong(hi) {
			data = append(data, longBytes(d.Arenas, field[0], hi)...)
		} else {
			for _, w := range field {
				data = binary.LittleEndian.AppendUint64(data, w)
			}
			data = data[:off+int(hi>>56&lengthBits)]
		}
		out.Span = append(out.Span, column.Span{Off: uint32(off), Len: uint32(len(data) - off)})
	}
	d.own(i, data, out)
}

// touchRows is the number of rows whose strings are touched before they are copied.
const touchRows = 64

// touch reads the ends of long strings, so that the cache misses of different rows overlap. While
// strings are copied, misses do not overlap.
func (d *Decoder) touch(words []uint64, last int, chunks [][]byte) {
	sum := byte(0)
	for at := 0; at < len(words); at += d.Stride {
		if hi := words[at+last]; isLong(hi) {
			b := chunkBytes(chunks, words[at], hi)
			sum += b[0] + b[len(b)-1]
		}
	}
	d.touched = sum
}

// decodeInterned sets out to strings that were numbered.
func (d *Decoder) decodeInterned(i int, words []uint64, out *column.Vector) {
	f := &d.Layout.fields[i]
	if d.table == nil {
		d.table = &internedTable{}
		if !d.Beside {
			d.table = d.Intern.tabulate()
		}
	}
	if all := d.table.spans; all != nil {
		spans, stride, shift := slices.Grow(out.Span, out.Len)[:out.Len], d.Stride, f.shift
		out.Data, out.Span = d.table.data, spans
		for i, at := 0, 0; i < len(spans); i, at = i+1, at+stride {
			spans[i] = all[idAt(words[at], shift)]
		}
		return
	}
	data := d.text[i][:0]
	for r, at := 0, 0; at < len(words); r, at = r+1, at+d.Stride {
		off := len(data)
		if out.Null == nil || !out.Null[r] { // numbers of NULL rows stand for nothing
			data = append(data, d.Intern.get(f.id(words[at]))...)
		}
		out.Span = append(out.Span, column.Span{Off: uint32(off), Len: uint32(len(data) - off)})
	}
	d.own(i, data, out)
}

// internedTable has the strings of an interner in one piece of memory, by number. spans is nil if
// there are too many strings, or if the budget has no room for a second copy.
type internedTable struct {
	spans []column.Span
	data  []byte
}

// tableMost is the most bytes of strings that are copied into one piece. With more of them, the
// strings that a result often needs would not stay in the cache: 8 MiB are a part of a third-level
// cache.
const tableMost = 8 << 20

// tabulate returns the strings of all shards in one piece, the same for all decoders. It must not
// run while id runs.
func (t *Interner) tabulate() *internedTable {
	t.mu.Lock()
	defer t.mu.Unlock()
	entries, bytes, most := 0, 0, 1
	for i := range t.shards {
		all := t.shards[i].entries()
		entries += len(all)
		most = max(most, len(all))
		for k := range all {
			bytes += len(all[k].data)
		}
	}
	if t.table != nil && t.tabled == entries {
		return t.table
	}
	t.table, t.tabled = &internedTable{}, entries
	need := bytes + column.SpanPadding + most<<internShardBits*8
	if bytes > tableMost || t.memory.Draw(int64(need)) != nil {
		return t.table
	}
	t.bytes.Add(int64(need))
	t.table.fill(t, bytes, most)
	return t.table
}

func (x *internedTable) fill(t *Interner, bytes, most int) {
	x.spans = make([]column.Span, most<<internShardBits)
	x.data = make([]byte, 0, bytes+column.SpanPadding)
	for i := range t.shards {
		for k, e := range t.shards[i].entries() {
			x.spans[k<<internShardBits|i] = column.Span{Off: uint32(len(x.data)), Len: uint32(len(e.data))}
			x.data = append(x.data, e.data...)
		}
	}
}
