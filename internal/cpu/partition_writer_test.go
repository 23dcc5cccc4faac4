package cpu

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
)

// writeRandom has a writer take rows with random hashes.
func writeRandom(p *PartitionWriter, rows int) error {
	random := rand.New(rand.NewPCG(1, 2))
	tile := make([]uint64, 1000*p.cfg.Stride)
	for range rows / 1000 {
		for at := 0; at < len(tile); at += p.cfg.Stride {
			tile[at] = random.Uint64()
		}
		if err := p.Write(tile); err != nil {
			return err
		}
	}
	return nil
}

// A writer that has reserved pages goes on, by way of the disk, when others have taken all memory;
// one that has not has nothing that it could put there.
func TestPartitionWriterReserves(t *testing.T) {
	for _, reserves := range []bool{true, false} {
		cfg := config(16, feedback.NoTables, nil)
		cfg.Threads = 2
		l, space := tight(t, cfg, 8<<20, cfg.Threads)
		p := cfg.run().NewPartitionWriter(0)
		if reserves {
			if err := p.Reserve(nil); err != nil || l.Reserved() != cfg.openPages() || l.Committed() != 0 {
				t.Fatalf("%v, %d bytes are reserved, %d committed", err, l.Reserved(), l.Committed())
			}
		}
		rest := l.Limit() - l.Reserved()
		if err := l.Draw(rest); err != nil {
			t.Fatal(err)
		}
		err := writeRandom(p, 100_000)
		if reserves != (err == nil) || err != nil && !refused(err) || reserves != (space.Written() > 0) {
			t.Errorf("reserves=%t: %v, %d bytes on disk", reserves, err, space.Written())
		}
		if held := l.Committed() - rest; held != p.store.pool.Bytes() {
			t.Errorf("%d bytes are said to be made of %d that are reserved, pages take %d", held, cfg.openPages(), p.store.pool.Bytes())
		}
		l.Release(rest)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What a writer reserves is a part of what was reserved for all, as long as there is as much.
func TestPartitionWriterReservesOfAll(t *testing.T) {
	cfg := config(16, feedback.NoTables, nil)
	cfg.Threads = 2
	l, _ := tight(t, cfg, 8<<20, cfg.Threads)
	all, err := cfg.run().Reserve(cfg.openPages())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{cfg.openPages(), 2 * cfg.openPages()} {
		p := cfg.run().NewPartitionWriter(0)
		if err := p.Reserve(all); err != nil || l.Reserved() != want {
			t.Errorf("%v, %d bytes are drawn, want %d", err, l.Reserved(), want)
		}
		defer func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	if all.Close(); l.Reserved() != 2*cfg.openPages() {
		t.Errorf("%d bytes are drawn once nothing is left for others", l.Reserved())
	}
}

// However much memory there is, a writer has no more than it may take.
func TestPartitionWriterShare(t *testing.T) {
	cfg := config(16, feedback.NoTables, nil)
	cfg.Threads = 8
	l, space := tight(t, cfg, 64<<20, cfg.Threads)
	most := cfg.Memory.Worker / 2
	p := cfg.run().NewPartitionWriter(most)
	if err := writeRandom(p, 200_000); err != nil {
		t.Fatal(err)
	}
	if l.Peak() > most+1<<20 || space.Written() == 0 {
		t.Errorf("%d bytes were held of %d, %d are on disk", l.Peak(), most, space.Written())
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// What a writer had reserved and not used is free once its rows are the groups'.
func TestPartitionWriterTaken(t *testing.T) {
	cfg := config(16, feedback.NoTables, nil)
	cfg.Threads = 2
	l, _ := tight(t, cfg, 8<<20, cfg.Threads)
	p := cfg.run().NewPartitionWriter(0)
	if err := errors.Join(p.Reserve(nil), writeRandom(p, 1000)); err != nil {
		t.Fatal(err)
	}
	var g Groups
	if err := g.Add(p); err != nil {
		t.Fatal(err)
	}
	if l.Reserved() != p.store.pool.Bytes() {
		t.Errorf("%d bytes are drawn, pages take %d", l.Reserved(), p.store.pool.Bytes())
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
