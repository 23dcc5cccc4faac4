package spill

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// largeBlocks are blocks that become parts, and one that just does not.
func largeBlocks() map[string][]byte {
	random := make([]byte, 3<<20)
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	return map[string][]byte{
		"random": random[:2<<20+13], "whole": random[:mostWhole], "two parts": random[:mostWhole+1],
		"repeated": bytes.Repeat([]byte("the same again; "), 200_000), "zero": make([]byte, 5<<20),
	}
}

// F12: a block of any size is written and read in buffers of a usual one, whether it comes whole
// or part by part.
func TestParts(t *testing.T) {
	t.Parallel()
	for name, block := range largeBlocks() {
		f := openFile(t, openSpace(t, Config{}))
		whole, err := f.Append(block, 1000, 3)
		if err != nil {
			t.Fatal(err)
		}
		var parts Extent
		for rest := block; len(rest) > 0; {
			n := min(len(rest), PartBytes)
			if err := f.AppendPart(&parts, rest[:n], 0, 0); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		small, err := f.Append([]byte("behind them"), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []Extent{whole, parts} {
			dst := make([]byte, len(block))
			got, err := f.Read(e, dst)
			if err != nil || !bytes.Equal(got, block) || &got[0] != &dst[0] {
				t.Fatalf("%s: %v, %d bytes", name, err, len(got))
			}
		}
		if got, err := f.Read(small, nil); err != nil || string(got) != "behind them" {
			t.Fatalf("%s: %v, %q behind it", name, err, got)
		}
		if got, most := f.MemoryBytes(), 2*BufferBytes(1<<30); got > most {
			t.Errorf("%s: %d bytes of buffers, at most %d expected", name, got, most)
		}
		f.Free(whole)
		f.Free(parts)
	}
}

// F4: parts that are damaged, are missing, or are no parts, are found.
func TestDamagedParts(t *testing.T) {
	t.Parallel()
	f := openFile(t, openSpace(t, Config{}))
	blocks := largeBlocks()
	var extents []Extent
	for _, name := range []string{"repeated", "random", "repeated"} {
		e, err := f.Append(blocks[name], 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		extents = append(extents, e)
	}
	mine := fileBytes(t, f)
	rng := rand.New(rand.NewPCG(6, 6))
	for _, e := range extents[:2] {
		for i := range 200 {
			at := e.Off + rng.Int64N(int64(e.Stored))
			if i < headerSize { // of the last part
				at = lastPart(mine, e) + int64(i)
			}
			overwrite(t, f, []byte{mine[at] ^ 0x40}, at)
			wantDamaged(t, f, e, "flipped")
			overwrite(t, f, mine[at:at+1], at)
		}
	}
	first, last := extents[0], extents[2]
	overwrite(t, f, mine[last.Off:last.Off+int64(last.Stored)], first.Off)
	wantDamaged(t, f, first, "another block")
	overwrite(t, f, mine, 0)
	at := lastPart(mine, first)
	for _, e := range []Extent{
		{first.Off, uint32(at - first.Off), first.Raw},
		{at, first.Stored - uint32(at-first.Off), first.Raw},
		{first.Off, first.Stored, first.Raw - 1},
		{first.Off, first.Stored, first.Raw + 1},
		{first.Off, first.Stored - 1, first.Raw},
		{first.Off, first.Stored + extents[1].Stored, first.Raw},
	} {
		wantDamaged(t, f, e, "not its extent")
	}
}

// lastPart is where the last part of a block begins.
func lastPart(file []byte, e Extent) (at int64) {
	for off := e.Off; off < e.Off+int64(e.Stored); off += int64(parse(file[off:]).stored) {
		at = off
	}
	return at
}

// Nothing may come between the parts of a block.
func TestPartsApart(t *testing.T) {
	t.Parallel()
	f := openFile(t, openSpace(t, Config{}))
	var e Extent
	if err := f.AppendPart(&e, make([]byte, 100), 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Append([]byte("between"), 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.AppendPart(&e, make([]byte, 100), 0, 0); err == nil {
		t.Error("no error")
	}
}
