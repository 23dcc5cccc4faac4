package gpu

import (
	"errors"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/encoded"
)

// A builder has memory from Begin on until it submits or releases it, and none where a tile is too
// small for any batch.
func TestBuilder(t *testing.T) {
	d, drawn := decodingDevices(t)
	d.early.most = 4096
	b := d.NewBuilder(tenRows{}, nil)
	begin := func(want bool) {
		t.Helper()
		if ok, err := b.Begin(); ok != want || err != nil {
			t.Fatalf("a batch begins: %t, %v", ok, err)
		}
	}
	d.opened = make(chan struct{})
	begin(true)
	if drawn.Reserved() != 4096 {
		t.Errorf("%d bytes are drawn for a batch", drawn.Reserved())
	}
	if b.Release(); drawn.Reserved() != 0 {
		t.Errorf("%d bytes are drawn for a batch that was released", drawn.Reserved())
	}
	begin(true)
	for unit := range 2 {
		if rows, added, err := b.Add(unit); rows != 10 || added != encoded.AddedUnit || err != nil {
			t.Fatalf("unit %d: %d rows, %v, %v", unit, rows, added, err)
		}
	}
	if err := b.Submit(); err != nil || !d.early.any() {
		t.Errorf("%v, submitted: %t", err, d.early.any())
	}
	d.early.fail()
	d.err = errors.New("no device")
	close(d.opened)
	begin(false)
	if got := allDeclined(t, d); !slices.Equal(got, []int{0, 1}) || drawn.Reserved() != 0 {
		t.Errorf("units %v were declined, %d bytes are drawn", got, drawn.Reserved())
	}
	small := &smallTile{}
	d.config.Tiles = func() (BatchTile, error) { return small, nil }
	if begin(false); small.released != 1 {
		t.Errorf("a tile that is too small was released %d times", small.released)
	}
}

// smallTile is memory for no batch.
type smallTile struct {
	BatchTile
	released int
}

func (t *smallTile) Bytes() []byte { return make([]byte, 100) }
func (t *smallTile) Release()      { t.released++ }
