package gagg_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// corpusQueries is the queries on valid files of the corpus that cmd/gagg
// tests against what they should give, by their names.
func corpusQueries(t *testing.T) (names []string, queries []gagg.Query, options []gagg.Options) {
	t.Helper()
	dir := os.Getenv("GAGG_CORPUS")
	if dir == "" {
		t.Skip("GAGG_CORPUS does not name the corpus folder")
	}
	text, err := os.ReadFile(filepath.Join(dir, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			ID, File   string
			Keys, Aggs []string
			WhereParts []struct {
				Col, Op string
				Value   any
			} `json:"where_parts"`
			UnionByName bool `json:"union_by_name"`
			Groups      int
		}
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber()
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(c.File, "valid/") || testing.Short() && c.Groups > 100_000 {
			continue
		}
		q := gagg.Query{From: gagg.Files(filepath.Join(dir, c.File))}
		for _, k := range c.Keys {
			q.By = append(q.By, quoted(k))
		}
		for _, a := range c.Aggs {
			name, arg, _ := strings.Cut(a, "(")
			if arg = strings.TrimSuffix(arg, ")"); arg != "*" {
				arg = quoted(arg)
			}
			q.Aggs = append(q.Aggs, gagg.Expr(name+"("+arg+")"))
		}
		var where []string
		for _, w := range c.WhereParts {
			term := quoted(w.Col) + " " + w.Op
			switch v := w.Value.(type) {
			case nil: // is null
			case string:
				term += " '" + strings.ReplaceAll(v, "'", "''") + "'"
			default:
				term += fmt.Sprint(" ", v)
			}
			where = append(where, term)
		}
		q.Where = strings.Join(where, " and ")
		names, queries = append(names, c.ID), append(queries, q)
		options = append(options, gagg.Options{UnionByName: c.UnionByName})
	}
	return names, queries, options
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Queries on files that nobody on this project wrote have the same answer, or
// fail in the same way, however little memory there is.
func TestCorpusMemory(t *testing.T) {
	names, queries, options := corpusQueries(t)
	gagg.SetLeastMemory(t, tightMemory)
	partitioned := []int{0, 1, 64}
	if testing.Short() {
		partitioned = partitioned[1:2]
	}
	runs, spills := 0, 0
	for i, q := range queries {
		t.Run(names[i], func(t *testing.T) {
			want, wantErr := answer(t, q, options[i])
			for _, partitions := range partitioned {
				o := options[i]
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
	if spills < runs/8 {
		t.Errorf("only %d of %d runs spilled: they had too much memory", spills, runs)
	}
}
