package gagg_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// longRow is a text with a dictionary, and the same without one.
type longRow struct {
	Text  *string `parquet:"text,optional,dict"`
	Plain *string `parquet:"plain,optional,plain"`
	N     int64   `parquet:"n"`
}

// longRows is rows with n texts or so in each row group of so many rows, of which a third is in the
// row groups before and behind too. Many texts differ in the last byte alone; some are empty, NULL,
// as long as those that keys hold themselves, or a byte longer; a few have so many bytes.
func longRows(rows, group, n, longest int) (out []longRow) {
	rng := rand.New(rand.NewPCG(uint64(longest), 1))
	for i := range rows {
		k := i/group*2*n/3 + rng.IntN(n)
		row := longRow{N: int64(i%7) - 3}
		var text string
		switch {
		case k%31 == 0:
			text = ""
		case k%29 == 1:
			text = strings.Repeat("w", longest-8) + fmt.Sprintf("%08d", k)
		case k%11 == 2:
			text = fmt.Sprintf("%015d", k)
		case k%11 == 3:
			text = fmt.Sprintf("%016d", k)
		default:
			text = fmt.Sprintf("http://example.org/%d/%s%c", k/3, strings.Repeat("a", k%50), 'x'+k%3)
		}
		if k%13 > 0 {
			row.Text, row.Plain = &text, &text
		}
		out = append(out, row)
	}
	return out
}

// longFile writes rows, in row groups of so many.
func longFile(t *testing.T, rows []longRow, group int, o ...parquet.WriterOption) gagg.Source {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[longRow](&b, append(o, parquet.MaxRowsPerRowGroup(int64(group)))...)
	_, err := w.Write(rows)
	if err == nil {
		err = w.Close()
	}
	path := filepath.Join(t.TempDir(), "long.parquet")
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return gagg.Files(path)
}

// countSum is what the tests ask of a group.
type countSum struct{ count, sum int64 }

// groupsByText is the answer of a query by the text, count(*) and sum(n): by its texts, none for
// NULL, in their order.
func groupsByText(t *testing.T, q gagg.Query, o gagg.Options) (got map[string]countSum, order []string, s gagg.Stats, err error) {
	t.Helper()
	got = map[string]countSum{}
	rows, err := gagg.Run(t.Context(), q, o)
	if err != nil {
		return nil, nil, s, err
	}
	defer rows.Release()
	for rows.Next() {
		text := rows.Record().Column(0).(*array.String)
		count, sum := rows.Record().Column(1).(*array.Int64), linesOf(rows.Record().Columns()[2:3])
		for i := range text.Len() {
			k := "NULL"
			if text.IsValid(i) {
				k = "=" + text.Value(i)
			}
			var n int64
			if _, err := fmt.Sscan(sum[i], &n); err != nil {
				t.Fatal(err)
			}
			if _, twice := got[k]; twice {
				t.Fatalf("%.40q is two groups", k)
			}
			got[k] = countSum{count.Value(i), n}
			order = append(order, k)
		}
	}
	return got, order, rows.Stats(), rows.Err()
}

// wantByText is what groupsByText has to be.
func wantByText(rows []longRow) map[string]countSum {
	want := map[string]countSum{}
	for _, r := range rows {
		k := "NULL"
		if r.Text != nil {
			k = "=" + *r.Text
		}
		c := want[k]
		want[k] = countSum{c.count + 1, c.sum + r.N}
	}
	return want
}

// longTextWay is a way of a query by long texts through devices, of which there are these.
type longTextWay struct {
	name string
	opt  gagg.Options
}

var longTextWays = []longTextWay{
	{"two devices", gagg.Options{Device: "0,1", Threads: 3, GPUMemory: 24 << 20}},
	{"evicted", gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: 3 << 20, Partitions: 8}},
	{"little memory", gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: 3 << 20, MemoryLimit: 14 << 20}},
	{"least memory", gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: 3 << 20, MemoryLimit: 11 << 20}},
	{"auto", gagg.Options{Threads: 2, GPUMemory: 24 << 20}},
}

// Texts of any length are keys on devices, from dictionaries and from pages of values: with room
// for all groups and without, on two devices, beside row groups that workers read, for want of
// memory for texts, and beside a disk.
func TestDeviceLongTexts(t *testing.T) {
	gputest.Need(t, 2)
	const group = 200
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1), gagg.DevicePays()}
	small := []parquet.WriterOption{parquet.DictionaryMaxBytes(1 << 10), parquet.PageBufferSize(1 << 9)}
	var did struct{ resident, direct, evicted, partly bool }
	for _, f := range []struct {
		name, by string
		longest  int
		groups   int // row groups
		o        []parquet.WriterOption
		ways     []longTextWay
		// texts have room for less than half of the row groups, so that workers have more groups
		// than memory however fast the device is
		spills bool
	}{
		{"values behind codes", "text", 900, 60, small, longTextWays, false},
		{"values alone, v2", "plain", 900, 60, append(slices.Clone(small), parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(2)), longTextWays[1:3], false},
		{"fields of many words", "plain", 70, 60, small, longTextWays[1:3], false},
		{"many groups", "text", 900, 180, small, longTextWays[3:4], true},
	} {
		rows := longRows(group*f.groups, group, 500, f.longest)
		want := wantByText(rows)
		q := gagg.Query{From: longFile(t, rows, group, f.o...), By: []string{f.by}, Aggs: exprs("count(*)", "sum(n)", "min(n, 8)", "max(n, 8)")}
		cpu, order, _, err := groupsByText(t, q, gagg.Options{Device: "cpu"})
		if err != nil || !maps.Equal(cpu, want) {
			t.Fatalf("%s: the CPU has %d groups, want %d, or others; %v", f.name, len(cpu), len(want), err)
		}
		for _, x := range f.ways {
			t.Run(f.name+"/"+x.name, func(t *testing.T) {
				defer gputest.Closed(t)
				got, at, s, err := groupsByText(t, q, tuned.of(x.opt))
				if err != nil || !maps.Equal(got, want) || !slices.Equal(at, order) {
					t.Errorf("%d groups, want %d, or others, or in another order; %v", len(got), len(want), err)
				}
				e := s.Encoded
				if x.opt.Device != "" && x.opt.MemoryLimit == 0 && (e.RowGroups != int64(f.groups) || e.Declined > 0 || e.Texts < 2000 || e.TextBytes < 16*e.Texts) {
					t.Errorf("devices decoded %+v", e)
				}
				did.partly = did.partly || 0 < e.RowGroups && e.RowGroups < int64(f.groups)
				if f.spills && s.SpilledBytes == 0 {
					t.Error("nothing went to disk")
				}
				for _, d := range s.Devices {
					did.resident, did.direct = did.resident || d.InCore, did.direct || d.DirectRows > 0
					did.evicted = did.evicted || d.EvictedRows > 0
				}
			})
		}
	}
	if !did.resident || !did.direct || !did.evicted || !did.partly {
		t.Errorf("not all ways were gone: %+v", did)
	}
}

// F67: whichever driver call of a query by long texts fails, the whole answer comes from the CPU,
// and nothing is left: neither of the texts' memory nor of what was reserved for it.
func TestDeviceLongTextsFaults(t *testing.T) {
	gputest.Need(t, 1)
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	rows := longRows(1200, 200, 500, 900)
	small := []parquet.WriterOption{parquet.DictionaryMaxBytes(1 << 10), parquet.PageBufferSize(1 << 9)}
	q := gagg.Query{From: longFile(t, rows, 200, small...), By: []string{"text"}, Aggs: exprs("count(*)", "sum(n)")}
	f := deviceTrial{
		query: q, want: mustAnswer(t, q, gagg.Options{Device: "cpu"}), e: e,
		opt: gagg.Tuned(gagg.Options{Device: "auto", Threads: 2, Streams: 1, GPUMemory: 4 << 20, MemoryLimit: 64 << 20}, gagg.DevicePays()),
	}
	calls := f.calls(t)
	const trials = 12
	for i := range trials {
		f.failing(t, calls[i*len(calls)/trials], i%len(codes), i%2 == 0)
	}
}
