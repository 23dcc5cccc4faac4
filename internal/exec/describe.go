package exec

import (
	"context"
	"errors"

	"github.com/gagg-dev/gagg/internal/input"
)

// Describe tells the columns and sizes of what a source has.
func Describe(ctx context.Context, from input.Source, o Options) (d input.Description, err error) {
	defer func() { err = Classify(err) }()
	o = o.withDefaults()
	temp := o.openTemp(ctx)
	defer func() { err = errors.Join(err, temp.close()) }()
	in, err := from.Open(ctx, o.input(temp), nil)
	if err != nil {
		return d, err
	}
	return input.Describe(in), in.Close()
}
