package decode

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/corpus"
	"github.com/gagg-dev/gagg/internal/encoded"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// What the device makes of every chunk of files by many writers, damaged ones
// among them, is what the CPU makes of it, or it is declined (DECLINE). It
// declines what the twin declines.
func TestCorpusOnDevice(t *testing.T) { corpus.Each(t, corpusOnDevice) }

func corpusOnDevice(t *testing.T, folder corpus.Folder) {
	c := &outcomes{device: newDevice(t), memory: make([]byte, 1<<20)}
	largest := len(c.memory)
	if testing.Short() {
		largest = 8 << 10
	}
	for _, sub := range []string{"valid", "bad"} {
		for _, name := range corpus.Files(t, folder.Dir, sub) {
			path := filepath.Join(folder.Dir, name)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) < largest {
				c.file(t, path, data)
			}
		}
	}
	t.Logf("%d row groups were made, %d declined by the device", c.made, c.declined)
	least := 300
	if folder.Own {
		least = 60 // of the smallest files; twice as many of all
	}
	if c.made < least || c.declined < 20 {
		t.Error("hardly anything was tried")
	}
}

// outcomes counts what came of row groups.
type outcomes struct {
	device         *device
	memory         []byte
	made, declined int
}

// file tries each column of a file, as a key and, but for strings, as a value.
func (c *outcomes) file(t *testing.T, path string, data []byte) {
	d, err := parquetio.Open(context.Background(), []parquetio.Input{{Name: path, Reader: bytes.NewReader(data), Size: int64(len(data))}}, parquetio.Options{})
	if err != nil {
		return
	}
	defer d.Close()
	for i, f := range d.Schema().Fields {
		cols, interned := []int{i, i}, []bool{false}
		if f.Type.Rep() == column.RepBytes {
			cols, interned = cols[:1], []bool{false, true}
		}
		for _, intern := range interned {
			if k := scanPacked(t, d, cols, 1, intern); k != nil {
				c.units(t, k)
				k.reader.Close()
			}
			if t.Failed() {
				t.Fatalf("%s: column %s", path, f.Name)
			}
		}
	}
}

// units makes each unit alone.
func (c *outcomes) units(t *testing.T, k *packed) {
	p := NewBuilder(k.plan, Limits{Bytes: len(c.memory), Rows: 10_000, Work: 4 << 20}, k.reader, k.keys)
	for u := range min(len(k.scan.Units()), 2) {
		p.Begin(c.memory)
		_, added, err := p.Add(u)
		if err != nil || added != encoded.AddedUnit {
			continue // the builder's own tests say when this is right
		}
		batch := p.End()
		memory := c.memory[:batch.Size()]
		_, wantStop := twinRows(t, batch, memory)
		rows, stop := c.device.make(t, batch, memory)
		if (stop == 0) != (wantStop == 0) {
			t.Errorf("unit %d: stopped with %d, want %d", u, stop, wantStop)
		}
		if stop != 0 {
			c.declined++
			continue
		}
		c.made++
		want, err := k.rows([]int{u})
		if err != nil {
			t.Errorf("unit %d was made: %v", u, err)
			continue
		}
		compare(t, k.plan, rows, want)
	}
}
