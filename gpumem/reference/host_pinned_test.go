package reference_test

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Pages of pinned memory go to the device and back; where pinning is refused
// (F73) the pool is made of pageable memory, and nothing else changes.
func TestHostPoolOfPinnedMemory(t *testing.T) {
	const pageBytes, pages = 4096, 16
	thread := gputest.Open(t)
	memory := make([]byte, pages*pageBytes)
	pinned, err := thread.AllocPinned(pages * pageBytes)
	switch {
	case err == nil:
		defer pinned.Close()
		memory = pinned.Bytes()
	case !errors.Is(err, cuda.ErrOutOfMemory):
		t.Fatal(err)
	}
	p, err := reference.NewHostPool(memory, reference.HostConfig{PageBytes: pageBytes})
	if err != nil {
		t.Fatal(err)
	}
	device, err := thread.Alloc(pageBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	w := p.Walker()
	from, _ := w.Get()
	to, _ := w.Get()
	for i := range p.Page(from) {
		p.Page(from)[i] = byte(i)
	}
	if err := errors.Join(thread.Write(device.Span(), p.Page(from)), thread.Read(p.Page(to), device.Span())); err != nil {
		t.Fatal(err)
	}
	if got, want := string(p.Page(to)), string(p.Page(from)); got != want {
		t.Error("a page comes back from the device with other content")
	}
}
