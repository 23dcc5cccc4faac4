package gagg

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// GPUs is devices that are kept open, so that runs need not wait for them: opening
// the driver and a device takes 0.2 s. Runs find them by Options.GPUs.
type GPUs struct {
	numbers  []int
	contexts []*cuda.Context
}

// OpenGPUs opens devices: "gpu" is the first usable one, numbers such as "0,1" are those. The
// caller closes them after the last run that was given them. Errors: ErrUsage, ErrDevice, and that of
// ctx, should it end first.
func OpenGPUs(ctx context.Context, device string) (*GPUs, error) {
	d, err := parseDevice(device)
	if err != nil || !d.required() {
		return nil, usagef("open GPUs: device %q: want gpu, or device numbers such as 0,1", device)
	}
	type opened struct {
		g   *GPUs
		err error
	}
	done := make(chan opened, 1)
	go func() {
		g, err := d.open()
		done <- opened{g, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, d.refused(o.err)
		}
		return o.g, nil
	case <-ctx.Done():
		go func() {
			if o := <-done; o.g != nil {
				_ = o.g.Close() // nobody is left to tell
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// open opens the devices of a demand, all at the same time.
func (d demand) open() (*GPUs, error) {
	driver, numbers, err := d.find()
	if err != nil {
		return nil, err
	}
	g := &GPUs{numbers: numbers, contexts: make([]*cuda.Context, len(numbers))}
	errs := make([]error, len(numbers))
	var all sync.WaitGroup
	for i, n := range numbers {
		all.Go(func() { g.contexts[i], errs[i] = driver.Context(n) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		g.contexts = slices.DeleteFunc(g.contexts, func(c *cuda.Context) bool { return c == nil })
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// contexts opens the devices of a demand for a run of their own.
func (d demand) contexts() ([]*cuda.Context, error) {
	g, err := d.open()
	if err != nil {
		return nil, err
	}
	return g.contexts, nil
}

// keeps reports whether all devices of a demand are among them.
func (g *GPUs) keeps(d demand) bool {
	if g == nil || len(g.contexts) == 0 {
		return false
	}
	for _, n := range d.numbers {
		if !slices.Contains(g.numbers, n) {
			return false
		}
	}
	return true
}

// Close lets go of the devices. A second call does nothing.
func (g *GPUs) Close() error {
	var errs []error
	for _, c := range g.contexts {
		errs = append(errs, c.Close())
	}
	g.contexts = nil
	return errors.Join(errs...)
}
