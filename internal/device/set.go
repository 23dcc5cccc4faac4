package device

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Set is devices that are open.
type Set struct {
	numbers  []int
	contexts []*cuda.Context
}

// Open opens the devices of a specification, or refuses it, and keeps there what runs make and free
// again (cuda.Context.KeepSpares). The caller closes the set. When ctx ends first its error is
// returned, and what is opened later is closed.
func Open(ctx context.Context, d Spec) (*Set, error) {
	return await(ctx, func() (*Set, error) {
		s, err := d.open()
		if err != nil {
			return nil, d.Refused(err)
		}
		for _, c := range s.contexts {
			c.KeepSpares()
		}
		return s, nil
	}, func(s *Set) { _ = s.Close() }) // nobody is left to tell
}

// Find opens the driver, which takes 0.1 s on a machine with GPUs, and picks the devices to use. It
// returns early when ctx ends.
func Find(ctx context.Context, d Spec) ([]int, error) {
	return await(ctx, func() ([]int, error) {
		_, numbers, err := d.find()
		return numbers, err
	}, func([]int) {})
}

// await calls a function of the driver, which nobody can interrupt. When ctx ends first, its cause
// is returned, and late gets what comes of the call afterwards.
func await[T any](ctx context.Context, call func() (T, error), late func(T)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := call()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				late(o.value)
			}
		}()
		var none T
		return none, context.Cause(ctx)
	}
}

// find opens the driver and picks devices.
func (d Spec) find() (*cuda.Driver, []int, error) {
	driver, err := cuda.Open()
	if err != nil {
		return nil, nil, err
	}
	devices, err := driver.Devices()
	if err != nil {
		return nil, nil, err
	}
	numbers, err := d.pick(devices)
	return driver, numbers, err
}

// open opens the devices of a specification, all at the same time.
func (d Spec) open() (*Set, error) {
	driver, numbers, err := d.find()
	if err != nil {
		return nil, err
	}
	s := &Set{numbers: numbers, contexts: make([]*cuda.Context, len(numbers))}
	errs := make([]error, len(numbers))
	var all sync.WaitGroup
	for i, n := range numbers {
		all.Go(func() { s.contexts[i], errs[i] = driver.Context(n) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		s.contexts = slices.DeleteFunc(s.contexts, func(c *cuda.Context) bool { return c == nil })
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Contexts opens the devices of a specification for a run of their own.
func (d Spec) Contexts() ([]*cuda.Context, error) {
	s, err := d.open()
	if err != nil {
		return nil, err
	}
	return s.contexts, nil
}

// Begin begins to open devices that were asked for, before anybody needs them: the driver takes its
// time, all the more when workers are busy. done is called when the run has them itself, or never
// will; leave: the process is about to end, and they are left to the driver.
func (d Spec) Begin(leave bool) (done func()) {
	opened := make(chan *Set, 1)
	go func() {
		s, _ := d.open() // the run will tell why not
		opened <- s
	}()
	return func() {
		if leave {
			return
		}
		go func() {
			if s := <-opened; s != nil {
				_ = s.Close() // nobody is left to tell
			}
		}()
	}
}

// Keeps reports whether all devices of a specification are among them.
func (s *Set) Keeps(d Spec) bool {
	if s == nil || len(s.contexts) == 0 {
		return false
	}
	for _, n := range d.Numbers {
		if !slices.Contains(s.numbers, n) {
			return false
		}
	}
	return true
}

// Prefer is a specification that finds a device of the set where it does not name others.
func (s *Set) Prefer(d Spec) Spec {
	if s != nil && len(s.contexts) > 0 {
		d.Kept = s.numbers
	}
	return d
}

// Close lets go of the devices. A second call does nothing.
func (s *Set) Close() error {
	var errs []error
	for _, c := range s.contexts {
		errs = append(errs, c.Close())
	}
	s.contexts = nil
	return errors.Join(errs...)
}
