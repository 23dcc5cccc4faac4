package decode

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// pack packs all units, in order, into batches within the limits, checks what
// holds of each of them, and returns how many there were, and the units that
// were for none.
func (k *packed) pack(t *testing.T, limits Limits) (batches int, none []int) {
	t.Helper()
	p := NewBuilder(k.plan, limits, k.reader, k.keys)
	memory := hostmem.Make[byte](limits.Bytes + 64)
	defer hostmem.Free(memory)
	next, units := 0, len(k.scan.Units())
	for next < units {
		for i := range memory {
			memory[i] = 0xAB // what lay there before
		}
		p.Begin(memory)
		added := encoded.AddedUnit
		first := len(none)
		var want []int
		for ; next < units && added != encoded.AddedFull; next++ {
			var rows int64
			var err error
			rows, added, err = p.Add(next)
			if err != nil || rows != k.scan.Units()[next].Rows {
				t.Fatalf("%d rows, %v", rows, err)
			}
			switch added {
			case encoded.AddedUnit:
				want = append(want, next)
			case encoded.AddedNone:
				none = append(none, next)
			case encoded.AddedFull:
				next--
			}
		}
		if len(want) == 0 && len(none) == first {
			t.Fatal("neither in the batch nor out of it")
		}
		k.check(t, p.End(), memory, limits, want)
		batches++
	}
	return batches, none
}

// check compares a batch with what the CPU makes of its units.
func (k *packed) check(t *testing.T, batch *Batch, memory []byte, limits Limits, units []int) {
	t.Helper()
	if !slices.Equal(batch.Units(), units) {
		t.Fatalf("units %v, want %v", batch.Units(), units)
	}
	if len(units) == 0 {
		return
	}
	if batch.Size() > limits.Bytes || batch.Rows() > limits.Rows || batch.WorkBytes() > limits.Work {
		t.Fatalf("%d bytes, %d rows, %d of work; the limits are %+v", batch.Size(), batch.Rows(), batch.WorkBytes(), limits)
	}
	if !bytes.Equal(memory[limits.Bytes:], bytes.Repeat([]byte{0xAB}, 64)) {
		t.Fatal("what lies behind the memory was written")
	}
	checkPages(t, batch, memory)
	got, stop := twinRows(t, batch, slices.Clone(memory[:batch.Size()])) // may lie elsewhere
	if stop != 0 {
		t.Fatalf("cannot be made: %d", stop)
	}
	want, err := k.rows(units)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, k.plan, got, want)
}

// checkPages checks the places of pages (ROOM), and that no task is missing.
func checkPages(t *testing.T, batch *Batch, memory []byte) {
	t.Helper()
	expanded, tasks := 0, make([]int, len(batch.pages))
	for _, task := range batch.tasks {
		tasks[task.Page]++
		if task.Entries%8 != 0 || task.Entries > uint64(batch.data) || task.Walk != 0 {
			t.Fatalf("%+v", task)
		}
	}
	for i, p := range batch.pages {
		if tasks[i] == 0 || p.At+uint64(p.Bytes)+kernels.ParquetPadding > uint64(batch.data) {
			t.Fatalf("%d tasks for %+v", tasks[i], p)
		}
		if p.Coded == 1 {
			if int(p.Runs) < expanded || p.Runs%16 != 0 {
				t.Fatalf("%+v has room for runs behind a page that ends at %d", p, expanded)
			}
			expanded = int(p.Runs) + kernels.ParquetRunsRoom(int(p.Size))
		}
		if p.Codec != kernels.ParquetCodecNone {
			if int(p.Expanded) < expanded || p.Expanded%16 != 0 {
				t.Fatalf("%+v behind a page that ends at %d", p, expanded)
			}
			expanded = int(p.Expanded) + int(p.Size) + kernels.ParquetPadding
		}
	}
	if expanded > batch.expanded || batch.data%16 != 0 {
		t.Fatalf("%d bytes of pages in %d; %d bytes of data", expanded, batch.expanded, batch.data)
	}
}
