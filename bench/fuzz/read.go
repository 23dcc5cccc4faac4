package main

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// read reads an answer; nil for formats that are made for people.
func (e *expected) read(r *runner, o outcome, c config) ([][]cell, error) {
	null := ""
	for _, option := range c.options {
		if option[0] == "--null" {
			null = option[1]
		}
	}
	var header []string
	for i := range e.types {
		header = append(header, e.q.name(i))
	}
	switch c.format {
	case "parquet":
		a, err := r.duck.query("select * from read_parquet(" + quote(o.path) + ")")
		if err != nil {
			return nil, err
		}
		return cellsOf(a.rows, a.types)
	case "arrow":
		return readArrow(o.out, e.types)
	case "csv", "tsv":
		separator := map[string]byte{"csv": ',', "tsv": '\t'}[c.format]
		t, err := oracle.ReadSeparated(bytes.NewReader(o.out), separator, null)
		if err != nil {
			return nil, err
		}
		return cellsOf(t.Rows, e.types)
	case "json":
		lines := strings.ReplaceAll(strings.Trim(string(o.out), "[]\n "), "},\n", "}\n")
		return e.readLines(lines, header)
	case "ndjson":
		return e.readLines(string(o.out), header)
	}
	return nil, nil
}

func (e *expected) readLines(lines string, header []string) ([][]cell, error) {
	t, err := oracle.ReadNDJSON(strings.NewReader(lines), header)
	if err != nil {
		return nil, err
	}
	return cellsOf(t.Rows, e.types)
}

func cellsOf(rows [][]field, types []string) ([][]cell, error) {
	out := make([][]cell, len(rows))
	for i, row := range rows {
		if len(row) != len(types) {
			return nil, fmt.Errorf("%d columns, want %d", len(row), len(types))
		}
		for c, f := range row {
			value, err := oracle.ReadCell(f, types[c])
			if err != nil {
				return nil, fmt.Errorf("row %d, column %d: %w", i+1, c+1, err)
			}
			out[i] = append(out[i], value)
		}
	}
	return out, nil
}

// readArrow reads an Arrow IPC file, or a stream.
func readArrow(data []byte, types []string) ([][]cell, error) {
	var records []arrow.Record
	if bytes.HasPrefix(data, []byte("ARROW1")) {
		f, err := ipc.NewFileReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		for i := range f.NumRecords() {
			rec, err := f.RecordAt(i)
			if err != nil {
				return nil, err
			}
			records = append(records, rec)
		}
	} else {
		s, err := ipc.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		for s.Next() {
			s.Record().Retain()
			records = append(records, s.Record())
		}
		if s.Err() != nil {
			return nil, s.Err()
		}
	}
	out := [][]cell{}
	for _, rec := range records {
		rows, err := recordRows(rec, types)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

func recordRows(rec arrow.Record, types []string) ([][]cell, error) {
	rows := make([][]cell, rec.NumRows())
	if int(rec.NumCols()) != len(types) {
		return nil, fmt.Errorf("%d columns, want %d", rec.NumCols(), len(types))
	}
	for c, arr := range rec.Columns() {
		var v column.Vector
		if err := column.FromArrow(arr, &v); err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i] = append(rows[i], asText(oracle.CellOf(v.At(i)), v.Type, strings.Contains(types[c], "UUID")))
		}
	}
	return rows, nil
}

// asText makes a cell of Arrow's one as text gives it: times are in seconds, and a UUID has its
// dashes.
func asText(c cell, t column.Type, isUUID bool) cell {
	for i := range c.Elems {
		elem := t
		elem.Nest = 0
		c.Elems[i] = asText(c.Elems[i], elem, isUUID)
	}
	switch {
	case c.Kind == oracle.Exact && (t.Kind == column.Time || t.Kind == column.Timestamp):
		c.Exact = new(big.Rat).Quo(c.Exact, new(big.Rat).SetInt64(t.Unit.PerSecond()))
	case c.Kind == oracle.Text && isUUID && len(c.Text) == 16:
		b := fmt.Sprintf("%x", c.Text)
		c.Text = b[:8] + "-" + b[8:12] + "-" + b[12:16] + "-" + b[16:20] + "-" + b[20:]
	}
	return c
}
