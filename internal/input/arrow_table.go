package input

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/filepool"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// arrowInput is Arrow IPC files as one table: columns by name, in the order in which files first
// have them.
type arrowInput struct {
	leafTable
	files []*arrowFile
	pool  *filepool.Pool // of them
	units []arrowUnit    // in their order
	rows  int64
	from  budget.Lender

	disagree map[int]error // by column: it cannot be scanned
}

// arrowUnit is a record of a file.
type arrowUnit struct {
	file   *arrowFile
	record int
	first  int64 // row number
}

// unify makes one table of the columns of all files, those of the same name and place among them.
func (in *arrowInput) unify(union bool) {
	type key struct {
		name string
		nth  int // of several that have the name
	}
	places := map[key]int{}
	in.disagree = map[int]error{}
	var lacking []string // by column: a file that lacks it
	var firsts []string  // by column: the first file that has it
	for n, f := range in.files {
		met := map[string]int{}
		f.leaves = make([]int, len(in.cols))
		for i := range f.leaves {
			f.leaves[i] = noLeaf
		}
		for i := range f.own {
			l := &f.own[i]
			k := key{l.Name, met[l.Name]}
			met[l.Name]++
			at, there := places[k]
			if !there {
				at = len(in.cols)
				places[k] = at
				in.cols, f.leaves, firsts, lacking = append(in.cols, *l), append(f.leaves, i), append(firsts, f.name), append(lacking, "")
				if n > 0 {
					lacking[at] = in.files[0].name
				}
				continue
			}
			f.leaves[at] = i
			if c := &in.cols[at]; c.Err == nil && l.Err != nil {
				c.Err = l.Err
			} else if c.Err == nil && c.Type.Plain() == l.Type.Plain() {
				if c.Type != l.Type {
					c.Type = c.Type.Plain()
				}
			} else if c.Err == nil {
				in.disagree[at] = &Error{fmt.Errorf("%s: column %q: type %s does not agree with %s in %s", f.name, c.Name, l.Type, c.Type, firsts[at])}
			}
		}
		for at, own := range f.leaves {
			if own == noLeaf && lacking[at] == "" {
				lacking[at] = f.name
			}
		}
	}
	for at, name := range lacking {
		if name != "" && !union {
			in.disagree[at] = &Error{fmt.Errorf("%s: column %q: missing (present in %s); use --union-by-name to read it as NULL", name, in.cols[at].Name, firsts[at])}
		}
	}
}

func (in *arrowInput) Widen(map[int]int) {}

func (in *arrowInput) sizes() Description {
	d := Description{Files: len(in.files), Rows: in.rows, RowGroups: len(in.units)}
	for _, f := range in.files {
		d.Bytes += f.size
	}
	return d
}

// Close gives the memory of the indexes back, and closes the files.
func (in *arrowInput) Close() error {
	in.pool.Close()
	for _, f := range in.files {
		if f.File != nil {
			f.File.Close()
		}
	}
	return nil
}

func (in *arrowInput) Scan(o parquetio.ScanOptions) (Scan, error) {
	s := &arrowScan{in: in, cols: o.Columns, batchRows: o.BatchRows, on: map[*arrowFile]*projection{}}
	if s.batchRows == 0 {
		s.batchRows = defaultBatchRows
	}
	for _, c := range s.cols {
		if err := in.disagree[c]; err != nil {
			return nil, err
		}
	}
	for _, f := range in.files {
		s.on[f] = s.project(f)
	}
	for _, u := range in.units {
		rows := u.file.Rows(u.record)
		if (o.Sample == nil || o.Sample(u.first)) && (o.Part == nil || o.Part(u.first, rows, in.rows)) {
			s.units, s.rows = append(s.units, u), s.rows+rows
		}
	}
	return s, nil
}

// arrowScan is a scan of records that can be read again, by several readers at once.
type arrowScan struct {
	unknown
	in        *arrowInput
	cols      []int
	batchRows int
	on        map[*arrowFile]*projection
	units     []arrowUnit // those that are read
	rows      int64       // of them
}

func (s *arrowScan) RowGroups() int           { return len(s.units) }
func (s *arrowScan) Units() int               { return len(s.units) }
func (s *arrowScan) UnitBytes(unit int) int64 { u := &s.units[unit]; return u.file.Bytes(u.record) }
func (s *arrowScan) Rereadable() bool         { return true }

func (s *arrowScan) Facts() Facts {
	f := Facts{Rows: s.rows}
	for i := range s.units {
		f.Bytes += s.UnitBytes(i)
	}
	f.Plain = f.Bytes
	return f
}

// WorkerBytes takes values to have 16 bytes, beside the largest record, of which all is wanted.
func (s *arrowScan) WorkerBytes() int64 {
	most := int64(0)
	for i := range s.units {
		most = max(most, s.UnitBytes(i))
	}
	return most + 16*int64(s.batchRows)*int64(len(s.cols))
}

// Unchanged compares the files with what they were.
func (s *arrowScan) Unchanged() error {
	for _, f := range s.in.files {
		if err := f.src.Unchanged(); err != nil {
			return f.failure(err)
		}
	}
	return nil
}

// unknown is the part of a scan that nothing is known of.
type unknown struct{}

func (unknown) Observe(func(bytes, rows int64)) bool               { return false }
func (unknown) SkippedInside() (pages, rows int64)                 { return 0, 0 }
func (unknown) Split(int, int64)                                   {}
func (unknown) Ends(int) (least, most column.Value, ok bool)       { return least, most, false }
func (unknown) Filled(int) bool                                    { return false }
func (unknown) DictAll(int) bool                                   { return false }
func (unknown) DictEntries(int) int                                { return -1 }
func (unknown) DictBytes(int) int64                                { return -1 }
func (unknown) Int96(int) bool                                     { return false }
func (unknown) DictRepeats(int) (float64, bool)                    { return 0, false }
func (unknown) TextLength(int) (int, bool)                         { return 0, false }
func (unknown) Encoded(int) (t parquetio.EncodedType, ok bool)     { return t, false }
func (unknown) EncodedUnit(int) (u parquetio.EncodedUnit, ok bool) { return u, false }
