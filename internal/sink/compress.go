package sink

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// This file is text formats through a compressor: x.csv.gz, x.ndjson.zst.

// zstdWindow is how far back zstd looks. Text repeats within it. An encoder takes some megabytes;
// with the library's default of 8 MiB it takes 40.
const zstdWindow = 1 << 20

// TextCompressions are the compressions of text formats.
var TextCompressions = []string{"gzip", "zstd", "none"}

var compressionsByExtension = map[string]string{".gz": "gzip", ".zst": "zstd"}

// CompressionForPath returns the compression that the last extension of path stands for, and path
// without it; "" and path if it stands for none.
func CompressionForPath(path string) (compression, rest string) {
	ext := filepath.Ext(path)
	compression, ok := compressionsByExtension[strings.ToLower(ext)]
	if !ok {
		return "", path
	}
	return compression, strings.TrimSuffix(path, ext)
}

// IsText reports whether documents of the format are text, which can go through a compressor.
func (f Format) IsText() bool { return f != Parquet && f != Arrow && f != None }

// compressor returns a writer that compresses text on its way to out. Closing it ends the
// compressed stream, and leaves out open.
func compressor(out io.Writer, compression string) (io.WriteCloser, error) {
	switch strings.ToLower(compression) {
	case "", "none":
		return uncompressedText{out}, nil
	case "gzip":
		return gzip.NewWriter(out), nil
	case "zstd":
		return zstd.NewWriter(out, zstd.WithWindowSize(zstdWindow), zstd.WithEncoderConcurrency(2))
	}
	return nil, fmt.Errorf("unknown compression %q of text; use one of %s", compression, strings.Join(TextCompressions, ", "))
}

// uncompressedText is text that is not compressed.
type uncompressedText struct{ io.Writer }

func (uncompressedText) Close() error { return nil }
