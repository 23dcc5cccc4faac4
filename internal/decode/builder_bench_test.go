package decode

import (
	"os"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// BenchmarkBuilder packs columns of the db-benchmark file that GAGG_BENCH_FILE
// names, on one core, batch after batch in the same memory. GB are those of
// the chunks.
func BenchmarkBuilder(b *testing.B) {
	name := os.Getenv("GAGG_BENCH_FILE")
	if name == "" {
		b.Skip("GAGG_BENCH_FILE does not name a file")
	}
	for _, query := range []struct {
		name, columns string
		keys          int
		intern        bool
	}{
		{"q1", "id1 v1", 1, true}, {"q2", "id1 id2 v1", 2, true}, {"q3", "id3 v1 v3", 1, false}, {"q5", "id6 v1 v2 v3", 1, false},
	} {
		b.Run("query="+query.name, func(b *testing.B) {
			k := openPacked(b, parquetio.Input{Path: name}, strings.Fields(query.columns), query.keys, query.intern)
			limits := Limits{Bytes: 8 << 20, Rows: 1 << 20, Work: 64 << 20}
			memory := hostmem.Make[byte](limits.Bytes)
			defer hostmem.Free(memory)
			p := NewBuilder(k.plan, limits, k.reader, k.keys)
			batches := 0
			for b.Loop() {
				p.Begin(memory)
				for u := 0; u < len(k.scan.Units()); u++ {
					_, added, err := p.Add(u)
					if err != nil || added == encoded.AddedNone {
						b.Fatal(added, err)
					}
					if added == encoded.AddedFull {
						p.End()
						p.Begin(memory)
						batches++
						u--
					}
				}
				p.End()
				batches++
			}
			bytes := int64(0)
			for _, u := range k.scan.Units() {
				bytes += u.Bytes
			}
			b.ReportMetric(float64(bytes)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
			b.ReportMetric(float64(batches)/float64(b.N), "batches")
		})
	}
}
