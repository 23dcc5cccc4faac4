package arrowio

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/budget"
)

// records makes records of columns of many kinds, with NULLs, and of some that are passed over.
func records(n, rows int) []arrow.Record {
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
		arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "big", Type: arrow.BinaryTypes.LargeBinary, Nullable: true},
		{Name: "bit", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "pair", Type: pair, Nullable: true},
		{Name: "null", Type: arrow.Null, Nullable: true},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 20, Scale: 2}, Nullable: true},
		{Name: "dict", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "t", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
	}, nil)
	var all []arrow.Record
	for r := range n {
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		for i := range rows {
			for c := range schema.NumFields() {
				if (i+c)%7 == 3 {
					b.Field(c).AppendNull()
					continue
				}
				text := fmt.Sprint(r, i*c%50)
				if c == 8 {
					text = fmt.Sprint(i % 5) // the same dictionary in all: files have no other
				}
				switch f := b.Field(c).(type) {
				case *array.StringBuilder:
					f.Append(text)
				case *array.BinaryBuilder:
					f.AppendString(text)
				case *array.BinaryDictionaryBuilder:
					_ = f.AppendString(text)
				case *array.ListBuilder:
					f.Append(true)
					f.ValueBuilder().(*array.StringBuilder).Append(text)
				case *array.StructBuilder:
					f.Append(true)
					f.FieldBuilder(0).(*array.StringBuilder).Append(text)
					f.FieldBuilder(1).AppendNull()
					f.FieldBuilder(2).(*array.Float64Builder).Append(float64(i) / 8)
				case *array.NullBuilder:
					f.AppendNull()
				case *array.BooleanBuilder:
					f.Append(i%2 == 0)
				case *array.Int32Builder:
					f.Append(int32(i))
				case *array.Decimal128Builder:
					f.Append(decimal128.FromI64(int64(i)))
				case *array.TimestampBuilder:
					f.Append(arrow.Timestamp(i))
				}
			}
		}
		all = append(all, b.NewRecord())
		b.Release()
	}
	return all
}

// forms writes records in every form.
func forms(t testing.TB, recs []arrow.Record) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for name, o := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		o = append(o, ipc.WithSchema(recs[0].Schema()))
		var stream, file bytes.Buffer
		s := ipc.NewWriter(&stream, o...)
		f, err := ipc.NewFileWriter(&seekable{Buffer: &file}, o...)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range recs {
			if err := errors.Join(s.Write(rec), f.Write(rec)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(s.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		all[name+" stream"], all[name+" file"] = stream.Bytes(), file.Bytes()
	}
	return all
}

// wanted is all leaves that are no lists.
var wanted = [][]int{{0}, {2}, {3}, {4}, {5, 0}, {5, 2}, {6}, {7}, {8}, {9}}

// readAll reads all records, in the text form of the library.
func readAll(b []byte, from budget.Lender, leaves [][]int) ([]string, error) {
	r := bytes.NewReader(b)
	f, err := Open(r, int64(len(b)), from)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if leaves == nil {
		leaves = leavesOf(nil, f.fields)
	}
	on := f.Project(leaves)
	reader := f.NewReader(on)
	defer reader.Close()
	var all []string
	for i := range f.Records() {
		rec, err := reader.Read(r, i)
		if err != nil {
			return nil, err
		}
		all = append(all, text(rec))
		rec.Release()
	}
	return all, nil
}

// leavesOf is the leaves of columns, whatever their types.
func leavesOf(above []int, fields []field) (all [][]int) {
	for i, c := range fields {
		path := append(above[:len(above):len(above)], i)
		if _, ok := c.Type.(*arrow.StructType); ok {
			all = append(all, leavesOf(path, c.children)...)
		} else {
			all = append(all, path)
		}
	}
	return all
}

func text(rec arrow.Record) string {
	var b strings.Builder
	for i, c := range rec.Columns() {
		fmt.Fprintf(&b, "%s: %v\n", rec.ColumnName(i), c)
	}
	return b.String()
}

// What is read is what was written, in every form, of all columns and of each one alone; all memory
// is given back.
func TestRead(t *testing.T) {
	t.Parallel()
	recs := records(3, 100)
	for name, b := range forms(t, recs) {
		memory := budget.New(budget.Memory, 0)
		got, err := readAll(b, memory, wanted)
		if err != nil || len(got) != len(recs) {
			t.Fatalf("%s: %d records, %v", name, len(got), err)
		}
		for i, rec := range recs {
			for c := range wanted {
				one, err := readAll(b, nil, wanted[c:c+1])
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				arr := rec.Column(wanted[c][0])
				if len(wanted[c]) == 1 {
					if want := fmt.Sprintf("%s: %v\n", rec.ColumnName(wanted[c][0]), arr); one[i] != want || !strings.Contains(got[i], want) {
						t.Errorf("%s, column %v: %.200s, want %.200s", name, wanted[c], one[i], want)
					}
					continue
				}
				pair := arr.(*array.Struct)
				for row := range arr.Len() {
					if pair.IsValid(row) && !strings.Contains(one[i], pair.Field(wanted[c][1]).ValueStr(row)) {
						t.Errorf("%s, column %v lacks %s", name, wanted[c], pair.Field(wanted[c][1]).ValueStr(row))
					}
				}
			}
		}
		if left := memory.Reserved(); left != 0 || memory.Peak() < 1000 {
			t.Errorf("%s: %d bytes not given back of %d", name, left, memory.Peak())
		}
		small := budget.New(budget.Memory, 1000)
		if _, err := readAll(b, small, wanted); budget.Refusal(err, budget.Memory) == nil || small.Reserved() != 0 {
			t.Errorf("%s: %v, %d bytes not given back", name, err, small.Reserved())
		}
	}
}

// Dictionaries of streams grow and are replaced between records.
func TestDictionariesOfStreams(t *testing.T) {
	t.Parallel()
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: typ}}, nil)
	for _, deltas := range []bool{false, true} {
		var stream bytes.Buffer
		w := ipc.NewWriter(&stream, ipc.WithSchema(schema), ipc.WithDictionaryDeltas(deltas))
		var want []string
		for n := 1; n <= 4; n++ {
			b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
			for i := range n * 2 {
				if err := b.Field(0).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint("value ", i)); err != nil {
					t.Fatal(err)
				}
			}
			rec := b.NewRecord()
			if err := w.Write(rec); err != nil {
				t.Fatal(err)
			}
			want = append(want, text(rec))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(stream.Bytes(), nil, [][]int{{0}})
		if err != nil || strings.Join(got, "") != strings.Join(want, "") {
			t.Errorf("deltas %t: %v, want %v; %v", deltas, got, want, err)
		}
	}
}

// F30: what is damaged ends in an error, or in records whose lengths agree, with no more memory
// than the budget gives.
func TestDamaged(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	bad := 0
	for name, b := range forms(t, records(2, 20)) {
		for range 1500 {
			if damage(t, name, b, rng.Uint64()) != nil {
				bad++
			}
		}
		if _, err := readAll(b[:len(b)-20], nil, wanted); err == nil && strings.HasSuffix(name, "file") {
			t.Errorf("%s: cut, and read", name)
		}
	}
	if bad < 1000 {
		t.Errorf("only %d damages were seen", bad)
	}
}

func FuzzDamaged(f *testing.F) {
	all := forms(f, records(2, 20))
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for name, b := range all {
			_ = damage(t, name, b, seed)
		}
	})
}

// damage changes up to 4 bytes, half of them in what is no body, and reads what came of it.
func damage(t *testing.T, name string, b []byte, seed uint64) error {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	b = bytes.Clone(b)
	for range 1 + rng.IntN(4) {
		at := rng.IntN(len(b))
		if rng.IntN(2) == 0 {
			at = len(b) - 1 - rng.IntN(min(len(b), 1500))
		}
		b[at] = []byte{0, 1, 0x7F, 0x80, 0xFF, byte(rng.Uint32())}[rng.IntN(6)]
	}
	memory := budget.New(budget.Memory, 64<<20)
	_, err := readAll(b, memory, nil) // lists are refused when they are met
	if left := memory.Reserved(); left != 0 {
		t.Errorf("%s, seed %d: %d bytes not given back", name, seed, left)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("%s, seed %d: %q has lines", name, seed, err)
	}
	return err
}
