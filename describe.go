package gagg

import (
	"context"
	"errors"
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
	Type string `json:"type"`
}

// Describe tells the columns and sizes of an input.
func Describe(ctx context.Context, src Source, o Options) (_ *Description, err error) {
	defer func() { err = classify(err) }()
	in, err := src.open(ctx, o)
	if err != nil {
		return nil, err
	}
	d := in.describe()
	for _, f := range in.schema().Fields {
		d.Columns = append(d.Columns, ColumnDescription{f.Name, f.Type.String()})
	}
	return &d, errors.Join(in.Close())
}
