package device

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Case is something to time on the device.
type Case struct {
	Name    string
	Prepare func(*cuda.Stream) error // what has to happen before, outside the clock; may be nil
	Run     func(*cuda.Stream) error // what is timed
	After   func() error             // looks at the outcome once the device is done; may be nil
}

// Rounds runs every case once in each round, after one round that does not
// count, and returns the median microseconds of each between two events of its stream.
// A time has the cost of starting one kernel in it, some microseconds.
func (r *Rig) Rounds(rounds int, cases []Case) (microseconds []float64, err error) {
	c, err := r.newClock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	times := make([][]float64, len(cases))
	for round := range rounds + 1 {
		for i := range cases {
			t, err := c.time(&cases[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", cases[i].Name, err)
			}
			if round > 0 { // the first one warms up
				times[i] = append(times[i], t)
			}
		}
	}
	for _, t := range times {
		microseconds = append(microseconds, Median(t))
	}
	return microseconds, nil
}

// clock times work on a stream of its own.
type clock struct {
	stream     *cuda.Stream
	start, end *cuda.Event
}

func (r *Rig) newClock() (c clock, err error) {
	if c.stream, err = r.Thread.NewStream(); err != nil {
		return c, err
	}
	if c.start, err = r.Thread.NewEvent(); err == nil {
		c.end, err = r.Thread.NewEvent()
	}
	if err != nil {
		return c, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *clock) close() error {
	var err error
	for _, e := range []*cuda.Event{c.start, c.end} {
		if e != nil {
			err = errors.Join(err, e.Close())
		}
	}
	return errors.Join(err, c.stream.Close())
}

// time is the microseconds between the events around k.Run.
func (c *clock) time(k *Case) (float64, error) {
	if k.Prepare != nil {
		if err := k.Prepare(c.stream); err != nil {
			return 0, err
		}
	}
	if err := c.stream.Record(c.start); err != nil {
		return 0, err
	}
	if err := k.Run(c.stream); err != nil {
		return 0, err
	}
	if err := c.stream.Record(c.end); err != nil {
		return 0, err
	}
	if err := c.stream.Synchronize(); err != nil {
		return 0, err
	}
	d, err := c.end.Since(c.start)
	if err == nil && k.After != nil {
		err = k.After()
	}
	return float64(d) / 1e3, err
}
