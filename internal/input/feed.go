package input

import (
	"context"
	"iter"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// A feed gives records one after the other, each for the caller to release; nil at the end. It
// returns when the context of the run ends, whatever the source does.
type feed struct {
	next  func() (arrow.Record, error)
	close func() // the rest is not wanted
}

// fromReader is the records of a reader that returns when the run's context ends.
func fromReader(r array.RecordReader) feed {
	return feed{func() (arrow.Record, error) {
		if !r.Next() {
			return nil, r.Err()
		}
		rec := r.Record()
		rec.Retain()
		return rec, nil
	}, func() {}}
}

// fromChannel is the records that come out of a channel, whose they are not any more.
func fromChannel(ctx context.Context, records <-chan arrow.Record) feed {
	return feed{func() (arrow.Record, error) {
		select {
		case rec := <-records: // nil: it is closed
			return rec, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}, func() {}}
}

// closeGrace is how long a run waits for a source that it wants no more of.
const closeGrace = 100 * time.Millisecond

// pumped is the records of an iterator. It runs in a goroutine of its own, one record ahead, since
// nothing else ends the wait for one that never yields: that goroutine is left behind then.
func pumped(ctx context.Context, records iter.Seq2[arrow.Record, error]) feed {
	type item struct {
		rec arrow.Record
		err error
	}
	out, ended := make(chan item), make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	begun := false
	begin := func() {
		begun = true
		go func() {
			defer close(ended)
			send := func(i item) bool {
				select {
				case out <- i:
					return true
				case <-ctx.Done():
				}
				if i.rec != nil {
					i.rec.Release()
				}
				return false
			}
			if err := sendAll(records, func(rec arrow.Record, err error) bool { return send(item{rec, err}) }); err != nil {
				send(item{err: err})
			}
		}()
	}
	next := func() (arrow.Record, error) {
		if !begun {
			begin()
		}
		select {
		case i := <-out:
			return i.rec, i.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return feed{next, func() {
		cancel()
		if !begun {
			return
		}
		select {
		case <-ended:
		case <-time.After(closeGrace):
		}
	}}
}

// sendAll sends what an iterator yields, and nil at its end, until an error was sent or nobody
// wants more. The error is what the iterator panicked with.
func sendAll(records iter.Seq2[arrow.Record, error], send func(arrow.Record, error) bool) (panicked error) {
	defer invariant.Fence(&panicked, invariant.Foreign)
	for rec, err := range records {
		if err != nil {
			rec = nil
		} else if rec != nil {
			rec.Retain()
		}
		if !send(rec, err) || err != nil {
			return nil
		}
	}
	send(nil, nil)
	return nil
}

// recordsOf is a reader as an iterator, which holds the reader while it runs.
func recordsOf(r array.RecordReader) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		r.Retain()
		defer r.Release()
		for r.Next() {
			if !yield(r.Record(), nil) {
				return
			}
		}
		if err := r.Err(); err != nil {
			yield(nil, err)
		}
	}
}
