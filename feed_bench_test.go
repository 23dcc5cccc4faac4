//go:build unix

package gagg_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// BenchmarkFeed is what the CPU does for a device that computes: rows, or column chunks as they lie
// in the file. GAGG_BENCH_FILE may name a larger file of db-benchmark.
func BenchmarkFeed(b *testing.B) {
	from := feedSource(b)
	for _, q := range questions {
		for _, rows := range []bool{true, false} {
			name := "question=" + q.name + "/crossing=" + map[bool]string{true: "rows", false: "chunks"}[rows]
			b.Run(name, func(b *testing.B) {
				fed := gagg.Swallow(b)
				query := gagg.Query{From: from, By: []string{q.by}, Aggs: []gagg.Agg{gagg.Expr(q.aggs)}}
				o := gagg.Tuned(gagg.Options{Device: "gpu", NoGPUDecoding: rows}, fed.Change)
				before := processorTime(b)
				for b.Loop() {
					if _, err := gagg.Run(b.Context(), query, o); !errors.Is(err, gagg.ErrSwallowed) {
						b.Skipf("not for a device: %v", err)
					}
				}
				n := float64(fed.Rows.Load())
				if n == 0 {
					b.Skip("not for a device")
				}
				b.ReportMetric(float64(processorTime(b)-before)/n, "core-ns/row")
				if crossed := fed.Batches.Load(); crossed > 0 {
					b.ReportMetric(float64(crossed)/n, "B/row")
				}
			})
		}
	}
}

func feedSource(b *testing.B) gagg.Source {
	b.Helper()
	if file := os.Getenv("GAGG_BENCH_FILE"); file != "" {
		return gagg.Files(strings.Split(file, ",")...)
	}
	var file bytes.Buffer
	if err := (datagen.H2O{Rows: 100_000}).WriteParquet(&file); err != nil {
		b.Fatal(err)
	}
	return gagg.Parquet("h2o", bytes.NewReader(file.Bytes()), int64(file.Len()))
}

// processorTime is what the process has had of all processors.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
