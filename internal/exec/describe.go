package exec

import (
	"context"
	"errors"

	"github.com/gagg-dev/gagg/internal/input"
)

// Describe returns the columns and sizes of a source.
func Describe(ctx context.Context, from input.Source, o Options) (d input.Description, err error) {
	err = o.withInput(ctx, from, 0, func(in input.Input) error {
		d = input.Describe(in)
		return nil
	})
	return d, err
}

// withInput opens a source for the time of do, without a query. Batches have at most
// batchRows rows; 0: as many as is chosen.
func (o Options) withInput(ctx context.Context, from input.Source, batchRows int, do func(input.Input) error) (err error) {
	defer func() { err = Classify(err) }()
	o = o.withDefaults()
	temp := o.openTemp(ctx)
	defer func() { err = errors.Join(err, temp.close()) }()
	opening := o.input(temp)
	opening.BatchRows = batchRows
	in, err := from.Open(ctx, opening, nil)
	if err != nil {
		return err
	}
	return errors.Join(do(in), in.Close())
}
