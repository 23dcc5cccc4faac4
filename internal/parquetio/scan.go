package parquetio

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// ScanOptions says what to read of a dataset.
type ScanOptions struct {
	// Columns are indexes in the fields of the schema. None: the batches
	// carry numbers of rows only.
	Columns []int

	// Skip is asked for each row group whether none of its rows can match;
	// then it is not read. bounds tells what is known about Columns[i] there.
	// nil: read everything.
	Skip func(bounds func(i int) column.Bounds) bool

	// SkipColumns are those that Skip asks about, numbers in Columns. Then readers that filter rows
	// (Reader.Where) ask Skip about pages too. nil: about row groups alone.
	SkipColumns []int

	// Sample is asked for each row group, by the number of its first row in the dataset, whether it
	// is to be read; nil: all are.
	Sample func(first int64) bool

	// Part is asked for each row group, by the number of its first row, its rows, and those of the
	// dataset, whether it is to be read; nil: all are.
	Part func(first, rows, total int64) bool

	// BatchRows overrides that of the dataset where it is not 0.
	BatchRows int

	// Extremes says, by column of Columns, that only its least and greatest values are asked for.
	// Readers then leave out row groups that hold neither. Columns are of integers. nil: more is
	// asked for.
	Extremes []Extreme

	// Repeat makes a batch of one row, which stands for all of them, of a row
	// group whose wanted columns are constant, or where none is wanted. The
	// time for it does not depend on how many rows a footer claims.
	Repeat bool
}

// Unit is what a worker takes at a time: a row group, or a part of one (Scan.Split).
type Unit struct {
	File  string
	Group int   // number of the row group in its file
	Start int64 // number of its first row in the row group
	Rows  int64 // at least 1
	First int64 // number of its first row in the dataset, skipped row groups counted
	Bytes int64 // compressed size of the wanted columns; of a part, its share
	Plain int64 // the same decompressed; a hint
	Slow  int64 // of Plain: what comes out of codecs that take several times as long as Snappy

	of int // number of the row group in Scan.groups
}

// A Scan is a choice of columns and row groups. It does not change, unless by Split, and may be
// used concurrently; each worker makes a Reader of its own.
type Scan struct {
	d         *Dataset
	cols      []int
	types     []column.Type // by wanted column
	leaves    [][]int       // by layout, by wanted column: the leaf, or -1
	dicts     [][]*column.Dict
	batchRows int
	repeat    bool
	deleted   bool // of a file rows are

	units     []Unit
	shared    [][]sharedDict // by row group that was cut, by wanted column
	groups    []Unit         // what units are, or are parts of
	fileOf    []int          // by row group
	hinted    []atomic.Int32 // by row group: what was asked for of it (readahead.go)
	ahead     int64          // see aheadEach
	readers   atomic.Int64   // that were made
	stretches []int          // by row group: the first that is fetched together with it
	peeked    []func() columnPeek
	skipped   struct {
		groups      int
		rows, bytes int64
	}

	extremes  *extremes                                   // nil: all values count
	skip      func(bounds func(i int) column.Bounds) bool // of pages
	skipCols  []int
	skippedAt struct{ pages, rows atomic.Int64 } // of units that were read
}

// Scan chooses what is to be read. The error is a *ColumnError for a column
// that cannot be read, and an *Error for one that a file lacks or whose
// types do not agree.
func (d *Dataset) Scan(o ScanOptions) (_ *Scan, err error) {
	s := &Scan{d: d, cols: o.Columns, batchRows: o.BatchRows, repeat: o.Repeat, skip: o.Skip, ahead: aheadEach}
	if o.Skip != nil {
		s.skipCols = o.SkipColumns
	}
	if s.batchRows <= 0 {
		s.batchRows = d.opt.BatchRows
	}
	if err := s.chooseColumns(); err != nil {
		return nil, err
	}
	for i, f := range d.files {
		if err := s.chooseGroups(i, f, &o); err != nil {
			return nil, err
		}
	}
	s.groups, s.hinted = s.units, make([]atomic.Int32, len(s.units))
	s.findStretches()
	if s.deleted = slices.ContainsFunc(s.fileOf, func(f int) bool { return d.files[f].deleted != nil }); s.deleted {
		s.repeat = false
	}
	if len(o.Extremes) > 0 && !s.deleted { // what a reader has seen may be of rows that are deleted
		s.askExtremes(o.Extremes)
	}
	for i := range s.cols {
		s.peeked = append(s.peeked, sync.OnceValue(func() columnPeek { return s.peekColumn(i) }))
	}
	return s, nil
}

// chooseColumns finds the leaf of each wanted column in each layout.
func (s *Scan) chooseColumns() error {
	t := s.d.table
	for _, c := range s.cols {
		col := &t.cols[c]
		if err := t.readable(col.name, c); err != nil {
			return err
		}
		if col.clash != nil {
			return col.clash
		}
		s.types = append(s.types, col.typ)
	}
	s.leaves = make([][]int, len(t.layouts))
	for l := range t.layouts {
		s.leaves[l] = t.leavesOf(l, s.cols)
	}
	if !s.d.opt.UnionByName && s.d.opt.Table == nil {
		if err := s.missing(); err != nil {
			return err
		}
	}
	s.makeDicts()
	return nil
}

// missing is the error for the first column that a file lacks.
func (s *Scan) missing() error {
	for _, f := range s.d.files {
		for i, c := range s.cols {
			if col := &s.d.table.cols[c]; col.hive < 0 && s.leaves[f.layout][i] < 0 {
				return &Error{File: f.name, RowGroup: -1, Column: col.name, Err: fmt.Errorf(
					"missing (present in %s); use --union-by-name to read it as NULL", s.d.files[col.seenIn].name)}
			}
		}
	}
	return nil
}

// makeDicts makes, by wanted column and file, the dictionary of a hive column:
// one for each value, so that files of one folder share it. nil is NULL.
func (s *Scan) makeDicts() {
	s.dicts = make([][]*column.Dict, len(s.cols))
	for i, c := range s.cols {
		h := s.d.table.cols[c].hive
		if h < 0 {
			continue
		}
		byValue := map[column.Value]*column.Dict{}
		for _, v := range s.d.hive[h].values {
			dict, ok := byValue[v]
			if !ok && !v.Null {
				dict = &column.Dict{Values: singleValue(v)}
				byValue[v] = dict
			}
			s.dicts[i] = append(s.dicts[i], dict)
		}
	}
}

// chooseGroups makes units of the row groups of a file that Sample and Skip leave.
func (s *Scan) chooseGroups(i int, f *dataFile, o *ScanOptions) (err error) {
	defer invariant.Fence(&err, damagedIn(f.name))
	for g := range f.groups {
		if f.groups[g].rows == 0 {
			continue
		}
		if o.Part != nil && !o.Part(f.first+f.groups[g].first, f.groups[g].rows, s.d.rows) {
			continue
		}
		u := Unit{File: f.name, Group: g, Rows: f.groups[g].rows, First: f.first + f.groups[g].first, of: len(s.units)}
		for _, leaf := range s.leaves[f.layout] {
			if leaf >= 0 {
				hints := f.chunkHints(g, leaf)
				u.Bytes, u.Plain, u.Slow = u.Bytes+hints.bytes, u.Plain+max(hints.plain, hints.bytes), u.Slow+hints.slow
			}
		}
		if o.Sample != nil && !o.Sample(u.First) || o.Skip != nil && o.Skip(func(c int) column.Bounds { return s.bounds(i, g, c) }) {
			s.skipped.groups++
			s.skipped.rows += u.Rows
			s.skipped.bytes += u.Bytes
			continue
		}
		s.units = append(s.units, u)
		s.fileOf = append(s.fileOf, i)
	}
	return nil
}

// bounds tells what is known about a wanted column in a row group.
func (s *Scan) bounds(fileIndex, group, i int) column.Bounds {
	f := s.d.files[fileIndex]
	col := &s.d.table.cols[s.cols[i]]
	leaf := s.leaves[f.layout][i]
	switch {
	case leaf < 0 && col.hive >= 0:
		return constantBounds(s.d.hive[col.hive].values[fileIndex], f.groups[group].rows)
	case leaf < 0:
		return constantBounds(column.Value{Null: true}, f.groups[group].rows)
	}
	return groupBounds(f.file, group, leaf, col.typ)
}

// Units returns what is to be read, in file order. Row groups without rows
// are not in it. The slice is the scan's own.
func (s *Scan) Units() []Unit { return s.units }

// RowGroups is how many row groups the units are, or are parts of.
func (s *Scan) RowGroups() int { return len(s.groups) }

// Skipped tells what Skip left out: row groups, their rows, and the compressed
// bytes of the wanted columns.
func (s *Scan) Skipped() (groups int, rows, bytes int64) {
	return s.skipped.groups, s.skipped.rows, s.skipped.bytes
}

// SkippedInside is what readers skipped inside units: pages of wanted columns that were not
// decompressed, as no row of them was wanted, and rows that Skip ruled out by pages. A reader
// counts when it is closed or goes on to another file.
func (s *Scan) SkippedInside() (pages, rows int64) {
	return s.skippedAt.pages.Load(), s.skippedAt.rows.Load()
}

// DictAll reports whether the footers promise that column i of Columns is
// dictionary-coded, or constant, in all units. It is a hint: the pages decide.
func (s *Scan) DictAll(i int) bool {
	for g := range s.groups {
		f := s.d.files[s.fileOf[g]]
		leaf := s.leaves[f.layout][i]
		if leaf >= 0 && !f.chunkHints(s.groups[g].Group, leaf).dictAll {
			return false
		}
	}
	return true
}

// Filled reports whether the schemas or the footers promise that column i of Columns has no NULL
// in any unit. It is a hint, since a footer may lie: a caller that relies on it must notice a NULL.
func (s *Scan) Filled(i int) bool {
	for g := range s.groups {
		f := s.d.files[s.fileOf[g]]
		leaf := s.leaves[f.layout][i]
		switch {
		case leaf < 0 && s.d.table.cols[s.cols[i]].hive >= 0:
			if s.bounds(s.fileOf[g], s.groups[g].Group, i).Nulls != 0 {
				return false
			}
		case leaf < 0 || !f.filled(s.groups[g].Group, leaf):
			return false
		}
	}
	return true
}

// Ends is the range of the values of column i of Columns, by the statistics of all units; false
// if some have none, or the column is NULL throughout. It is a hint, since statistics may lie:
// a caller that relies on it must notice a value outside.
func (s *Scan) Ends(i int) (least, most column.Value, ok bool) {
	want := s.d.table.cols[s.cols[i]].typ
	for g := range s.groups {
		b := s.ends(s.fileOf[g], s.groups[g].Group, i)
		if !b.HasMin && !b.HasMax && b.Nulls == b.Rows {
			continue
		}
		if !b.HasMin || !b.HasMax {
			return least, most, false
		}
		if !ok || less(want, b.Min, least) {
			least = b.Min
		}
		if !ok || less(want, most, b.Max) {
			most = b.Max
		}
		ok = true
	}
	return least, most, ok
}

// ends is bounds without the bloom filter.
func (s *Scan) ends(fileIndex, group, i int) column.Bounds {
	f := s.d.files[fileIndex]
	col := &s.d.table.cols[s.cols[i]]
	leaf := s.leaves[f.layout][i]
	if leaf < 0 {
		return s.bounds(fileIndex, group, i)
	}
	return groupEnds(f.file, group, leaf, col.typ)
}

// Int96 reports whether column i of Columns holds INT96 timestamps in a file.
// One that microseconds in 64 bits cannot hold comes as the least or greatest
// int64.
func (s *Scan) Int96(i int) bool {
	for _, f := range s.d.files {
		if leaf := s.leaves[f.layout][i]; leaf >= 0 && f.leaves[leaf].physical == format.Int96 {
			return true
		}
	}
	return false
}

// Unchanged fails if a file is not what it was when the dataset was opened:
// then an answer made from it is not to be trusted.
func (s *Scan) Unchanged() error { return s.d.unchanged() }
