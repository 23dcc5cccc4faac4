package streams_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/streams"
)

// slowHost is a budget that grants two slots, and more of them only later.
func slowHost(config *streams.Config, later <-chan struct{}) {
	config.OutBytes = config.SlotBytes + 8 // unlike a slot
	var slots atomic.Int64
	config.Host = budgettest.Lender(func(bytes int64) error {
		if bytes != int64(config.SlotBytes) || slots.Add(1) <= 2 {
			return nil
		}
		select {
		case <-later:
			return nil
		case <-time.After(20 * time.Second):
			return errors.New("nothing goes on before all slots are there")
		}
	})
}

// Producers begin with two slots while the others are pinned, and get these, too.
func TestSlotsFollow(t *testing.T) {
	r := newRig(t)
	later := make(chan struct{})
	config := small()
	slowHost(&config, later)
	p, err := streams.Start(within(t, "the end of a pipeline"), r.context, config)
	must(t, err)
	var taken []*streams.Slot
	for range config.Slots {
		s, err := p.Slot()
		must(t, err)
		if taken = append(taken, s); len(taken) == 2 {
			close(later)
		}
	}
	for _, s := range taken {
		p.Release(s)
	}
	must(t, p.Finish())
	if s := p.Stats(); s.Slots != config.Slots || len(s.Refused) > 0 {
		t.Errorf("%+v", s)
	}
	must(t, p.Close())
}

// A pipeline that stops pins no more than it has begun to, and frees that.
func TestSlotsStop(t *testing.T) {
	r := newRig(t)
	later := make(chan struct{})
	config := small()
	config.Slots = 12
	slowHost(&config, later)
	ctx, cancel := context.WithCancel(context.Background())
	p, err := streams.Start(ctx, r.context, config)
	must(t, err)
	for range 2 {
		_, err := p.Slot()
		must(t, err)
	}
	cancel()
	if _, err := p.Slot(); !errors.Is(err, streams.ErrStopped) {
		t.Errorf("%v", err)
	}
	close(later)
	must(t, p.Close())
	if s := p.Stats(); s.Slots > 2+4 { // as many as are pinned at a time
		t.Errorf("%+v", s)
	}
}
