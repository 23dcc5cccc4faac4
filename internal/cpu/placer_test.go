package cpu

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
)

// placeRandom has a placer take rows with random hashes.
func placeRandom(p *Placer, rows int) error {
	random := rand.New(rand.NewPCG(1, 2))
	tile := make([]uint64, 1000*p.cfg.Stride)
	for range rows / 1000 {
		for at := 0; at < len(tile); at += p.cfg.Stride {
			tile[at] = random.Uint64()
		}
		if err := p.Place(tile); err != nil {
			return err
		}
	}
	return nil
}

// A placer that has reserved pages goes on, by way of the disk, when others have taken all memory; one that has not
// has nothing that it could put there.
func TestPlacerReserves(t *testing.T) {
	for _, reserves := range []bool{true, false} {
		cfg := config(16, feedback.NoTiles, nil)
		cfg.Threads = 2
		l, space := tight(t, cfg, 8<<20, cfg.Threads)
		p := NewPlacer(cfg)
		if reserves {
			if err := p.Reserve(); err != nil {
				t.Fatal(err)
			}
		}
		rest := l.limit - l.used
		if err := l.grow(rest); err != nil {
			t.Fatal(err)
		}
		err := placeRandom(p, 100_000)
		var refused *RefusedError
		if reserves != (err == nil) || err != nil && !errors.As(err, &refused) || reserves != (space.Written() > 0) {
			t.Errorf("reserves=%t: %v, %d bytes on disk", reserves, err, space.Written())
		}
		_ = l.grow(-rest)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// However much memory there is, a placer has no more than half of what a worker may take.
func TestPlacerShare(t *testing.T) {
	cfg := config(16, feedback.NoTiles, nil)
	cfg.Threads = 8
	l, space := tight(t, cfg, 64<<20, cfg.Threads)
	p := NewPlacer(cfg)
	if err := placeRandom(p, 200_000); err != nil {
		t.Fatal(err)
	}
	if l.max > cfg.Memory.Worker/2+1<<20 || space.Written() == 0 {
		t.Errorf("%d bytes were held of %d, %d are on disk", l.max, cfg.Memory.Worker/2, space.Written())
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
