package cuda

import "context"

// Starting is a context on its way: opening the driver and taking a device last
// 0.3 s on an H200, in which the CPU has better things to do.
type Starting struct {
	done    chan struct{}
	context *Context
	err     error
}

// Start begins to open the driver and to take a device, in the background. Whoever
// calls it calls Close in the end.
func Start(ordinal int) *Starting {
	s := &Starting{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		driver, err := Open()
		if err != nil {
			s.err = err
			return
		}
		s.context, s.err = driver.Context(ordinal)
	}()
	return s
}

// Wait returns the context when it is there, or why there is none. It may be
// called often. When ctx ends first its error is returned, and the start goes
// on: the driver cannot be stopped.
func (s *Starting) Wait(ctx context.Context) (*Context, error) {
	select {
	case <-s.done:
		return s.context, s.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close waits for the start to end and closes the context, if there is one. See
// Context.Close.
func (s *Starting) Close() error {
	<-s.done
	if s.context == nil {
		return nil
	}
	return s.context.Close()
}
