package input

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Description is what an input holds.
type Description struct {
	Columns   []Column
	Files     int
	Rows      int64 // -1: not known
	RowGroups int
	Bytes     int64  // size of the files
	States    string // the query whose states they are; "": they are none
}

// Column is a column of an input.
type Column struct {
	Name string
	Type string // "" if the column cannot be read
	Err  string // why it cannot be read
}

// Describe tells the columns and sizes of an input.
func Describe(in Input) Description {
	d := in.sizes()
	d.States = StatesOf(in)
	for i, f := range in.Schema().Fields {
		c := Column{Name: f.Name, Type: f.Type.String()}
		if f.Type.Kind == column.Invalid {
			c.Type, c.Err = "", "not supported"
			if _, err := in.Find(fmt.Sprintf("#%d", i+1)); err != nil {
				c.Err = cause(err)
			}
		}
		d.Columns = append(d.Columns, c)
	}
	return d
}

// cause is why a column cannot be read, without its name.
func cause(err error) string {
	var c *parquetio.ColumnError
	if errors.As(err, &c) && c.Err != nil {
		return c.Err.Error()
	}
	return err.Error()
}
