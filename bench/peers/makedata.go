package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// partRows is the most rows of a file that DuckDB makes.
const partRows = 100_000_000

// makeData has DuckDB write db-benchmark's table with its own defaults, on all
// its threads, and returns a glob of the files. It has the distribution of
// datagen.H2O, not the same values: those here are hashes of the rows'
// numbers, so that they do not depend on the threads.
func (e *endToEnd) makeData(ctx context.Context) (glob string, err error) {
	rows := int64(e.rows)
	dir := filepath.Join(e.data, fmt.Sprintf("duckdb_%d", rows))
	glob = filepath.Join(dir, "*.parquet")
	if _, err := os.Stat(dir); err == nil {
		return glob, nil
	}
	fmt.Fprintln(os.Stderr, "making", dir)
	unfinished := dir + ".unfinished"
	if err := os.MkdirAll(unfinished, 0o755); err != nil {
		return "", err
	}
	if err := e.haveDuckDB(ctx, glob, makeSQL(rows, unfinished)); err != nil {
		return "", err
	}
	return glob, os.Rename(unfinished, dir)
}

// haveDuckDB has DuckDB do statements that make a file.
func (s settings) haveDuckDB(ctx context.Context, file string, statements []string) error {
	d, err := s.startDuckDB(ctx, file)
	if err != nil {
		return err
	}
	defer d.stop()
	for _, sql := range statements {
		if _, err := d.do(request{Query: sql}); err != nil {
			return err
		}
	}
	return nil
}

// makeSQL is the statements that write rows of db-benchmark's table into
// files of a folder. The numbers of the rows come from a table because a
// range is made by one thread.
func makeSQL(rows int64, dir string) []string {
	sql := []string{
		"set preserve_insertion_order = false",
		fmt.Sprintf("create table numbers as select range as i from range(%d)", min(rows, partRows)),
	}
	draw := func(column int, n int64) string { return fmt.Sprintf("(1 + hash(i, %d) %% %d)", column, n) }
	text := func(column int, n int64, digits int) string {
		return fmt.Sprintf("'id' || lpad(%s::varchar, %d, '0')", draw(column, n), digits)
	}
	many := max(rows/100, 1)
	columns := fmt.Sprintf("%s as id1, %s as id2, %s as id3, %s::int as id4, %s::int as id5, %s::int as id6, "+
		"%s::int as v1, %s::int as v2, (hash(i, 9) %% 100000001)::int / 1e6 as v3",
		text(1, 100, 3), text(2, 100, 3), text(3, many, 10), draw(4, 100), draw(5, 100), draw(6, many), draw(7, 5), draw(8, 15))
	for part := int64(0); part*partRows < rows; part++ {
		numbers := fmt.Sprintf("(select i + %d as i from numbers where i < %d)", part*partRows, rows-part*partRows)
		path := filepath.Join(dir, fmt.Sprintf("%d.parquet", part))
		sql = append(sql, fmt.Sprintf("copy (select %s from %s) to '%s' (format parquet)", columns, numbers, path))
	}
	return sql
}
