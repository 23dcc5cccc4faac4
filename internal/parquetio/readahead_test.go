package parquetio

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/column"
)

// aheadRow makes chunks of a known size: its values are random, and lie in the file as they are.
type aheadRow struct {
	A int64 `parquet:"a,plain"`
	B int64 `parquet:"b,plain"`
	C int64 `parquet:"c,plain"`
}

// slowDisk notes what is asked for ahead and what is read, in blocks.
type slowDisk struct {
	io.ReaderAt
	state   []byte // by block: 0, asked or come
	waiting int    // blocks that were asked for and that nobody has come to
	most    int    // of waiting at any time
	cold    int    // blocks that were read before they were asked for
}

const (
	diskBlock = 4 << 10

	asked byte = 1
	come  byte = 2
)

func (d *slowDisk) each(off, n int64, do func(block int)) {
	for b := off / diskBlock; b <= (off+n-1)/diskBlock; b++ {
		do(int(b))
	}
}

func (d *slowDisk) Ahead(off, n int64) int64 {
	d.each(off, n, func(b int) {
		if d.state[b] == 0 {
			d.state[b] = asked
			d.waiting++
		}
	})
	d.most = max(d.most, d.waiting)
	return n
}

func (d *slowDisk) ReadAt(p []byte, off int64) (int, error) {
	d.each(off, int64(len(p)), func(b int) {
		switch d.state[b] {
		case asked:
			d.waiting--
		case 0:
			d.cold++
		}
		d.state[b] = come
	})
	return d.ReaderAt.ReadAt(p, off)
}

// ofColumn counts the blocks that lie within a column's chunks and are in a state.
func (d *slowDisk) ofColumn(s *Scan, col int, state byte) (n int) {
	for g := range s.groups {
		for _, r := range s.ranges(g, func(c int) bool { return c == col }) {
			d.each(r[0]+diskBlock, r[1]-2*diskBlock, func(b int) {
				if d.state[b] == state {
					n++
				}
			})
		}
	}
	return n
}

// onSlowDisk is a scan of a file of row groups of three columns of so many bytes each.
func onSlowDisk(t *testing.T, groups, columnBytes int, ahead int64) (*Scan, *slowDisk, []aheadRow) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]aheadRow, groups*columnBytes/8)
	for i := range rows {
		rows[i] = aheadRow{random.Int64(), random.Int64(), random.Int64()}
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[aheadRow](&out, parquet.PageBufferSize(64<<10))
	for g := range groups {
		if _, err := w.Write(rows[g*columnBytes/8:][:columnBytes/8]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := openBytes(t, Options{}, out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	disk := &slowDisk{ReaderAt: bytes.NewReader(out.Bytes()), state: make([]byte, out.Len()/diskBlock+1)}
	d.files[0].r = disk
	s := scanOf(t, d, 0, 1, 2)
	s.ahead = ahead
	return s, disk, rows
}

// Row groups much larger and much smaller than what is read ahead, read by one reader and by three
// in turns: nearly everything is asked for before it is read, no more than AHEAD says is waiting,
// and the values are those of the file.
func TestAheadIsBounded(t *testing.T) {
	t.Parallel()
	for _, columnBytes := range []int{64 << 10, 2 << 20} {
		for _, readers := range []int{1, 3} {
			const ahead = 1 << 20
			s, disk, rows := onSlowDisk(t, 12<<20/(3*columnBytes)+2, columnBytes, ahead)
			readInTurns(t, s, readers, rows)
			// what a window reads at once is its own, and a block more where ranges end
			most := int64(2*readers+1)*ahead + int64(3*readers)*(minWindow+2*diskBlock)
			if got := int64(disk.most) * diskBlock; got > most || got < ahead {
				t.Errorf("columns of %d bytes, %d readers: %d bytes waiting", columnBytes, readers, got)
			}
			if all := len(disk.state); disk.cold > all/50 {
				t.Errorf("columns of %d bytes, %d readers: %d of %d blocks were not asked for", columnBytes, readers, disk.cold, all)
			}
		}
	}
}

// readInTurns has readers take units, and a batch each in turns, and compares the values.
func readInTurns(t *testing.T, s *Scan, readers int, rows []aheadRow) {
	t.Helper()
	all := make([]*Reader, readers)
	for i := range all {
		all[i] = s.NewReader()
		defer all[i].Close()
	}
	next, seen := 0, 0
	open := make([]bool, readers)
	for busy := true; busy; {
		busy = false
		for i, r := range all {
			if !open[i] && next < len(s.Units()) {
				if err := r.Open(next); err != nil {
					t.Fatal(err)
				}
				open[i], next = true, next+1
			}
			if !open[i] {
				continue
			}
			busy = true
			var b column.Batch
			ok, err := r.Next(&b)
			if err != nil {
				t.Fatal(err)
			}
			open[i] = ok
			for k := range b.Rows {
				if got := (aheadRow{b.Cols[0].Int[k], b.Cols[1].Int[k], b.Cols[2].Int[k]}); got != rows[b.First+int64(k)] {
					t.Fatalf("row %d: %v", b.First+int64(k), got)
				}
			}
			seen += b.Rows
		}
	}
	if seen != len(rows) {
		t.Errorf("%d of %d rows", seen, len(rows))
	}
}

// Where a filter leaves no row its other columns are not asked for; where it leaves all, they are
// before they are read, but for the first row group.
func TestAheadOfFilters(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{false, true} {
		s, disk, _ := onSlowDisk(t, 8, 256<<10, 1<<20)
		_, _, err := readLate(s, []int{0}, func(*column.Batch, int) bool { return keeps })
		if err != nil {
			t.Fatal(err)
		}
		late := disk.ofColumn(s, 2, asked) + disk.ofColumn(s, 2, come)
		if keeps != (late > 0) {
			t.Errorf("all rows are left: %v; of another column: %d blocks", keeps, late)
		}
		if part := 256 << 10 / diskBlock; disk.cold > part {
			t.Errorf("all rows are left: %v; %d blocks were not asked for", keeps, disk.cold)
		}
	}
}

// Chunks that are read as they are are asked for before that, and are the bytes of the file.
func TestAheadOfEncoded(t *testing.T) {
	t.Parallel()
	s, disk, _ := onSlowDisk(t, 6, 1<<20, 1<<20)
	r := s.NewReader()
	defer r.Close()
	for unit := range s.Units() {
		chunks, memory, ok := readEncoded(t, r, unit)
		if !ok {
			t.Fatalf("unit %d is not read encoded", unit)
		}
		for i, place := range s.ranges(unit, func(int) bool { return true }) {
			page := chunks[i].Pages[len(chunks[i].Pages)-1]
			want := make([]byte, page.Bytes)
			if err := readAt(disk.ReaderAt, want, place[0]+place[1]-int64(page.Bytes)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(memory[page.At:][:page.Bytes], want) {
				t.Errorf("unit %d: the last page of column %d is not that of the file", unit, i)
			}
		}
	}
	if disk.cold > 2 || int64(disk.most)*diskBlock > 4<<20 {
		t.Errorf("%d blocks were not asked for, %d bytes waited", disk.cold, disk.most*diskBlock)
	}
}
