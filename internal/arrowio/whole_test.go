package arrowio

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// A file is complete if its footer names all messages, a stream if it ends with its mark.
func TestComplete(t *testing.T) {
	t.Parallel()
	for name, b := range forms(t, records(3, 100)) {
		f, err := Open(bytes.NewReader(b), int64(len(b)), nil)
		if err != nil || f.Complete() != nil {
			t.Fatal(name, err, f.Complete())
		}
		if strings.HasSuffix(name, "file") {
			both := bytes.Repeat(b, 2)
			if _, err := Open(bytes.NewReader(both), int64(len(both)), nil); !errors.Is(err, errTwoFiles) {
				t.Errorf("%s, twice: %v", name, err)
			}
		}
		all := len(f.records)
		f.records = f.records[:all-1]
		if strings.HasSuffix(name, "file") && f.checkBlocks(bytes.NewReader(b), int64(len(b))) == nil {
			t.Errorf("%s: a record that the footer does not name is not missed", name)
		}
		f.Close()
		if strings.HasSuffix(name, "file") {
			continue
		}
		cut := b[:len(b)-8]
		f, err = Open(bytes.NewReader(cut), int64(len(cut)), nil)
		if err != nil || !errors.Is(f.Complete(), ErrCut) || len(f.records) != all {
			t.Fatal(name, err, f.Complete())
		}
		f.Close()
		f, err = Open(bytes.NewReader(append(b, 0)), int64(len(b)+1), nil)
		if err != nil || !errors.Is(f.Complete(), errDamaged) {
			t.Fatal(name, err, f.Complete())
		}
		f.Close()
	}
}

// What comes out of a whole stream is what went in; of one that is cut at any byte, or goes on
// behind its end, an error.
func TestWhole(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	for range 3 {
		r := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		r.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
		r.Field(1).(*array.StringBuilder).AppendValues([]string{"a", "", "bc"}, nil)
		if err := w.Write(r.NewRecord()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	messages := b.Bytes()[f.start:]
	whole := NewWhole(bytes.NewReader(messages), schema)
	if got, err := io.ReadAll(io.LimitReader(whole, int64(len(messages)))); err != nil || whole.Err() != nil || len(got) == 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for n := range messages {
		whole := NewWhole(bytes.NewReader(messages[:n]), schema)
		_, err := io.ReadAll(whole)
		if err == nil || !errors.Is(err, ErrCut) && !errors.Is(err, errDamaged) || !errors.Is(whole.Err(), err) {
			t.Fatalf("cut after %d bytes: %v, %v", n, err, whole.Err())
		}
	}
	for bit := range 8 * len(messages) { // what says that it is longer than its message never passes
		bad := bytes.Clone(messages)
		bad[bit/8] ^= 1 << (bit % 8)
		if got, err := io.ReadAll(NewWhole(bytes.NewReader(bad), schema)); err == nil && !bytes.Equal(got, bad) {
			t.Errorf("bit %d: %d of %d bytes", bit, len(got), len(bad))
		}
	}
	if _, err := io.ReadAll(NewWhole(bytes.NewReader(append(messages, 1)), schema)); !errors.Is(err, errDamaged) {
		t.Error(err)
	}
}
