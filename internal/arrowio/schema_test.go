package arrowio

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// nestedSchema is a schema of a column of structs so deep, and of another column.
func nestedSchema(depth int) *arrow.Schema {
	t := arrow.PrimitiveTypes.Int64
	for range depth - 1 {
		t = arrow.StructOf(arrow.Field{Name: "s", Type: t})
	}
	return arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: t}}, nil)
}

// F36: an Arrow schema of any depth ends in an error before the library goes down into it, and
// any other stream is what it was.
func TestArrowDepth(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		depth int
		want  error
	}{{1, nil}, {maxArrowDepth, nil}, {maxArrowDepth + 1, ErrDepth}, {3000, ErrDepth}} {
		schema := nestedSchema(test.depth)
		var stream, file bytes.Buffer
		w, err := ipc.NewFileWriter(&seekable{Buffer: &file}, ipc.WithSchema(schema))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Close(), ipc.NewWriter(&stream, ipc.WithSchema(schema)).Close()); err != nil {
			t.Fatal(err)
		}
		whole := bytes.Clone(stream.Bytes())
		checked, err := CheckedStream(&stream)
		if !errors.Is(err, test.want) {
			t.Errorf("stream, %d levels: %v", test.depth, err)
		}
		if got, err := io.ReadAll(checked); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("%d levels: %d of %d bytes, %v", test.depth, len(got), len(whole), err)
		}
		if _, err := Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil); !errors.Is(err, test.want) {
			t.Errorf("file, %d levels: %v", test.depth, err)
		}
		for at := range min(len(whole), 2000) { // damaged anywhere
			bad := bytes.Clone(whole[8:])
			bad[at%len(bad)] ^= 0xFF
			if err := checkSchema(bad, messageHeader); err != nil && !errors.Is(err, errSchema) && !errors.Is(err, ErrDepth) {
				t.Error(err)
			}
			_ = checkSchema(bad[:at%len(bad)], messageHeader)
		}
	}
	for _, text := range []string{"", "a", "id,name", "\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\x7f", "\x10\x00\x00\x00abc"} {
		if r, err := CheckedStream(bytes.NewReader([]byte(text))); err == nil {
			if got, err := io.ReadAll(r); err != nil || string(got) != text {
				t.Errorf("%q came out as %q, %v", text, got, err)
			}
		}
	}
}

// seekable is a buffer that a file's writer takes: it asks where it is.
type seekable struct{ *bytes.Buffer }

func (s *seekable) Seek(int64, int) (int64, error) { return int64(s.Len()), nil }
