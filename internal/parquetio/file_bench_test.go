package parquetio

import (
	"fmt"
	"os"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// BenchmarkColumn reads each column of the file that GAGG_BENCH_FILE names,
// whole, in steps of 4096 rows, on one core. The file is in memory, so what
// is measured is decompression and decoding.
func BenchmarkColumn(b *testing.B) {
	name := os.Getenv("GAGG_BENCH_FILE")
	if name == "" {
		b.Skip("GAGG_BENCH_FILE does not name a file")
	}
	r, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		b.Fatal(err)
	}
	f, err := openFile(name, r, info.Size(), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	for i, l := range f.leaves {
		b.Run(fmt.Sprintf("column=%s/type=%v", l.name, l.typ), func(b *testing.B) { benchColumn(b, f, i) })
	}
}

func benchColumn(b *testing.B, f *file, leaf int) {
	b.ReportAllocs()
	c, err := newColumnReader(f, leaf, f.leaves[leaf].typ)
	if err != nil {
		b.Fatal(err)
	}
	defer c.close()
	var v column.Vector
	for b.Loop() {
		for g := range f.groups {
			if err := c.open(g); err != nil {
				b.Fatal(err)
			}
			for {
				n, err := c.available()
				if err != nil {
					b.Fatal(err)
				}
				if n == 0 {
					break
				}
				for n > 0 {
					k := min(n, 4096)
					if err := c.read(&v, k); err != nil {
						b.Fatal(err)
					}
					n -= k
				}
			}
		}
	}
	b.ReportMetric(float64(f.rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
