package parquetio

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// What a decoder keeps is drawn, and not much more than that. Brotli's window is made anew as it
// grows; what the others allocate they keep.
func TestCodecState(t *testing.T) {
	plain := make([]byte, 8<<20) // brotli's window is filled
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range plain {
		plain[i] = byte(rng.IntN(32))
	}
	for id, writer := range map[format.CompressionCodec]func(io.Writer) (io.WriteCloser, error){
		format.Gzip: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		format.Zstd: func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
		},
		format.Brotli: func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, 1), nil },
	} {
		plain := plain
		if id != format.Brotli {
			plain = plain[:1<<20] // more makes no difference
		}
		var packed bytes.Buffer
		w, err := writer(&packed)
		if err == nil {
			_, err = w.Write(plain)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		dst, c := make([]byte, len(plain)), codec{mem: &account{}}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := c.decompress(id, dst, packed.Bytes()); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		kept := int64(after.TotalAlloc - before.TotalAlloc)
		if id == format.Brotli {
			runtime.GC()
			runtime.ReadMemStats(&after)
			kept = int64(after.HeapAlloc) - int64(before.HeapAlloc)
		}
		if kept > c.drawn || kept < c.drawn/2 {
			t.Errorf("%v: the decoder keeps %d bytes, and has drawn %d", id, kept, c.drawn)
		}
		runtime.KeepAlive(&packed)
		runtime.KeepAlive(dst)
		c.close()
	}
}
