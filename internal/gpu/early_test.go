package gpu

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// Batches wait for devices in memory of the host, within its limit. Where no device comes they are
// declined, those that are submitted later too, and all memory is given back.
func TestEarlyBatches(t *testing.T) {
	d, drawn := decodingDevices(t)
	d.early.most = 3*4096 + 100
	var tiles []*earlyTile
	for tile := d.earlyTile(); tile != nil; tile = d.earlyTile() {
		tiles = append(tiles, tile)
	}
	if len(tiles) != 3 || drawn.Reserved() != 3*4096 {
		t.Fatalf("%d tiles, %d bytes", len(tiles), drawn.Reserved())
	}
	submit := func(i int, units ...int) {
		if err := tiles[i].SubmitBatch(batchOf(t, d, tiles[i].Bytes(), units...)); err != nil {
			t.Error(err)
		}
	}
	submit(0, 1, 2)
	tiles[1].Release()
	if drawn.Reserved() != 2*4096 || !d.early.any() {
		t.Errorf("%d bytes, tiles: %v", drawn.Reserved(), d.early.any())
	}
	d.early.fail()
	submit(2, 3)
	if got := allDeclined(t, d); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("units %v were declined", got)
	}
	if s := d.Batches(); s.Declined[noDevice] != 3 || s.Batches != 0 {
		t.Errorf("%+v", s)
	}
	if drawn.Reserved() != 0 || d.early.held != 0 || d.early.any() {
		t.Errorf("%d bytes are drawn, %d are held", drawn.Reserved(), d.early.held)
	}
	if d.earlyTile() != nil {
		t.Error("a tile for a device that never comes")
	}
}

// When enough batches wait for devices a worker waits too: until the devices are there or will not
// be, or the run ends.
func TestEarlyEnough(t *testing.T) {
	for _, ends := range []string{"no device", "the run ends"} {
		d, drawn := decodingDevices(t)
		d.early.most, d.opened = 4096, make(chan struct{})
		first, err := d.batchTile()
		if first == nil || err != nil {
			t.Fatalf("%v, %v", first, err)
		}
		second := make(chan error)
		go func() {
			tile, err := d.batchTile()
			if tile != nil {
				t.Errorf("%s: a tile", ends)
			}
			second <- err
		}()
		select {
		case <-second:
			t.Errorf("%s: a worker does not wait", ends)
		case <-time.After(10 * time.Millisecond):
		}
		var want error
		if ends == "no device" {
			d.early.fail()
			d.err = errors.New(ends)
			close(d.opened)
		} else {
			want = context.Canceled
			d.stop()
		}
		if err := <-second; !errors.Is(err, want) {
			t.Errorf("%s: %v", ends, err)
		}
		if first.Release(); drawn.Reserved() != 0 {
			t.Errorf("%s: %d bytes are drawn", ends, drawn.Reserved())
		}
	}
}

// Rows and batches that nobody has taken are freed in the end.
func TestEarlyClosed(t *testing.T) {
	d, drawn := decodingDevices(t)
	d.early.most = 1 << 20
	rows, batch := d.earlyTile(), d.earlyTile()
	if err := rows.Submit(1); err != nil {
		t.Fatal(err)
	}
	if err := batch.SubmitBatch(batchOf(t, d, batch.Bytes(), 5)); err != nil {
		t.Fatal(err)
	}
	d.early.close()
	if drawn.Reserved() != 0 || d.early.any() {
		t.Errorf("%d bytes are drawn", drawn.Reserved())
	}
}
