package spill

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

// threeBlocks writes blocks of the same size, packed, and returns them.
func threeBlocks(t *testing.T, f *File) (blocks [][]byte, extents []Extent) {
	t.Helper()
	for i := range 3 {
		block := bytes.Repeat([]byte{byte(i), 0, 0, 0, 0, 0, 0, 0}, 40)
		block[8] = 0xff // so that a bit is packed
		e, err := f.Append(block, 20, 2)
		if err != nil {
			t.Fatal(err)
		}
		blocks, extents = append(blocks, block), append(extents, e)
	}
	if extents[0].Stored >= extents[0].Raw {
		t.Fatal("the blocks are not packed")
	}
	return blocks, extents
}

func wantDamaged(t *testing.T, f *File, e Extent, what string) {
	t.Helper()
	got, err := f.Read(e, nil)
	var damaged *DamagedError
	if !errors.As(err, &damaged) || got != nil {
		t.Fatalf("%s: %d bytes, %v", what, len(got), err)
	}
	if errors.Is(err, ErrExhausted) || errors.Is(err, ErrUsage) {
		t.Fatalf("%s: the wrong kind: %v", what, err)
	}
}

// fileBytes reads the whole file behind the checks.
func fileBytes(t *testing.T, f *File) []byte {
	t.Helper()
	b := make([]byte, f.end)
	if _, err := f.handle.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

func overwrite(t *testing.T, f *File, b []byte, off int64) {
	t.Helper()
	if _, err := f.handle.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
}

// F4: any single byte that is not as it was written is found, in packed
// blocks and in those that are stored as they are.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	f := openFile(t, openSpace(t, Config{}))
	_, extents := threeBlocks(t, f)
	e, err := f.Append([]byte("as it is"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	extents = append(extents, e)
	whole := fileBytes(t, f)
	for i, b := range whole {
		for _, flip := range []byte{1, 0x80, 0xff} {
			overwrite(t, f, []byte{b ^ flip}, int64(i))
			for _, e := range extents {
				if e.Off <= int64(i) && int64(i) < e.Off+int64(e.Stored) {
					wantDamaged(t, f, e, "flipped")
				} else if _, err := f.Read(e, nil); err != nil {
					t.Fatalf("byte %d flipped, block at %d: %v", i, e.Off, err)
				}
			}
		}
		overwrite(t, f, []byte{b}, int64(i))
	}
}

// The number of the block is in the message where the header is whole.
func TestDamagedMessage(t *testing.T) {
	t.Parallel()
	s := openSpace(t, Config{})
	f := openFile(t, s)
	_, extents := threeBlocks(t, f)
	overwrite(t, f, []byte{0xaa}, extents[1].Off+int64(extents[1].Stored)-1)
	_, err := f.Read(extents[1], nil)
	want := "spill block 1 damaged (checksum); check the disk of temp folder " + s.Dir() + " or give another --temp-dir"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// F4: whole blocks in the place of others are found: of the same file, of
// another file of the space, of another run.
func TestSwappedBlocks(t *testing.T) {
	t.Parallel()
	s := openSpace(t, Config{})
	f, g := openFile(t, s), openFile(t, s)
	h := openFile(t, openSpace(t, Config{}))
	_, extents := threeBlocks(t, f)
	threeBlocks(t, g)
	threeBlocks(t, h)
	mine, others, foreign := fileBytes(t, f), fileBytes(t, g), fileBytes(t, h)
	e0, e1 := extents[0], extents[1]
	overwrite(t, f, mine[e1.Off:e1.Off+int64(e1.Stored)], e0.Off)
	overwrite(t, f, mine[e0.Off:e0.Off+int64(e0.Stored)], e1.Off)
	wantDamaged(t, f, e0, "swapped")
	wantDamaged(t, f, e1, "swapped")
	overwrite(t, f, others, 0)
	wantDamaged(t, f, e0, "of another file")
	overwrite(t, f, foreign, 0)
	wantDamaged(t, f, e0, "of another run")
	overwrite(t, f, mine, 0)
	if _, err := f.Read(e0, nil); err != nil {
		t.Errorf("as it was: %v", err)
	}
}

// F4: a file that ends too early, and extents that are none.
func TestTruncated(t *testing.T) {
	t.Parallel()
	f := openFile(t, openSpace(t, Config{}))
	_, extents := threeBlocks(t, f)
	last := extents[2]
	for n := last.Off + int64(last.Stored) - 1; n >= last.Off; n-- {
		if err := f.handle.(osHandle).Truncate(n); err != nil {
			t.Fatal(err)
		}
		wantDamaged(t, f, last, "truncated")
	}
	for _, e := range []Extent{
		{},
		{Stored: headerSize - 1},
		{Off: 1 << 40, Stored: 100, Raw: 100},
		{Off: -1, Stored: 100, Raw: 100},
		{Off: extents[0].Off, Stored: extents[0].Stored + 1, Raw: extents[0].Raw},
		{Off: extents[0].Off, Stored: math.MaxUint32, Raw: 8},
		{Off: extents[0].Off, Stored: extents[0].Stored, Raw: extents[0].Raw + 1},
		{Off: extents[0].Off + 1, Stored: extents[0].Stored, Raw: extents[0].Raw},
	} {
		if _, err := f.Read(e, nil); err == nil {
			t.Errorf("%+v was read", e)
		}
	}
}

// Whatever a file holds and whatever is asked for, Read returns.
func FuzzRead(f *testing.F) {
	f.Add([]byte{}, int64(0), uint32(0), uint32(0))
	f.Add(bytes.Repeat([]byte("GGBK"), 100), int64(8), uint32(100), uint32(52))
	s, err := Open(Config{Dir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	file, err := s.File()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte, off int64, stored, raw uint32) {
		overwrite(t, file, content, 0)
		e := Extent{Off: off % 1000, Stored: stored % 5000, Raw: raw % 5000}
		if _, err := file.Read(e, nil); err == nil {
			t.Fatal("read without an error")
		}
	})
}

// Headers and payloads that nobody wrote, as if their checksums matched:
// decode returns, and what it says it made is the size of the block.
func FuzzDecode(f *testing.F) {
	var c encoder
	for _, shape := range []string{"mixed", "q10"} {
		block, stride := rowsOf(shape, 30)
		block = append(block, behind("urls", 400)...)
		payload, h := c.encode(make([]byte, 0, len(block)+codedRoom), block, 30, stride)
		f.Add(payload, uint8(h.rowCodec), uint8(h.tailCodec), uint16(stride), uint32(30), h.front, uint32(len(block)))
	}
	f.Fuzz(func(t *testing.T, payload []byte, front, back uint8, stride uint16, rows, split, raw uint32) {
		h := header{rowCodec: codec(front), tailCodec: codec(back), stride: stride, rows: rows, front: split}
		in := append(payload, make([]byte, slack)...)[:len(payload)]
		var fr frame
		decode(make([]byte, raw%100_000), in, h, &fr)
	})
}
