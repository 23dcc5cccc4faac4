package input

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/filepool"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/spill"
)

// This file opens what is merged: tables of states, and beside them inputs whose rows have yet to
// become some. A table of states is Arrow with a header in the metadata of its schema, which nobody
// looks into here.

// The keys of that header, and of its checksum.
const (
	StateKey      = "gagg.state"
	StateCheckKey = "gagg.state.check"
)

// Merge reads what sources hold: states, each table of them a part of one table, and rows. Only
// OpenMerged opens it.
func Merge(sources ...Source) MergeSource { return sources }

// MergeSource is what Merge returns.
type MergeSource []Source

// Open is an error: what states are of is known by their headers alone.
func (MergeSource) Open(context.Context, Options, budget.Lender) (Input, error) {
	return nil, usagef("states are merged by a query: nothing else can be asked of them")
}

// Merged is a part of what is merged: states, or rows.
type Merged struct {
	Name   string
	States Input  // nil: Rows
	Header string // of States
	// Checked says that the states have checksums: that of the header is right, those of rows are
	// compared when they are read.
	Checked bool

	Rows Source
}

// OpenMerged opens the states among sources, in their order. Files with rows are one source, where
// the first of them is. The caller closes the states, also those that come with an error.
func OpenMerged(ctx context.Context, m MergeSource, o Options, from budget.Lender) (all []Merged, err error) {
	files := -1 // the place of the files with rows
	for _, s := range m {
		if paths, ok := s.(fileSource); ok {
			if all, files, err = openMergedFiles(ctx, paths, all, files, o, from); err != nil {
				return all, err
			}
			continue
		}
		if records, ok := s.(recordSource); ok {
			if !isState(records.schema) {
				all = append(all, Merged{Rows: s})
				continue
			}
		}
		in, err := s.Open(ctx, o, from)
		if err != nil {
			return all, err
		}
		m, err := statesOf(in)
		if err != nil {
			return all, errors.Join(err, in.Close())
		}
		if m.States != nil {
			all = append(all, m)
			continue
		}
		if err := in.Close(); err != nil {
			return all, err
		}
		if _, ok := s.(*streamSource); ok {
			return all, usagef("%s: it has rows, not states, and comes by a pipe: make states of it with --partial first", nameOf(in))
		}
		all = append(all, Merged{Rows: s})
	}
	return all, nil
}

// openMergedFiles appends what the files at paths hold.
func openMergedFiles(ctx context.Context, paths fileSource, all []Merged, files int, o Options, from budget.Lender) ([]Merged, int, error) {
	w := &web{ctx: ctx, o: o, from: from, states: true}
	rows := func(path string) {
		if files < 0 {
			files = len(all)
			all = append(all, Merged{Rows: fileSource(nil)})
		}
		all[files].Rows = append(all[files].Rows.(fileSource), path)
	}
	listed, err := w.list(paths, nil)
	if err != nil {
		return all, files, err
	}
	inputs, err := fileSource(listed).inputs(w)
	for i := 0; i < len(inputs) && err == nil; i++ {
		found := []parquetio.Input{inputs[i]}
		if inputs[i].Reader == nil {
			var names []string
			if names, err = namesIn(ctx, inputs[i].Path); err != nil {
				break
			}
			found = found[:0]
			for _, name := range names {
				found = append(found, parquetio.Input{Path: name})
			}
		}
		states := 0
		for _, f := range found {
			m, err := openState(ctx, f, o, from)
			if err != nil {
				return all, files, err
			}
			if m.States != nil {
				if len(w.objects) > 0 {
					m.States = &remoteInput{m.States, w}
				}
				states++
				all = append(all, m)
			} else if len(found) > 1 && states > 0 {
				rows(f.Path)
			}
		}
		if states == 0 {
			rows(listed[i])
		}
	}
	return all, files, err
}

// namesIn tells which files are at a path: of a folder those that may hold states.
func namesIn(ctx context.Context, path string) ([]string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return parquetio.ListStates(ctx, path)
	}
	return parquetio.List(ctx, []string{path})
}

// openState opens a file of states; without States: it holds something else.
func openState(ctx context.Context, at parquetio.Input, o Options, from budget.Lender) (m Merged, err error) {
	pool := new(filepool.Pool)
	f := &arrowFile{name: labelOf(at), src: pool.File(at.Path)}
	if at.Reader != nil {
		f.src = pool.Reader(at.Reader)
	}
	if f.size, err = f.src.Size(at.Size); err == nil {
		f.announced()
	}
	if err != nil || f.kind() != arrowMagic {
		pool.Close()
		return m, nil //nolint:nilerr // who reads the rows tells it
	}
	in, err := openArrow(ctx, []*arrowFile{f}, pool, o, from)
	if err != nil {
		return m, err
	}
	if m, err = statesOf(in); m.States == nil {
		err = errors.Join(err, in.Close())
	}
	return m, err
}

// labelOf is what messages call a file.
func labelOf(at parquetio.Input) string {
	if at.Reader != nil {
		return at.Name
	}
	return at.Path
}

// OpenSpooled opens states that were written to a file.
func OpenSpooled(ctx context.Context, name string, f *spill.File, o Options, from budget.Lender) (Merged, error) {
	return openState(ctx, parquetio.Input{Name: name, Reader: f, Size: f.Size()}, o, from)
}

// statesOf is the states in an input, which stays open; without States: there are none.
func statesOf(in Input) (m Merged, err error) {
	var schema *arrow.Schema
	switch in := in.(type) {
	case *arrowInput:
		if len(in.files) != 1 {
			return m, nil
		}
		f := in.files[0]
		if schema = f.Schema; isState(schema) {
			if err := f.Complete(); err != nil {
				return m, f.failure(err)
			}
		}
	case *recordInput:
		schema = in.schema
	default:
		return m, nil
	}
	if !isState(schema) {
		return m, nil
	}
	m.Name = nameOf(in)
	if m.Header, m.Checked, err = stateHeader(schema); err != nil {
		return m, &Error{fmt.Errorf("%s: %w", m.Name, err)}
	}
	if m.States = in; m.Checked {
		m.States = &checkedInput{in, m.Name}
	}
	return m, nil
}

func nameOf(in Input) string {
	switch in := in.(type) {
	case *arrowInput:
		return in.files[0].name
	case *recordInput:
		return in.name
	}
	return "the input"
}

// Joined is tables with the columns of the first, one behind the other.
type Joined struct {
	Input // the first
	All   []Merged
}

// Close closes all tables.
func (j *Joined) Close() error {
	var errs []error
	for _, m := range j.All {
		if m.States != nil {
			errs = append(errs, m.States.Close())
		}
	}
	return errors.Join(errs...)
}

func (j *Joined) sizes() (d Description) {
	for _, m := range j.All {
		s := m.States.sizes()
		d.Files, d.RowGroups, d.Bytes = d.Files+s.Files, d.RowGroups+s.RowGroups, d.Bytes+s.Bytes
		if d.Rows += s.Rows; s.Rows < 0 {
			d.Rows = -1
		}
	}
	return d
}

// Scan scans all tables.
func (j *Joined) Scan(o parquetio.ScanOptions) (Scan, error) {
	s := &joinedScan{joined: j}
	for i, m := range j.All {
		own := o
		own.Columns = make([]int, len(o.Columns))
		for k, c := range o.Columns {
			var err error
			if own.Columns[k], err = m.States.Find(j.Schema().Fields[c].Name); err != nil {
				return nil, &Error{fmt.Errorf("%s: %w", m.Name, err)}
			}
		}
		part, err := m.States.Scan(own)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, part)
		for unit := range part.Units() {
			s.units = append(s.units, joinedUnit{i, unit})
		}
	}
	return s, nil
}

// joinedScan is the scans of all tables.
type joinedScan struct {
	unknown
	joined *Joined
	parts  []Scan
	units  []joinedUnit
}

type joinedUnit struct{ part, unit int }

func (s *joinedScan) Units() int     { return len(s.units) }
func (s *joinedScan) RowGroups() int { return len(s.units) }

func (s *joinedScan) UnitBytes(unit int) int64 {
	u := s.units[unit]
	return s.parts[u.part].UnitBytes(u.unit)
}

func (s *joinedScan) Facts() (all Facts) {
	known := true
	for _, p := range s.parts {
		f := p.Facts()
		known = known && f.Rows >= 0
		all.Rows, all.Bytes, all.Plain, all.Slow = all.Rows+f.Rows, all.Bytes+f.Bytes, all.Plain+f.Plain, all.Slow+f.Slow
	}
	if !known {
		all.Rows = -1
	}
	return all
}

func (s *joinedScan) WorkerBytes() (most int64) {
	for _, p := range s.parts {
		most = max(most, p.WorkerBytes())
	}
	return most
}

func (s *joinedScan) Rereadable() bool {
	for _, p := range s.parts {
		if !p.Rereadable() {
			return false
		}
	}
	return true
}

func (s *joinedScan) Unchanged() error {
	var errs []error
	for _, p := range s.parts {
		errs = append(errs, p.Unchanged())
	}
	return errors.Join(errs...)
}

func (s *joinedScan) Reader() cpu.Reader { return &JoinedReader{scan: s, part: -1} }

// JoinedReader reads the units of a Joined.
type JoinedReader struct {
	scan   *joinedScan
	part   int // whose unit is open; -1: none
	reader cpu.Reader
}

// Part is the number of the table, and its name, that the last batch is of.
func (r *JoinedReader) Part() (int, string) { return r.part, r.scan.joined.All[r.part].Name }

// Where leaves the filter to the worker.
func (r *JoinedReader) Where(func(*column.Batch, []int32) ([]int32, error), []int) bool { return false }

// Open opens a unit.
func (r *JoinedReader) Open(unit int) error {
	u := r.scan.units[unit]
	if u.part != r.part {
		r.Close()
		r.part, r.reader = u.part, r.scan.parts[u.part].Reader()
	}
	return r.reader.Open(u.unit)
}

// Next reads a batch of the unit.
func (r *JoinedReader) Next(b *column.Batch) (bool, error) { return r.reader.Next(b) }

// Close lets go of everything.
func (r *JoinedReader) Close() {
	if r.reader != nil {
		r.reader.Close()
	}
	r.part, r.reader = -1, nil
}
