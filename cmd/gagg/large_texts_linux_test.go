package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/sink"
)

// F12: texts that are a large part of the memory, as keys, values and both, the same ones and
// others, of pages that are compressed and that are not: as TestMemoryMatrix wants it.
func TestLargeTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs of whole processes")
	}
	const size = 9 << 20
	binary, same, others := copiedBinary(t), t.TempDir(), filepath.Join(t.TempDir(), "others.parquet")
	for i := range 4 {
		writeTexts(t, filepath.Join(same, fmt.Sprintf("%d.parquet", i)), 1, func(int) string { return randomText(size) })
	}
	writeTexts(t, others, 10, func(i int) string { return strings.Repeat(fmt.Sprintf("%07d ", 7*i%10), size/8) })
	for _, input := range []string{same, others} {
		for _, query := range [][]string{
			{"-k", "t", "-a", "count(*)"},
			{"-a", "max(t), count(*)"},
			{"-k", "t", "-a", "any_value(t), min(t)", "-f", "csv"},
			{"-k", "t", "-a", "min(t)", "--order-by", "t", "-f", "parquet"},
			{"-a", "mode(t), max(t, 2), entropy(t)"},
			{"-k", "length(t) as n", "-a", "list(t), median(t)", "-f", "parquet"},
			{"-k", "length(t) as n", "-a", "argmax(t, t), count(distinct t)", "--where", "t > '0'"},
		} {
			t.Run(fmt.Sprint(filepath.Base(input), query), func(t *testing.T) {
				t.Parallel()
				checkPeaks(t, binary, append([]string{input}, query...))
			})
		}
	}
}

// writeTexts makes a file of one column of texts, and no row has another one beside it in its page.
func writeTexts(t *testing.T, path string, rows int, text func(i int) string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String}}, nil)
	w, err := sink.NewWriter(sink.Parquet, f, schema, sink.Options{})
	for i := 0; i < rows && err == nil; i++ {
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		b.Field(0).(*array.StringBuilder).Append(text(i))
		rec := b.NewRecord()
		err = w.Write(rec)
		rec.Release()
		b.Release()
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// randomText is always the same text, which no codec makes smaller.
func randomText(n int) string {
	rng := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = '!' + byte(rng.Uint32()%90)
	}
	return string(b)
}
