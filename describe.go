package gagg

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Description is what an input holds.
type Description struct {
	Columns   []ColumnDescription `json:"columns"`
	Files     int                 `json:"files"`
	Rows      int64               `json:"rows"` // -1: not known
	RowGroups int                 `json:"row_groups"`
	Bytes     int64               `json:"bytes"` // size of the files
}

// ColumnDescription is a column of an input.
type ColumnDescription struct {
	Name string `json:"name"`
	Type string `json:"type"`            // "" if the column cannot be read
	Err  string `json:"error,omitempty"` // why it cannot be read
}

// Describe tells the columns and sizes of an input.
func Describe(ctx context.Context, src Source, o Options) (_ *Description, err error) {
	defer func() { err = classify(err) }()
	in, err := src.open(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	d := in.describe()
	for i, f := range in.Schema().Fields {
		c := ColumnDescription{Name: f.Name, Type: f.Type.String()}
		if f.Type.Kind == column.Invalid {
			c.Type, c.Err = "", "not supported"
			if _, err := in.Find(fmt.Sprintf("#%d", i+1)); err != nil {
				c.Err = cause(err)
			}
		}
		d.Columns = append(d.Columns, c)
	}
	return &d, errors.Join(in.Close())
}

// cause is why a column cannot be read, without its name.
func cause(err error) string {
	var c *parquetio.ColumnError
	if errors.As(err, &c) && c.Err != nil {
		return c.Err.Error()
	}
	return err.Error()
}
