package spill

import "testing"

// Listed is told of the lists of blocks: while a block is on disk, and while its hole is there to
// be used again, but not once it is forgotten.
func TestListed(t *testing.T) {
	t.Parallel()
	told := int64(0)
	s := openSpace(t, Config{Listed: func(bytes int64) { told += bytes }})
	f, other := openFile(t, s), openFile(t, s)
	want := func(step string, blocks int64) {
		t.Helper()
		if told != blocks*listedBytes {
			t.Errorf("%s: %d bytes, want %d blocks", step, told, blocks)
		}
	}
	var extents []Extent
	for range 3 {
		e, err := f.Append(behind("hex", 3*fsBlock), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		extents = append(extents, e)
	}
	small, err := other.Append([]byte("small"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	want("written", 4)
	other.Free(small)
	want("one that leaves no hole is freed", 3)
	f.Free(extents[0])
	want("another is freed", 3)
	s.reclaim()
	want("its hole is given back", 2)
	f.Free(extents[1])
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want("closed", 0)
	f.Free(extents[2])
	want("freed too late", 0)
}
