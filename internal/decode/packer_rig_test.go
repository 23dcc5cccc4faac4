package decode

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// sample is a row of the test's files: columns by name of how they are
// stored.
type sample struct {
	Coded  string   `parquet:"coded,dict"`
	Text   string   `parquet:"text,plain"`
	Small  int32    `parquet:"small,dict"`
	Big    int64    `parquet:"big"`
	Byte   uint32   `parquet:"byte"`
	Double *float64 `parquet:"double,optional"`
	Float  float32  `parquet:"float,optional,dict"`
}

// samples makes rows without NULLs and long strings.
func samples(n int) []sample {
	floats := []float64{0, math.Copysign(0, -1), 1.5, math.NaN(), math.Inf(-1), 5e-324, -2}
	out := make([]sample, n)
	for i := range out {
		f := floats[i%len(floats)]
		out[i] = sample{
			Coded: fmt.Sprint("id", i%13), Text: "abcdefghijklmno"[:i%16], Small: int32(i%7) - 3, Big: int64(i) * (1 << 40),
			Byte: uint32(math.MaxUint32 - i%3), Double: &f, Float: float32(f) + 1,
		}
	}
	return out
}

// packed is a scan of columns of a file, with the plan that makes keys of the
// first of them and states of the others.
type packed struct {
	scan   *parquetio.Scan
	reader *parquetio.Reader
	keys   *key.Encoder
	plan   *Plan
	nkeys  int
}

// newPacked writes rows to a file, groupRows a row group, and plans for
// columns of it, of which the first nkeys are keys.
func newPacked(t testing.TB, rows []sample, groupRows int, names []string, nkeys int, intern bool, opts ...parquet.WriterOption) *packed {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[sample](&buf, append(opts, parquet.PageBufferSize(200))...)
	for at := 0; at < len(rows); at += groupRows {
		if _, err := w.Write(rows[at:min(at+groupRows, len(rows))]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in := parquetio.Input{Name: "f", Reader: bytes.NewReader(buf.Bytes()), Size: int64(buf.Len())}
	return openPacked(t, in, names, nkeys, intern)
}

// openPacked is newPacked for a file that is there.
func openPacked(t testing.TB, in parquetio.Input, names []string, nkeys int, intern bool) *packed {
	t.Helper()
	d, err := parquetio.Open(context.Background(), []parquetio.Input{in}, parquetio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	cols := make([]int, len(names))
	for i, n := range names {
		if cols[i], err = d.Find(n); err != nil {
			t.Fatal(err)
		}
	}
	k := scanPacked(t, d, cols, nkeys, intern)
	if k == nil {
		t.Fatal("not for this road")
	}
	return k
}

// scanPacked plans for columns of a dataset; nil if that cannot be.
func scanPacked(t testing.TB, d *parquetio.Dataset, cols []int, nkeys int, intern bool) *packed {
	t.Helper()
	scan, err := d.Scan(parquetio.ScanOptions{Columns: cols})
	if err != nil {
		return nil
	}
	keys := make([]key.Column, nkeys)
	for i := range cols {
		if _, ok := scan.Encoded(i); !ok {
			return nil
		}
		if i < nkeys {
			keys[i] = key.Column{Type: d.Schema().Fields[cols[i]].Type, Intern: intern}
		}
	}
	layout := key.NewLayout(keys)
	k := &packed{scan: scan, nkeys: nkeys, reader: scan.NewReader(), keys: key.NewEncoder(layout, key.NewInterner(nil))}
	t.Cleanup(k.reader.Close)
	k.makePlan(t, layout, len(cols))
	return k
}

var physicals = map[parquetio.Physical]uint8{
	parquetio.Int32: kernels.ParquetInt32, parquetio.Int64: kernels.ParquetInt64, parquetio.Float: kernels.ParquetFloat,
	parquetio.Double: kernels.ParquetDouble, parquetio.ByteArray: kernels.ParquetBytes, parquetio.Boolean: kernels.ParquetBool,
	parquetio.FixedDecimal: kernels.ParquetDecimal, parquetio.Int96: kernels.ParquetInt96, parquetio.FixedBytes: kernels.ParquetBinary,
}

// makePlan makes the plan: the states are the value of each other column, and
// a constant.
func (k *packed) makePlan(t testing.TB, layout *key.Layout, columns int) {
	t.Helper()
	k.plan = &Plan{HashWords: 1, KeyWords: layout.Words}
	var words []int
	for i := range columns {
		e, _ := k.scan.Encoded(i)
		o := Output{Source: i, Field: -1, ParquetOutput: kernels.ParquetOutput{
			Physical: physicals[e.Physical], Lo: e.Lo, Hi: e.Hi, Factor: e.Factor, Width: e.Width, Form: kernels.ParquetValue, Words: 1,
		}}
		if e.Mask32 {
			o.Mask32 = 1
		}
		if i < k.nkeys {
			f := layout.Fields()[i]
			o.Field, o.Form, o.Shift, o.Bits, o.Words = i, kernels.ParquetBits, uint8(f.Shift), uint8(f.Bits), uint8(f.Words)
			setForm(&o, f)
			words = append(words, f.Word)
		}
		k.plan.Outputs = append(k.plan.Outputs, o)
	}
	if err := k.plan.Place(words); err != nil {
		t.Fatal(err)
	}
	for _, o := range k.plan.Outputs {
		s := kernels.ParquetState{Array: o.Array, Word: kernels.ParquetCopy}
		switch {
		case o.Field >= 0:
			continue
		case o.Physical == kernels.ParquetFloat:
			s.Word = kernels.ParquetSum
		}
		k.plan.States = append(k.plan.States, s)
	}
	k.plan.States = append(k.plan.States, kernels.ParquetState{Constant: 77, Word: kernels.ParquetConstant})
}

// rows is what the rows of units are, by the readers and encoders of the CPU.
func (k *packed) rows(units []int) (rows []uint64, err error) {
	var b column.Batch
	for _, u := range units {
		if err := k.reader.Open(u); err != nil {
			return nil, err
		}
		for {
			ok, err := k.reader.Next(&b)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			k.keys.Encode(b.Cols[:k.nkeys], b.Rows)
			for r := range b.Rows {
				rows = append(rows, k.keys.Hash[r])
				for _, w := range k.keys.Words {
					rows = append(rows, w[r])
				}
				for c := k.nkeys; c < len(b.Cols); c++ {
					rows = append(rows, valueWord(&b.Cols[c], r))
				}
				rows = append(rows, 77)
			}
		}
	}
	return rows, nil
}

// setForm sets the form of a key field of which devices make the words.
func setForm(o *Output, f key.Field) {
	switch raw := f.Form == key.FormRaw && o.Physical == kernels.ParquetBinary; {
	case raw || f.Form == key.FormInline:
		o.Form = kernels.ParquetInline
	case f.Form == key.FormWide:
		o.Bits = 64
	}
}

func valueWord(v *column.Vector, r int) uint64 {
	x := v.At(r)
	switch {
	case x.Type.Kind == column.Float32, x.Type.Kind == column.Float16: // a sum: see makePlan
		return math.Float64bits(x.Float + 0)
	case x.Type.IsFloat():
		return math.Float64bits(x.Float)
	case x.Type.Rep() == column.RepWide:
		return x.Wide.LowBits()
	}
	return uint64(x.Int)
}
