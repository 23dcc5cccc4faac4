package datagen

import (
	"sync"

	"github.com/parquet-go/parquet-go"
)

// writeRowGroups fills n row groups on up to workers goroutines and commits
// them to file in order. fill is called from several goroutines, for a
// different row group each. At most workers row groups are in memory.
func writeRowGroups(file *parquet.GenericWriter[any], n, workers int, fill func(g int, columns []*parquet.ColumnWriter) error) error {
	workers = min(workers, n)
	filled := make([]chan error, workers)
	committed := make([]chan struct{}, workers)
	groups := make([]*parquet.ConcurrentRowGroupWriter, workers)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range workers {
		filled[i] = make(chan error, 1)
		committed[i] = make(chan struct{}, 1)
		groups[i] = file.BeginRowGroup()
		wg.Go(func() {
			for g := i; g < n; g += workers {
				err := fill(g, groups[i].ColumnWriters())
				if err == nil {
					err = groups[i].Flush() // encodes and compresses
				}
				filled[i] <- err
				select {
				case <-committed[i]:
				case <-stop:
					return
				}
			}
		})
	}
	defer wg.Wait()
	defer close(stop)
	for g := range n {
		i := g % workers
		if err := <-filled[i]; err != nil {
			return err
		}
		if _, err := groups[i].Commit(); err != nil {
			return err
		}
		committed[i] <- struct{}{}
	}
	return nil
}
