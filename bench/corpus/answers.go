package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/corpus"
)

const (
	manyGroups    = 40 // an answer of more is not kept whole
	sampleGroups  = 8
	columnsAtOnce = 10 // keys of one query
)

// answers makes cases.jsonl, expected/ and MANIFEST.tsv.
type answers struct {
	duck     *peer
	cases    bytes.Buffer
	manifest bytes.Buffer
}

func answer(duck *peer, files []file) error {
	a := &answers{duck: duck}
	a.manifest.WriteString("file\tsource\tgit_blob\tlicense\tbytes\trows\tcolumns\tfeatures\texpected\tduckdb\n")
	for _, f := range files {
		if err := a.file(f); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "cases.jsonl"), a.cases.Bytes(), 0o666),
		os.WriteFile(filepath.Join(folder, "MANIFEST.tsv"), a.manifest.Bytes(), 0o666),
	)
}

func (a *answers) file(f file) error {
	list := slices.Clone(asked[f.stem()])
	scalar, err := a.scalars(f)
	switch {
	case f.isBad():
		list = []corpus.Case{{Aggs: of(scalar), Expect: expectBad[f.stem()]}}
		if list[0].Expect == "" {
			list[0].Expect = "error"
		}
	case err != nil && !f.isFolder():
		return err
	case len(list) == 0:
		list = append(list, corpus.Case{Aggs: of(scalar)})
		for keys := range slices.Chunk(scalar, columnsAtOnce) {
			list = append(list, corpus.Case{Keys: keys, Aggs: []string{some}})
		}
	}
	rows := a.rows(f)
	for i := range list {
		c := &list[i]
		c.ID, c.File, c.Multi = f.id(i), f.name, f.isFolder()
		if c.Expect == "" {
			c.Expect = "exact"
		}
		if err := a.ask(f, c); err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
	}
	a.describe(f, rows, len(scalar), list)
	return nil
}

// of is the aggregates that look at all values of columns.
func of(columns []string) []string {
	aggs := []string{some}
	for _, c := range columns {
		aggs = append(aggs, "count("+c+")", "min("+c+")", "max("+c+")")
	}
	return aggs
}

// scalars is the names of the columns that are no lists, maps or structs, of a file that DuckDB
// can open.
func (a *answers) scalars(f file) (names []string, err error) {
	if f.isFolder() {
		return nil, nil
	}
	rows, err := a.duck.query("select column_name, column_type from (describe select * from " + f.table(&corpus.Case{}) + ")")
	for _, r := range rows {
		if t := *r[1]; !strings.ContainsAny(t, "[") && !strings.HasPrefix(t, "STRUCT") && !strings.HasPrefix(t, "MAP") && t != "INTERVAL" && !strings.HasSuffix(*r[0], cut) {
			names = append(names, *r[0])
		}
	}
	return names, err
}

// table is the file as DuckDB reads it.
func (f file) table(c *corpus.Case) string {
	glob := f.path()
	if f.twin != "" {
		glob = f.twin
	}
	if f.isFolder() {
		glob = filepath.Join(f.path(), "**", "*.parquet")
	}
	table := fmt.Sprintf("read_parquet('%s', hive_partitioning = %v, union_by_name = %v)", glob, c.Hive, c.UnionByName)
	if form, ok := tables[f.stem()]; ok && len(c.Keys)+len(c.Aggs) > 0 {
		table = fmt.Sprintf(form, table)
	}
	return table
}

// rows is what DuckDB says of reading all of a file.
func (a *answers) rows(f file) string {
	f.twin = ""
	n, err := a.duck.query("select sum(1)::varchar from (select columns(*)::varchar from " + f.table(&corpus.Case{UnionByName: true, Hive: true}) + ") ")
	if err != nil {
		var said refusal
		errors.As(err, &said)
		return "error: " + said.text
	}
	if n[0][0] == nil {
		return "reads 0 rows"
	}
	return "reads " + *n[0][0] + " rows"
}

// describe writes the lines of the manifest: one a file.
func (a *answers) describe(f file, duckdb string, columns int, list []corpus.Case) {
	paths := []string{f.path()}
	if f.isFolder() {
		paths = nil
		_ = filepath.WalkDir(f.path(), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				paths = append(paths, path)
			}
			return err
		})
	}
	for _, p := range paths {
		name, _ := filepath.Rel(folder, p)
		if f.isFolder() && !strings.Contains(f.name, "hive") {
			continue // the files are there by themselves
		}
		info, err := os.Stat(p)
		if err != nil {
			continue
		}
		said := duckdb
		if f.isFolder() {
			said = a.rows(file{name: name})
		}
		count, _ := strings.CutPrefix(strings.TrimSuffix(said, " rows"), "reads ")
		if count == said {
			count = "-"
		}
		expected := "readable"
		if len(list) > 0 && f.isBad() {
			expected = list[0].Expect
		}
		fmt.Fprintf(&a.manifest, "%s\tbench/corpus: %s\t-\tthat of gagg\t%d\t%s\t%d\t%s\t%s\t%s\n", filepath.ToSlash(name), f.writer, info.Size(), count, columns, f.note, expected, said)
	}
}
