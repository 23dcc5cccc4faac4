package gagg_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/corpus"
)

// corpusQueries is the queries on valid files of a corpus that cmd/gagg
// tests against what they should give, by their names.
func corpusQueries(t *testing.T, dir string) (names []string, queries []gagg.Query, options []gagg.Options) {
	t.Helper()
	for _, c := range corpus.Cases(t, dir, "valid/") {
		if testing.Short() && c.Groups > 100_000 {
			continue
		}
		q := gagg.Query{From: gagg.Files(filepath.Join(dir, c.File)), By: c.By(), Where: c.Where()}
		for _, a := range c.Calls() {
			q.Aggs = append(q.Aggs, gagg.Expr(a))
		}
		names, queries = append(names, c.ID), append(queries, q)
		options = append(options, gagg.Options{UnionByName: c.UnionByName})
	}
	return names, queries, options
}

// Queries on files of many writers have the same answer, or fail in the same
// way, however little memory there is.
func TestCorpusMemory(t *testing.T) { corpus.Each(t, corpusMemory) }

func corpusMemory(t *testing.T, folder corpus.Folder) {
	names, queries, options := corpusQueries(t, folder.Dir)
	partitioned := []int{0, 1, 64}
	if testing.Short() {
		partitioned = partitioned[1:2]
	}
	runs, spills := 0, 0
	for i, q := range queries {
		t.Run(names[i], func(t *testing.T) {
			o := gagg.Tuned(options[i], gagg.LeastMemory(tightMemory))
			want, wantErr := answer(t, q, o)
			partitioned := partitioned
			if len(want) > 100_000 {
				partitioned = partitioned[:1] // of seconds each
			}
			for _, partitions := range partitioned {
				o.Threads, o.Partitions, o.MemoryLimit = 1, partitions, 1
				if wantErr == nil {
					o.MemoryLimit = leastLimit(t, q, o)
				}
				got, spilled, _, err := limited(t, q, o)
				if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(got, want) {
					t.Errorf("%d partitions within %d bytes: %d rows and error %v, want %d and %v", partitions, o.MemoryLimit, len(got), err, len(want), wantErr)
				}
				if runs++; spilled > 0 {
					spills++
				}
			}
		})
	}
	t.Logf("%d of %d runs spilled", spills, runs)
	least := runs / 8
	if folder.Own {
		least = 2 * len(partitioned) // most of its files are tiny
	}
	if spills < least {
		t.Errorf("only %d of %d runs spilled: they had too much memory", spills, runs)
	}
}
