package cpu

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// cancelling is a reader that cancels the run before it gives a batch.
type cancelling struct {
	batchReader
	cancel context.CancelFunc
}

func (r *cancelling) Next(b *column.Batch) (bool, error) {
	r.cancel()
	return r.batchReader.Next(b)
}

// F17: a run that is cancelled when a large dictionary comes by does not translate it to its end.
func TestCancelTranslation(t *testing.T) {
	t.Parallel()
	const entries = 100_000
	text := column.Type{Kind: column.String}
	dict, v := column.Vector{Type: text}, column.Vector{Type: text, Len: entries}
	for i := range entries {
		dict.Append(column.Value{Type: text, Bytes: fmt.Sprint("entry ", i)})
		v.Codes = append(v.Codes, int32(i))
	}
	v.Dict = &column.Dict{Values: dict}
	numbers := column.Vector{Type: int64Type, Len: entries, Int: make([]int64, entries)}
	in := batches{{Rows: entries, Cols: []column.Vector{v, numbers, numbers}}}
	for name, tile := range map[string]feedback.TableConfig{"table": {MinRows: 1 << 62}, "scatter": feedback.NoTables} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			interned := func(cancel context.CancelFunc) (int64, error) {
				cfg := configOf([]key.Column{{Type: text, Intern: true}, {Type: int64Type}}, 4, tile, noLimit)
				g, err := cfg.group(ctx, Input{
					Units: 1, Reader: func() Reader { return &cancelling{batchReader{all: in}, cancel} },
					Pipeline: func() Pipeline { return pipeline(false) }, Done: func(int, int64) {},
				}, 1)
				return cfg.Intern.Bytes(), errors.Join(err, g.Close())
			}
			all, err := interned(func() {})
			if err != nil {
				t.Fatal(err)
			}
			some, err := interned(cancel)
			if !errors.Is(err, context.Canceled) || some > all/2 {
				t.Errorf("error %v, %d bytes of entries are interned, of %d", err, some, all)
			}
		})
	}
}
