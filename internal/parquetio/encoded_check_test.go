package parquetio

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// openBytes opens a dataset of files in memory.
func openBytes(t testing.TB, o Options, files ...[]byte) (*Dataset, error) {
	t.Helper()
	inputs := make([]Input, len(files))
	for i, data := range files {
		inputs[i] = Input{Name: fmt.Sprint("f", i), Reader: bytes.NewReader(data), Size: int64(len(data))}
	}
	d, err := Open(context.Background(), inputs, o)
	if err == nil {
		t.Cleanup(func() { d.Close() })
	}
	return d, err
}

// scanOf scans columns of a dataset.
func scanOf(t testing.TB, d *Dataset, cols ...int) *Scan {
	t.Helper()
	s, err := d.Scan(ScanOptions{Columns: cols, BatchRows: 100})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readEncoded reads a unit into memory of exactly the size it wants, with
// guards behind it, and checks what ReadEncoded promises of places.
func readEncoded(t testing.TB, r *Reader, unit int) (chunks []EncodedChunk, memory []byte, ok bool) {
	t.Helper()
	e, ok := r.EncodedUnit(unit)
	size := e.Bytes
	if !ok {
		return nil, nil, false
	}
	guard := bytes.Repeat([]byte{0xAB}, 64)
	memory = append(bytes.Repeat(guard[:1], int(size)), guard...)
	chunks, ok, err := r.ReadEncoded(unit, memory[:size:size])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(memory[size:], guard) {
		t.Fatal("what lies behind the memory was written")
	}
	at := 0
	for _, c := range chunks {
		for _, p := range c.Pages {
			if p.At < at || p.Bytes < 0 || p.At+p.Bytes+EncodedAlign > int(size) || p.Rows <= 0 || p.Size <= 0 || p.Coded && c.Dict == nil && c.DictPage == nil {
				t.Fatalf("%d bytes, the last page ends at %d: %+v", size, at, p)
			}
			at = p.At + p.Bytes
		}
	}
	return chunks, memory[:size], ok
}

// decodeEncoded decodes a chunk's pages by the code that reads pages, from
// nothing but what ReadEncoded tells of them.
func decodeEncoded(t testing.TB, r *Reader, unit, col int, chunk EncodedChunk, memory []byte, see func(*column.Vector)) error {
	t.Helper()
	work := newWorkspace(nil, 1000)
	defer work.close()
	from := r.cols[col]
	c, err := newColumnReader(from.f, from.leaf.index, from.want, work)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	c.begin(r.scan.units[unit].Group)
	if t, _ := encodedType(c.leaf, c.want); c.leaf.makesPlain(format.Plain) { // of another type
		made := *c.leaf
		made.physical = map[Physical]format.Type{Int64: format.Int64, Float: format.Float}[t.Physical]
		made.typ.Kind = map[Physical]column.Kind{Int64: column.Decimal, Float: column.Float32}[t.Physical]
		c.leaf, c.decoder = &made, newDecoder(&made, c.want)
	}
	c.dict = chunk.Dict
	for _, p := range chunk.Pages {
		for id, codec := range pageCodecs {
			if codec == p.Codec {
				c.id = id
			}
		}
		if err := c.loadEncoded(p, memory[p.At:][:p.Bytes]); err != nil {
			return err
		}
		for c.left > 0 {
			var v column.Vector
			if err := c.read(&v, min(c.left, 1000)); err != nil {
				return err
			}
			see(&v)
		}
	}
	c.dict = nil // not drawn from work
	if c.seen != c.rows {
		t.Fatalf("%d of %d rows", c.seen, c.rows)
	}
	return nil
}

// encodingOf is what the format calls the encodings of encoded pages.
var encodingOf = map[PageEncoding]format.Encoding{
	PlainValues: format.Plain, SplitValues: format.ByteStreamSplit, DeltaValues: format.DeltaBinaryPacked,
}

// loadEncoded loads a page as if its header had been read.
func (c *columnReader) loadEncoded(p EncodedPage, body []byte) (err error) {
	if c.left, err = c.pageRows(int32(p.Rows)); err != nil {
		return err
	}
	enc := encodingOf[p.Encoding]
	switch {
	case p.Encoding == TruthRuns:
		enc = format.RLE
	case p.Coded:
		enc = format.RLEDictionary
	}
	c.header = format.PageHeader{CompressedPageSize: int32(p.Bytes), UncompressedPageSize: int32(p.Size)}
	if p.Levels > 0 {
		return c.pageV2(&format.DataPageHeaderV2{NumValues: int32(p.Rows), Encoding: enc, DefinitionLevelsByteLength: int32(p.Levels)}, body)
	}
	if c.leaf.maxDef > 0 != (p.Levels == SizedLevels) {
		return fmt.Errorf("levels of %d where %d is the highest", p.Levels, c.leaf.maxDef)
	}
	return c.pageV1(&format.DataPageHeader{NumValues: int32(p.Rows), Encoding: enc, DefinitionLevelEncoding: format.RLE}, body)
}

// readUnit reads a unit as everybody does.
func readUnit(r *Reader, unit int, see func(*column.Batch)) error {
	if err := r.Open(unit); err != nil {
		return err
	}
	var b column.Batch
	for {
		ok, err := r.Next(&b)
		if !ok || err != nil {
			return err
		}
		see(&b)
	}
}

// checkEncoded reads a unit in both ways and compares values and errors: with pages of texts as
// they are, with those of long texts as codes, and with all as codes. It reports whether it could
// be handed on encoded as it is.
func checkEncoded(t testing.TB, r *Reader, unit int) bool {
	t.Helper()
	defer r.CodeTexts(nil)
	for _, most := range []int{-1, 15} {
		r.CodeTexts(slices.Repeat([]int{most}, len(r.cols)))
		checkOneEncoded(t, r, unit)
	}
	r.CodeTexts(nil)
	return checkOneEncoded(t, r, unit)
}

// oneNaN is a flat vector of floats of 16 bits with one NaN for all, since the bits of one mean
// nothing; others as they are.
func oneNaN(v *column.Vector) *column.Vector {
	if v.Type.Kind != column.Float16 || v.Dict != nil {
		return v
	}
	out := *v
	out.Float = slices.Clone(v.Float)
	for i, x := range out.Float {
		if math.IsNaN(x) {
			out.Float[i] = math.NaN()
		}
	}
	return &out
}

func checkOneEncoded(t testing.TB, r *Reader, unit int) bool {
	t.Helper()
	chunks, memory, ok := readEncoded(t, r, unit)
	if !ok {
		return false
	}
	chunks = slices.Clone(chunks)
	for i := range chunks {
		chunks[i].Pages = slices.Clone(chunks[i].Pages)
	}
	got, want := newDigest(), newDigest()
	var gotErr error
	for i, c := range chunks {
		if gotErr = decodeEncoded(t, r, unit, i, c, memory, func(v *column.Vector) { got.add(i, oneNaN(v)) }); gotErr != nil {
			break
		}
	}
	wantErr := readUnit(r, unit, func(b *column.Batch) {
		for i := range b.Cols {
			want.add(i, oneNaN(&b.Cols[i]))
		}
	})
	if (gotErr == nil) != (wantErr == nil) {
		t.Errorf("unit %d: encoded %v, else %v", unit, gotErr, wantErr)
	}
	if gotErr == nil && got.sum() != want.sum() {
		t.Errorf("unit %d: other values", unit)
	}
	return true
}
