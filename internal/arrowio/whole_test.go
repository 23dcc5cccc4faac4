package arrowio

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// A file is complete if its footer names all messages, a stream if it ends with its mark.
func TestComplete(t *testing.T) {
	for name, b := range forms(t, records(3, 100)) {
		f, err := Open(bytes.NewReader(b), int64(len(b)), nil)
		if err != nil || f.Complete() != nil {
			t.Fatal(name, err, f.Complete())
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
	var b bytes.Buffer
	recs := records(3, 10)
	w := ipc.NewWriter(&b, ipc.WithSchema(recs[0].Schema()))
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
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
	whole := NewWhole(bytes.NewReader(messages))
	if got, err := io.ReadAll(io.LimitReader(whole, int64(len(messages)))); err != nil || whole.Err() != nil || len(got) == 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for n := range messages {
		whole := NewWhole(bytes.NewReader(messages[:n]))
		_, err := io.ReadAll(whole)
		if err == nil || !errors.Is(err, ErrCut) && !errors.Is(err, errDamaged) || !errors.Is(whole.Err(), err) {
			t.Fatalf("cut after %d bytes: %v, %v", n, err, whole.Err())
		}
	}
	if _, err := io.ReadAll(NewWhole(bytes.NewReader(append(messages, 1)))); !errors.Is(err, errDamaged) {
		t.Error(err)
	}
}
