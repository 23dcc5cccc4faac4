package firstpass_test

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/internal/bounded"
)

// readRetained reads retained rows, which may be none, chain by chain, from two goroutines, or has
// them drained, and closes what they are in.
func (p *passRig) readRetained(k *evict.Rows) (err error) {
	if k == nil {
		return nil
	}
	defer func() {
		err = errors.Join(err, k.Close(), k.Close())
		if n := uint64(len(p.retained) / p.config.Layout.Stride()); err == nil && n != k.Len() {
			err = fmt.Errorf("%d rows were retained, and %d taken", k.Len(), n)
		}
	}()
	var mu sync.Mutex
	add := func(_ int, rows []uint64) error {
		mu.Lock()
		defer mu.Unlock()
		p.retained = append(p.retained, rows...)
		return nil
	}
	if p.drain {
		return k.Drain(2, add)
	}
	errs := make(chan error, 2)
	for first := range uint64(2) {
		go func() { errs <- p.takeChains(k, first, add) }()
	}
	return bounded.Errors("goroutines that take retained rows", 2, errs)
}

// takeChains takes every other chain.
func (p *passRig) takeChains(k *evict.Rows, first uint64, add func(int, []uint64) error) error {
	bits, stride := k.Bits(), p.config.Layout.Stride()
	sizes := k.Sizes(bits)
	for chain := first; chain < 1<<bits; chain += 2 {
		rows := 0
		for _, s := range k.Spans(chain, bits) {
			for at := 0; at < len(s.Rows()); at += stride {
				if got := s.Rows()[at] >> 1 >> (63 - bits); got != chain {
					return fmt.Errorf("chain %d has a row of %d", chain, got)
				}
			}
			rows += len(s.Rows()) / stride
			if err := errors.Join(add(0, s.Rows()), s.Done()); err != nil {
				return err
			}
		}
		if uint64(rows) != sizes[chain] {
			return fmt.Errorf("chain %d has %d rows, not %d", chain, rows, sizes[chain])
		}
	}
	return nil
}
