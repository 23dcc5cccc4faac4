package parquetio

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/filepool"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file reads rows whose columns may lie in lists and maps, one value after the other: what
// formats of tables keep in Parquet beside their data. It is not made for many rows.

// Cell is a value of a text, binary, boolean or integer column.
type Cell struct {
	Set  bool // it is there: not NULL, and not an empty list
	Int  int64
	Text string
}

// recordBatch is how many values are read at once.
const recordBatch = 1024

// ReadRecords reads all rows of a file. wanted is asked about the path of each column; each gets
// the values of those wanted in a row, by path: one for a column outside lists, and else one for
// each element. It must not keep the slices. The error is an *Error or that of each.
func ReadRecords(ctx context.Context, in Input, lim Limits, wanted func(path []string) (name string, ok bool), each func(row map[string][]Cell) error) (err error) {
	defer invariant.Fence(&err, damagedIn(in.Name))
	var pool filepool.Pool
	defer pool.Close()
	src := pool.File(in.Path)
	if in.Reader != nil {
		src = pool.Reader(in.Reader)
	}
	f, err := openInput(src, in, lim)
	if err != nil {
		return err
	}
	defer f.metadata.close()
	work := newWorkspace(lim.Budget, recordBatch)
	defer work.close()
	row := map[string][]Cell{}
	for g := range f.groups {
		r := recordGroup{f: f, mem: account{from: lim.Budget}}
		err := r.read(ctx, g, work, wanted)
		if err == nil {
			err = r.visit(g, row, each)
		}
		r.mem.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// recordGroup is the wanted columns of a row group.
type recordGroup struct {
	f     *file
	names []string
	cells [][]Cell  // by column
	ends  [][]int32 // by column, by row: where its cells end
	mem   account
}

func (r *recordGroup) read(ctx context.Context, group int, work *workspace, wanted func(path []string) (string, bool)) error {
	for k := range r.f.leaves {
		l := &r.f.leaves[k]
		name, ok := wanted(l.path)
		if !ok {
			continue
		}
		// this reader takes elements as they come
		if l.maxRep > 0 && l.element.Kind != column.Invalid {
			l.typ, l.err = l.element, nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c, err := newColumnReader(r.f, k, l.typ, work)
		if err != nil {
			return err
		}
		cells, ends, err := r.column(c, group)
		c.close()
		if err != nil {
			return err
		}
		r.names, r.cells, r.ends = append(r.names, name), append(r.cells, cells), append(r.ends, ends)
	}
	return nil
}

// column reads a column: its cells, and where those of each row end.
func (r *recordGroup) column(c *columnReader, group int) (cells []Cell, ends []int32, err error) {
	if c.leaf.maxRep > 0 {
		c.repeats = &levels{max: int32(c.leaf.maxRep)}
	}
	if err := c.open(group); err != nil {
		return nil, nil, err
	}
	rows := c.rows
	c.rows = c.metadata().NumValues
	var v column.Vector
	for {
		n, err := c.available()
		if n == 0 || err != nil {
			if err == nil && int64(len(ends)) != rows {
				err = r.f.groupError(group, fmt.Errorf("damaged: %d rows of %s where there are %d", len(ends), c.leaf.name, rows))
			}
			return cells, ends, err
		}
		n = min(n, recordBatch)
		if err := c.read(&v, n); err != nil {
			return nil, nil, err
		}
		size := int64(n) * int64(unsafe.Sizeof(Cell{})+unsafe.Sizeof(int32(0)))
		if v.Type.Rep() == column.RepBytes {
			for i := range n {
				if !v.IsNull(i) {
					size += int64(len(v.Bytes(i)))
				}
			}
		}
		if err := r.mem.draw(size, "a row group of a log"); err != nil {
			return nil, nil, &Error{File: r.f.name, RowGroup: group, Column: c.leaf.name, Err: err}
		}
		repeats, err := c.repeats.raw(n)
		if err != nil {
			return nil, nil, &Error{File: r.f.name, RowGroup: group, Column: c.leaf.name, Err: err}
		}
		for i := range n {
			var cell Cell
			if !v.IsNull(i) {
				x := v.At(i)
				cell = Cell{Set: true, Int: x.Int, Text: x.Bytes}
			}
			cells = append(cells, cell)
			switch {
			case repeats == nil || repeats[i] == 0:
				ends = append(ends, int32(len(cells)))
			case len(ends) == 0:
				return nil, nil, r.f.groupError(group, errors.New("damaged: a list goes on where none has begun"))
			default:
				ends[len(ends)-1]++
			}
		}
	}
}

// raw is the next n levels as they are; nil: there are none.
func (l *levels) raw(n int) ([]int32, error) {
	if l == nil || l.mode == levelsNone {
		return nil, nil
	}
	l.buf = grown(l.buf, n)
	if l.mode == levelsLegacy {
		l.readLegacy(l.buf)
		return l.buf, nil
	}
	err := l.runs.read(l.buf)
	if err != nil {
		err = fmt.Errorf("damaged repetition levels: %w", err)
	}
	return l.buf, err
}

// visit calls each with the rows.
func (r *recordGroup) visit(group int, row map[string][]Cell, each func(row map[string][]Cell) error) error {
	for n := range r.f.groups[group].rows {
		for i, name := range r.names {
			from := int32(0)
			if n > 0 {
				from = r.ends[i][n-1]
			}
			row[name] = r.cells[i][from:r.ends[i][n]]
		}
		if len(r.names) == 0 {
			return nil
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}
