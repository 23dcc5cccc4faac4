package plan

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/key"
)

// sampledRow is a row of a file that samples are taken of.
type sampledRow struct {
	Each  int64  `parquet:"each,plain"`  // another one in each row
	Five  int64  `parquet:"five,plain"`  // one of five
	Order int64  `parquet:"order,plain"` // four rows that follow each other have it
	User  int64  `parquet:"user,plain"`  // eight rows that follow each other have one of 5,000
	Text  string `parquet:"text,plain"`  // one of 2,000
}

// About how many groups there are is told by the first rows of some row groups, also where rows of
// a group come together.
func TestSample(t *testing.T) {
	t.Parallel()
	const groups, rows = 32, 4_000 // row groups, and rows of each
	var b bytes.Buffer
	w := parquet.NewGenericWriter[sampledRow](&b)
	mix := func(n int64) int64 { return int64(key.Mum(uint64(n)+0x9e3779b97f4a7c15, 0xe7037ed1a0b428db) >> 1) }
	for g := range int64(groups) {
		batch := make([]sampledRow, rows)
		for i := range batch {
			n := g*rows + int64(i)
			batch[i] = sampledRow{n, n % 5, n / 4, mix(n/8) % 5_000, fmt.Sprint("text of some length ", mix(n)%2_000)}
		}
		if _, err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const all = groups * rows
	file := input.Readers(input.File{Name: "sampled", Reader: bytes.NewReader(b.Bytes()), Size: int64(b.Len())})
	for by, want := range map[string][2]float64{
		"each":                     {all, all},
		"each // 2":                {all / 2, all},
		"five":                     {5, 5.1},
		"order":                    {all / 4, all / 4},
		"user":                     {4_000, 6_000},
		"text":                     {1_900, 2_100},
		"five, text":               {8_000, 12_000},
		"substr(text, 1, 4), five": {5, 5.1},
		"each % 7":                 {7, 7.1},
	} {
		p := planning(t, file, grouped(by), Options{})
		p.Options.Tuning.Sampling = Sampling{From: 1, Units: 8, Rows: 1_000}
		if got := p.sample(p.Query.Keys); !got.ok || got.groups < want[0] || got.groups > want[1] || got.keyed != got.groups || got.together != (by == "order" || by == "each // 2" || by == "user") {
			t.Errorf("by %s: %+v, want %v to %v groups", by, got, want[0], want[1])
		}
	}
	p := planning(t, file, grouped("each * 4611686018427387904"), Options{})
	p.Options.Tuning.Sampling = Sampling{From: 1, Units: 8, Rows: 1_000}
	if p.sample(p.Query.Keys).ok {
		t.Error("a key that cannot be computed has a sample")
	}
}
