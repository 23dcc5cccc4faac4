package gagg_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// goldenStates is a small file of states, of every aggregate.
func goldenStates(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/states/v1.state")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// mergeBytes merges a file of states within little memory. What is wrong with it must be an error:
// never a panic.
func mergeBytes(t testing.TB, b []byte) (rows int64, err error) {
	t.Helper()
	r, err := gagg.Run(t.Context(), gagg.Query{From: gagg.Merge(gagg.Stream("states", bytes.NewReader(b)))}, gagg.Options{Threads: 1, MemoryLimit: 64 << 20, TempDir: t.TempDir(), TempLimit: 64 << 20})
	if err == nil {
		for r.Next() {
			rows += r.Record().NumRows()
		}
		err = r.Err()
		r.Release()
	}
	var panicked *invariant.PanicError
	if errors.As(err, &panicked) {
		t.Fatalf("%v\n%s", err, panicked.Stack)
	}
	return rows, err
}

// edited is b with bytes changed: edits has 3 bytes of where, and one of what, for each.
func edited(b, edits []byte) []byte {
	b = bytes.Clone(b)
	for ; len(edits) >= 4; edits = edits[4:] {
		b[int(binary.LittleEndian.Uint32(edits)&0xffffff)%len(b)] ^= edits[3]
	}
	return b
}

// A file of states with some bytes changed, or cut off, ends with an error or with an answer.
func TestStatesDamaged(t *testing.T) {
	golden := goldenStates(t)
	if n, err := mergeBytes(t, golden); n < 3 || err != nil {
		t.Fatal(n, err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		if _, err := mergeBytes(t, golden[:rng.IntN(len(golden))]); err == nil {
			t.Error("a part of a file is taken for all of it")
		}
	}
	trials, failed := 150, 0
	if testing.Short() {
		trials = 30
	}
	for range trials {
		edits := make([]byte, 4*(1+rng.IntN(3)))
		for i := range edits {
			edits[i] = byte(rng.Uint32())
		}
		if _, err := mergeBytes(t, edited(golden, edits)); err != nil {
			failed++
		}
	}
	if failed == 0 || failed == trials {
		t.Errorf("%d of %d damaged files failed", failed, trials)
	}
}

// Damage is an error of the input wherever it is noticed: here in what a value of
// list(product order by price) is ordered by, which is looked at when the list is made, and in the
// query that the states tell of.
func TestStatesDamagedWithin(t *testing.T) {
	golden, err := os.ReadFile("testdata/states/v2.state")
	if err != nil {
		t.Fatal(err)
	}
	misspelt := bytes.Replace(golden, []byte("var_samp(price)"), []byte("gar_samp(price)"), 1)
	for name, b := range map[string][]byte{"an order": edited(golden, []byte{62, 140, 86, 243}), "the query": misspelt} {
		if _, err := mergeBytes(t, b); !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), "damaged: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// smallStates is a small table of states, as a file and as a stream: keys and states of every kind
// of column, with NULLs.
func smallStates(t *testing.T) (file, stream []byte) {
	t.Helper()
	schema, records := statesOf(t, gagg.Query{
		From: gagg.Files("testdata/orders.parquet"), By: []string{"nullif(quantity, 3) as q", "cast(price as decimal(30,4)) as p"}, Where: "price < 6 and customer like '%01' and quantity in (3, 7)",
		Aggs: exprs("count(*)", "sum(discount)", "max(product)", "first(region)", "count(distinct customer)"),
	}, gagg.Options{Threads: 1})
	file, err := os.ReadFile(stateFile(t, schema, records))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	for _, r := range records {
		err = errors.Join(err, w.Write(r))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return file, b.Bytes()
}

// merged is the rows that states come to, as text.
func merged(t *testing.T, b []byte) (string, error) {
	t.Helper()
	r, err := gagg.Run(t.Context(), gagg.Query{From: gagg.Merge(gagg.Stream("states", bytes.NewReader(b))), OrderBy: []string{"1", "2"}}, gagg.Options{Threads: 1, TempDir: t.TempDir()})
	if err != nil {
		return "", err
	}
	defer r.Release()
	text := r.Schema().String()
	for r.Next() {
		for i, c := range r.Record().Columns() {
			text += fmt.Sprintf("\n%s %v", r.Record().ColumnName(i), c)
		}
	}
	return text, r.Err()
}

// A bit that flips anywhere in a table of states is an error of the input, or changes nothing.
func TestStatesFlippedBits(t *testing.T) {
	file, stream := smallStates(t)
	for name, b := range map[string][]byte{"file": file, "stream": stream} {
		want, err := merged(t, b)
		if err != nil || strings.Count(want, "insulating tape") < 3 {
			t.Fatal(want, err)
		}
		step, found := 3, 0
		if testing.Short() {
			step = 13
		}
		for at := 0; at < len(b); at += step {
			bad := bytes.Clone(b)
			bad[at] ^= 1 << (at / step % 8)
			switch got, err := merged(t, bad); {
			case errors.Is(err, gagg.ErrInput):
				found++
			case err != nil:
				t.Errorf("%s, byte %d of %d: %v", name, at, len(b), err)
			case got != want:
				t.Errorf("%s, byte %d of %d: another answer\ngot\n%s\nwant\n%s", name, at, len(b), got, want)
			}
		}
		t.Logf("%s: %d of %d flips were seen", name, found, len(b)/step)
	}
}

// States that are cut off anywhere, or that others follow, are an error, as a stream too: one that
// ends between two records looks whole to Arrow.
func TestStatesCut(t *testing.T) {
	file, stream := smallStates(t)
	for name, b := range map[string][]byte{"file": file, "stream": stream} {
		for n := 0; n < len(b); n += 7 {
			if _, err := merged(t, b[:n]); !errors.Is(err, gagg.ErrInput) {
				t.Errorf("%s: %d of %d bytes: %v", name, n, len(b), err)
			}
		}
		if _, err := merged(t, slices.Concat(b, b)); !errors.Is(err, gagg.ErrInput) {
			t.Errorf("%s: twice: %v", name, err)
		}
	}
	_, err := merged(t, stream[:len(stream)-8])
	if err == nil || !strings.Contains(err.Error(), "states: the stream was cut: it has no end mark") {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "cut.arrows")
	if err := os.WriteFile(path, stream[:len(stream)-8], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = gagg.Run(t.Context(), gagg.Query{From: gagg.Merge(gagg.Files(path))}, gagg.Options{})
	if !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), "cut.arrows: the stream was cut") {
		t.Error(err)
	}
}

func FuzzStates(f *testing.F) {
	golden := goldenStates(f)
	for i := range 8 {
		at := binary.LittleEndian.AppendUint32(nil, uint32(len(golden)/8*i))
		at[3] = 0xff
		f.Add(at)
	}
	f.Fuzz(func(t *testing.T, edits []byte) { _, _ = mergeBytes(t, edited(golden, edits[:min(len(edits), 64)])) })
}
