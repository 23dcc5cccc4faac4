package sink

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/klauspost/compress/zstd"
)

// Compressed text is the text: of all formats, and of large rows, which come in pieces. A failure
// below the compressor is a failure of the document.
func TestCompressedText(t *testing.T) {
	t.Parallel()
	open := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	}
	for _, f := range Formats {
		for compression, open := range open {
			if !f.IsText() {
				continue
			}
			for name, cols := range map[string][]testColumn{"small": everyType(), "large": largeColumns()} {
				if name == "large" && f != NDJSON { // each takes half a second
					continue
				}
				want := render(t, f, cols, 5, Options{})
				packed := render(t, f, cols, 5, Options{Compression: compression})
				r, err := open(bytes.NewReader(packed))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %s, %s rows: the text differs, error %v", f, compression, name, err)
				}
			}
			rec := recordOf(t, memory.DefaultAllocator, everyType())
			w, err := NewWriter(f, &failingWriter{3}, rec.Schema(), Options{Compression: compression})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Write(rec), w.Close()); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s, %s: error %v of a pipe that is closed", f, compression, err)
			}
			rec.Release()
		}
	}
	if _, err := NewWriter(CSV, io.Discard, recordOf(t, memory.DefaultAllocator, everyType()).Schema(), Options{Compression: "snappy"}); err == nil {
		t.Error("CSV was compressed with snappy")
	}
}

// A name says a format and a compression.
func TestCompressionForPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		format      Format
		compression string
	}{
		"a.csv.gz": {CSV, "gzip"}, "a.NDJSON.ZST": {NDJSON, "zstd"}, "a.csv": {CSV, ""}, "a.gz": {"", "gzip"},
		"a.parquet.gz": {"", "gzip"}, "a.csv.gz.gz": {"", "gzip"}, "a.arrow.zst": {"", "zstd"}, "a.csv.bz2": {"", ""},
	} {
		format, ok := FormatForPath(path)
		compression, _ := CompressionForPath(path)
		if ok != (want.format != "") || ok && format != want.format || compression != want.compression {
			t.Errorf("%s: %q, %q, %t", path, format, compression, ok)
		}
	}
}
