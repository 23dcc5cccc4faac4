package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"
	parquetsnappy "github.com/parquet-go/parquet-go/compress/snappy"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
)

// prefixRow has a text of a large dictionary, the entries of which are in order of their rows.
type prefixRow struct {
	ID   int64  `parquet:"id,plain"`
	Text string `parquet:"text,dict"`
	Few  string `parquet:"few,dict"`
}

const (
	prefixGroup = 30_000
	prefixEach  = 2 // rows of an entry
	prefixAll   = prefixGroup / prefixEach
)

func prefixText(row int64) string { return fmt.Sprintf("%0100d", row/prefixEach) }

// writePrefixRows writes a file of some row groups, of which each has a dictionary of 1.5 MB.
func writePrefixRows(t *testing.T, name string, groups int) {
	t.Helper()
	rows := make([]prefixRow, groups*prefixGroup)
	for i := range rows {
		rows[i] = prefixRow{int64(i), prefixText(int64(i)), fmt.Sprint(i % 7)}
	}
	writeRows(t, name, prefixGroup, rows, parquet.PageBufferSize(8000), parquet.Compression(&parquetsnappy.Codec{}))
}

// readTexts reads the rows that keep chooses, and checks their texts. It returns how many entries
// the last dictionary of each unit had; -1: there was none.
func readTexts(t *testing.T, s *Scan, keep func(row int64) bool) (entries []int) {
	t.Helper()
	r := s.NewReader()
	defer r.Close()
	r.Where(func(b *column.Batch, sel []int32) ([]int32, error) {
		for i, id := range b.Cols[0].Int[:b.Rows] {
			if keep(id) {
				sel = append(sel, int32(i))
			}
		}
		return sel, nil
	}, []int{0})
	var b column.Batch
	rows, want := 0, 0
	for u := range s.Units() {
		if err := r.Open(u); err != nil {
			t.Fatal(err)
		}
		for row := s.Units()[u].First; row < s.Units()[u].First+s.Units()[u].Rows; row++ {
			if keep(row) {
				want++
			}
		}
		n := -1
		for {
			ok, err := r.Next(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			v := &b.Cols[1]
			if len(b.Sel) > 0 && (!v.Valid() || v.Dict.Len() != n && !v.Dict.Values.Valid()) {
				t.Fatal("VECTOR-VALID")
			}
			for _, i := range b.Sel {
				if got := v.At(int(i)).Bytes; got != prefixText(b.First+int64(i)) {
					t.Fatalf("row %d is %q", b.First+int64(i), got)
				}
				n = v.Dict.Len()
				rows++
			}
		}
		entries = append(entries, n)
	}
	if rows != want {
		t.Fatalf("%d rows, want %d", rows, want)
	}
	return entries
}

// A large dictionary is decoded as far as the rows that a filter leaves refer to it. If they need
// most of it, it is decoded whole, and that of the next row group at once.
func TestDictPrefix(t *testing.T) {
	if !snappyResumes {
		t.Skip("dictionaries are decoded at once")
	}
	t.Chdir(t.TempDir())
	writePrefixRows(t, "f", 2)
	for _, test := range []struct {
		name string
		keep func(row int64) bool
		want [2]int
	}{
		{"first rows", func(row int64) bool { return row%prefixGroup < 100 }, [2]int{prefixEntries, prefixEntries}},
		{"a third", func(row int64) bool { return row%prefixGroup < prefixGroup/3 }, [2]int{2 * prefixEntries, 2 * prefixEntries}},
		{"all", func(int64) bool { return true }, [2]int{prefixAll, prefixAll}},
		{"the last row", func(row int64) bool { return row%prefixGroup == prefixGroup-1 }, [2]int{prefixAll, prefixAll}},
		{"all, then few", func(row int64) bool { return row < prefixGroup+100 }, [2]int{prefixAll, prefixAll}},
		{"few, then all", func(row int64) bool { return row < 100 || row >= prefixGroup }, [2]int{prefixEntries, prefixAll}},
		{"none, then few", func(row int64) bool { return row == prefixGroup+5 }, [2]int{-1, prefixEntries}},
	} {
		for _, columns := range [][]int{{0, 1}, {0, 1, 2}} {
			l := &ledger{}
			s, err := mustOpen(t, Options{BatchRows: 500, Limits: Limits{Budget: budgettest.Lender(l.grow)}}, "f").Scan(ScanOptions{Columns: columns})
			if err != nil {
				t.Fatal(err)
			}
			before := l.used
			if got := [2]int(readTexts(t, s, test.keep)); got != test.want {
				t.Errorf("%s: %v entries were decoded, want %v", test.name, got, test.want)
			}
			if l.used != before {
				t.Errorf("%s: %d bytes not given back", test.name, l.used-before)
			}
		}
	}
}

// The entries of a dictionary are the same whatever steps it is decoded in, entries that were
// handed out do not change, and damage is an error.
func TestDictPrefixSteps(t *testing.T) {
	if !snappyResumes {
		t.Skip("dictionaries are decoded at once")
	}
	r := rand.New(rand.NewPCG(3, 1))
	var texts []string
	var plain []byte
	for i := range 30_000 {
		text := fmt.Sprintf("%0*d", r.IntN(150), i)
		if i%5000 == 17 {
			text = fmt.Sprintf("%0*d", 200_000, i)
		}
		texts, plain = append(texts, text), binary.LittleEndian.AppendUint32(plain, uint32(len(text)))
		plain = append(plain, text...)
	}
	begin := func(plain, packed []byte, entries int) *dictPrefix {
		return &dictPrefix{snappyPage: placed(packed, len(plain), &account{}), spans: make([]column.Span, entries), entries: entries}
	}
	for range 5 {
		p := begin(plain, snappy.Encode(nil, plain), len(texts))
		var dicts []*column.Dict
		for need := 1; need <= len(texts); need = p.n + 1 + r.IntN(4000) {
			d, err := p.extend(need)
			if err != nil || d.Len() < need || need < len(texts)/8 && d.Len() == len(texts) {
				t.Fatalf("%d of %d entries: %v", d.Len(), need, err)
			}
			dicts = append(dicts, d)
		}
		for _, d := range dicts {
			for i := range d.Len() {
				if string(d.Values.Bytes(i)) != texts[i] {
					t.Fatalf("entry %d of %d is not %q", i, d.Len(), texts[i])
				}
			}
		}
	}
	all := func(p *dictPrefix) (err error) {
		for need := 1; err == nil && p.n < p.entries; need = p.n + 1 {
			_, err = p.extend(need)
		}
		return err
	}
	packed := snappy.Encode(nil, plain)
	if err := all(begin(plain, packed[:len(packed)-3], len(texts))); !errors.Is(err, errSnappy) {
		t.Errorf("a page that is cut short: %v", err)
	}
	if err := all(begin(plain, append(packed[:len(packed):len(packed)], 0, 'x'), len(texts))); err == nil {
		t.Error("a page that goes on is no error")
	}
	if err := all(begin(plain, packed, len(texts)+1)); !errors.Is(err, errValuesEnd) {
		t.Errorf("an entry more than there is: %v", err)
	}
}

// Integers of 64 bits that stay as they lie in the file are decoded in parts too, and others at
// once.
func TestDictPrefixInts(t *testing.T) {
	if !snappyResumes {
		t.Skip("dictionaries are decoded at once")
	}
	t.Chdir(t.TempDir())
	type row struct {
		ID    int64  `parquet:"id,plain"`
		Wide  int64  `parquet:"wide,dict"`
		Whole uint64 `parquet:"whole,dict"`
		Price int64  `parquet:"price,dict,decimal(2:9)"`
	}
	const total = 80_000
	rows := make([]row, total)
	for i := range rows {
		rows[i] = row{int64(i), int64(i) * -1e12, uint64(i), int64(i)}
	}
	writeRows(t, "f", total, rows, parquet.PageBufferSize(20_000), parquet.Compression(&parquetsnappy.Codec{}))
	for _, test := range []struct {
		last int64
		want [3]int
	}{
		{100, [3]int{prefixInts, prefixInts, total}},
		{prefixInts + 10, [3]int{total, total, total}},
		{total, [3]int{total, total, total}},
	} {
		s, err := mustOpen(t, Options{BatchRows: 500}, "f").Scan(ScanOptions{Columns: []int{0, 1, 2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		var got [3]int
		r := s.NewReader()
		r.Where(func(b *column.Batch, sel []int32) ([]int32, error) {
			for i, id := range b.Cols[0].Int[:b.Rows] {
				if id < test.last {
					sel = append(sel, int32(i))
				}
			}
			return sel, nil
		}, []int{0})
		if err := r.Open(0); err != nil {
			t.Fatal(err)
		}
		var b column.Batch
		for {
			ok, err := r.Next(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			for _, i := range b.Sel {
				row := rows[b.First+int64(i)]
				if b.Cols[1].At(int(i)).Int != row.Wide || b.Cols[2].At(int(i)).Int != int64(row.Whole) || b.Cols[3].At(int(i)).Int != row.Price {
					t.Fatalf("row %d: %v, %v, %v", row.ID, b.Cols[1].At(int(i)), b.Cols[2].At(int(i)), b.Cols[3].At(int(i)))
				}
				got = [3]int{b.Cols[1].Dict.Len(), b.Cols[2].Dict.Len(), b.Cols[3].Dict.Len()}
			}
		}
		r.Close()
		if got != test.want {
			t.Errorf("%d rows: %v entries were decoded, want %v", test.last, got, test.want)
		}
	}
}

// Dictionaries that are handed on encoded are whole, also where a filter has left few rows of the
// same row group or of others.
func TestDictPrefixEncoded(t *testing.T) {
	if !snappyResumes {
		t.Skip("dictionaries are decoded at once")
	}
	t.Chdir(t.TempDir())
	writePrefixRows(t, "f", 2)
	s := scanOf(t, mustOpen(t, Options{BatchRows: 500}, "f"), 0, 1)
	r := s.NewReader()
	defer r.Close()
	r.Where(func(b *column.Batch, sel []int32) ([]int32, error) { return append(sel, 1), nil }, []int{0})
	var b column.Batch
	if err := r.Open(0); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Next(&b); !ok || err != nil || b.Cols[1].Dict.Len() == prefixAll {
		t.Fatalf("%v, %v, with %d entries", ok, err, b.Cols[1].Dict.Len())
	}
	for unit := range s.Units() {
		e, ok := s.EncodedUnit(unit)
		if !ok {
			t.Fatalf("unit %d is not to be handed on", unit)
		}
		chunks, ok, err := r.ReadEncoded(unit, make([]byte, e.Bytes))
		if !ok || err != nil || chunks[1].Dict.Len() != prefixAll {
			t.Errorf("unit %d: %v, %v, with %d entries", unit, ok, err, chunks[1].Dict.Len())
		}
	}
}
