package filepool

import (
	"errors"
	"sync"
)

// opening is how many files are opened at once.
const opening = 16

// Each calls do for so many files by their numbers, several at a time, and joins the errors.
func Each(n int, do func(i int) error) error {
	errs := make([]error, n)
	tickets := make(chan struct{}, opening)
	var wait sync.WaitGroup
	for i := range n {
		tickets <- struct{}{}
		wait.Go(func() {
			errs[i] = do(i)
			<-tickets
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}
