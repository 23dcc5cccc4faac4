package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

var roomy = Limits{Bytes: 1 << 20, Rows: 1 << 20, Work: 4 << 20}

// Rows of batches are those that the CPU makes, for all types and forms, in
// both kinds of page, compressed and not, in one batch and in many.
func TestBuilderRows(t *testing.T) {
	for _, version := range []int{1, 2} {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd} {
			for _, test := range []struct {
				nkeys   int
				intern  bool
				columns []string
			}{
				{3, false, []string{"coded", "text", "small", "big", "byte", "double", "float"}},
				{3, false, []string{"double", "float", "byte", "small", "big"}},
				{2, false, []string{"big", "text"}},
				{3, true, []string{"small", "coded", "double", "float", "byte"}},
			} {
				k := newPacked(t, samples(1000), 150, test.columns, test.nkeys, test.intern, parquet.Compression(codec), parquet.DataPageVersion(version))
				if n, none := k.pack(t, roomy); n != 1 || len(none) != 0 {
					t.Errorf("%+v: %d batches, without %v", test, n, none)
				}
				if n, none := k.pack(t, Limits{Bytes: 1 << 20, Rows: 300, Work: 4 << 20}); n != 4 || len(none) != 0 {
					t.Errorf("%+v, of few rows: %d batches, without %v", test, n, none)
				}
			}
		}
	}
}

// Each limit ends a batch, exactly: before anything is read, at the entries
// of a dictionary, or at the descriptors.
func TestBuilderLimits(t *testing.T) {
	k := newPacked(t, samples(600), 200, []string{"coded", "small", "big", "float"}, 2, false, parquet.Compression(&parquet.Snappy))
	memory := make([]byte, roomy.Bytes)
	packed := func(l Limits) *Batch {
		p := NewBuilder(k.plan, l, k.reader, k.keys)
		p.Begin(memory)
		for u := range 3 {
			_, added, err := p.Add(u)
			if err != nil {
				t.Fatal(err)
			}
			if added != encoded.AddedUnit {
				if want := map[bool]encoded.Added{true: encoded.AddedNone, false: encoded.AddedFull}[u == 0]; added != want {
					t.Errorf("%+v: %d of unit %d", l, added, u)
				}
				break
			}
		}
		return p.End()
	}
	for units := 1; units <= 3; units++ {
		l := roomy
		l.Rows = 200 * units
		full := packed(l)
		for _, test := range []struct {
			limits Limits
			units  int
		}{
			{Limits{full.Size(), l.Rows, roomy.Work}, units},
			{Limits{full.Size() - 1, roomy.Rows, roomy.Work}, units - 1},
			{Limits{roomy.Bytes, l.Rows - 1, roomy.Work}, units - 1},
			{Limits{roomy.Bytes, roomy.Rows, full.WorkBytes() - 1}, units - 1},
		} {
			if got := packed(test.limits); len(got.Units()) != test.units {
				t.Errorf("%+v: units %v, want %d", test.limits, got.Units(), test.units)
			}
		}
		for bytes := full.Size(); bytes > 0; bytes -= 97 {
			k.pack(t, Limits{Bytes: bytes, Rows: roomy.Rows, Work: roomy.Work})
		}
	}
}

// Entries of wide decimals are written as int64, if all are such.
func TestPutNarrow(t *testing.T) {
	to := make([]byte, 24)
	narrow := []decimal256.Num{decimal256.FromI64(-3), decimal256.FromI64(math.MaxInt64), decimal256.FromI64(math.MinInt64)}
	if added := putNarrow(to, narrow); added != encoded.AddedUnit {
		t.Error(added)
	}
	for i, want := range []int64{-3, math.MaxInt64, math.MinInt64} {
		if got := int64(binary.LittleEndian.Uint64(to[8*i:])); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	for _, wide := range []decimal256.Num{decimal256.New(0, 0, 0, 1<<63), decimal256.New(0, 0, 1, 0), decimal256.New(1<<63, 0, 0, 0)} {
		if added := putNarrow(to, []decimal256.Num{narrow[0], wide}); added != encoded.AddedNone {
			t.Errorf("%v: %v", wide, added)
		}
	}
}

// Limits by what footers tell of a unit have room for it.
func TestUnitsWork(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd} {
		k := newPacked(t, samples(600), 200, []string{"coded", "text", "small", "big", "float"}, 2, false, parquet.Compression(codec))
		for u := range k.scan.Units() {
			e, ok := k.scan.EncodedUnit(u)
			if !ok {
				t.Fatal("not for this road")
			}
			p := NewBuilder(k.plan, Limits{Bytes: roomy.Bytes, Rows: 200, Work: k.plan.UnitsWork(e.Rows, e.Bytes, e.Expanded)}, k.reader, k.keys)
			p.Begin(make([]byte, roomy.Bytes))
			if _, added, err := p.Add(u); added != encoded.AddedUnit || err != nil {
				t.Errorf("%v, unit %d: %v, %v", codec, u, added, err)
			}
		}
	}
}

// broken is a reader that fails.
type broken struct{ Reader }

var errBroken = errors.New("broken")

func (broken) ReadEncoded(int, []byte) ([]parquetio.EncodedChunk, bool, error) {
	return nil, false, errBroken
}

// What is for no batch leaves the batch as it was.
func TestBuilderNone(t *testing.T) {
	long := samples(300)
	long[250].Coded = "more than fifteen bytes"
	for _, test := range []struct {
		name   string
		rows   []sample
		column string
		intern bool
		none   []int
	}{
		{"good", samples(300), "coded", false, nil},
		{"a long string in a dictionary", long, "coded", false, []int{2}},
		{"a long string that is interned", long, "coded", true, nil},
		{"strings to be interned that are not coded", samples(300), "text", true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := newPacked(t, test.rows, 100, []string{test.column, "big"}, 1, test.intern)
			if _, none := k.pack(t, roomy); !slices.Equal(none, test.none) {
				t.Errorf("%v, want %v", none, test.none)
			}
		})
	}
	k := newPacked(t, samples(300), 100, []string{"coded", "big"}, 1, false)
	p := NewBuilder(k.plan, roomy, k.reader, k.keys)
	memory := make([]byte, roomy.Bytes)
	p.Begin(memory)
	if empty := p.End(); empty.Rows() != 0 || len(empty.Units()) != 0 {
		t.Errorf("%+v", empty)
	}
	p.Begin(memory)
	if _, added, err := p.Add(1); added != encoded.AddedUnit || err != nil {
		t.Fatal(added, err)
	}
	p.reader = broken{k.reader}
	if _, added, err := p.Add(0); added != encoded.AddedNone || !errors.Is(err, errBroken) {
		t.Error(added, err)
	}
	p.reader = k.reader
	if _, added, err := p.Add(2); added != encoded.AddedUnit || err != nil {
		t.Fatal(added, err)
	}
	k.check(t, p.End(), append(memory, bytes.Repeat([]byte{0xAB}, 64)...), roomy, []int{1, 2})
}

// A batch keeps nothing of the one before (FRESH).
func TestBuilderFresh(t *testing.T) {
	k := newPacked(t, samples(300), 100, []string{"coded", "big"}, 1, false)
	p := NewBuilder(k.plan, roomy, k.reader, k.keys)
	var batches []*Batch
	var memories [][]byte
	for u := range 3 {
		memory := bytes.Repeat([]byte{0xAB}, roomy.Bytes+64)
		p.Begin(memory)
		if _, added, err := p.Add(u); added != encoded.AddedUnit || err != nil {
			t.Fatal(added, err)
		}
		batches, memories = append(batches, p.End()), append(memories, memory)
	}
	for u := range batches {
		k.check(t, batches[u], memories[u], roomy, []int{u})
	}
}
