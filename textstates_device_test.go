package gagg_test

import (
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// textStates are queries whose states refer to texts, over the columns of a longRow.
var textStates = []struct {
	by, aggs, where, having, order string
	limit                          int64
	none                           bool // no row passes
	selected                       bool // few groups leave a device that has all
	regroups                       bool // groups by a distinct value become those of the keys
}{
	{by: "n", aggs: "min(text)|max(text)|min(plain)|max(plain)|count(*)"},
	{by: "n", aggs: "max(plain)|count(plain)|sum(n)", where: "n <> 0"},
	{by: "text", aggs: "min(plain)|max(text)|count(*)"},
	{by: "text,n", aggs: "count(*)|max(plain)|min(n)"},
	{by: "text", aggs: "min(plain) as p|count(*) as c", where: "plain like '%aa%' and text <> ''", order: "-c,text", limit: 7, selected: true},
	{by: "plain", aggs: "max(text) as t|count(*) as c", having: "count(*) > 2", order: "t desc", selected: true},
	{by: "n", aggs: "min(text) as t", order: "t", limit: 2},
	{by: "", aggs: "min(text)|max(plain)|count(*)", where: "n > 0"},
	{by: "", aggs: "min(text)|max(text)", where: "n * n > 100", none: true},
	{by: "n", aggs: "count(distinct plain) as d|min(text)|count(*)", order: "-d,n", limit: 3, regroups: true},
	{by: "text", aggs: "count(distinct n) as d|min(plain)|max(plain)", order: "-d,text", limit: 9, selected: true, regroups: true},
	{by: "text", aggs: "count(distinct n)|max(plain)|sum(n)", regroups: true},
	{by: "", aggs: "count(distinct n)|min(plain)|max(text)", regroups: true},
	{by: "upper(text)", aggs: "min(text)|max(text)|count(*)"}, // entries of its dictionary are computed too
	{by: "n", aggs: "min(text)|sum(length(text))|count(*)"},
	{by: "n", aggs: "min(plain) filter (where n > 0)|min(text) filter (where plain like '%aa%')|min(text)|max(plain)|count(text)"},
	{by: "n", aggs: "first(text)|last(plain)|any_value(text)|last(text) filter (where n > 1)|first(n) filter (where plain = '')"},
	{by: "text", aggs: "last(n)|first(plain)|arg_max(plain, n)|count(*) as c", order: "-c,text", limit: 7, selected: true},
	{by: "n", aggs: "arg_min(text, n)|arg_max(n, plain)|arg_min(plain, text)|arg_max(text, plain)|arg_min(n, length(text))"},
	{by: "", aggs: "first(n)|last(text)|arg_max(n, n * n)|arg_min(plain, n)|count(*)", where: "n <> 0"},
	{by: "text", aggs: "count(distinct n)|last(plain)|arg_min(n, plain)", regroups: true},
}

// textStateWays are ways of such a query through devices.
var textStateWays = []struct {
	longTextWay
	every int  // of the queries one of so many goes this way
	few   bool // all groups leave at once
}{
	{longTextWay{"one device", gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: 24 << 20}}, 1, false},
	{longTextWay{"few leave", gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20}}, 3, true},
	{longTextWay{"two devices", gagg.Options{Device: "0,1", Threads: 3, GPUMemory: 24 << 20}}, 3, false},
	{longTextWay{"little memory", gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: 4 << 20, MemoryLimit: 24 << 20}}, 3, false},
	{longTextWay{"auto", gagg.Options{Threads: 2, GPUMemory: 24 << 20}}, 5, false},
}

// The least and the greatest text of a group, short, long, empty and NULL ones, from dictionaries
// and pages of values, are the CPU's: where a device has all groups and few or all of them leave,
// where it regroups them, and on two devices.
func TestDeviceTextStates(t *testing.T) {
	gputest.Need(t, 2)
	const group, groups = 120, 8
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1), gagg.DevicePays()}
	small := []parquet.WriterOption{parquet.DictionaryMaxBytes(1 << 10), parquet.PageBufferSize(1 << 9), parquet.Compression(&parquet.Snappy)}
	from := longFile(t, longRows(group*groups, group, 300, 400), group, small...)
	for i, x := range textStates {
		q := gagg.Query{
			From: from, By: items(x.by, ","), Aggs: exprs(items(x.aggs, "|")...), Where: x.where, Having: x.having,
			OrderBy: items(x.order, ","), Limit: x.limit,
		}
		want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		for n, w := range textStateWays {
			if (i+n)%w.every > 0 {
				continue
			}
			tuned := tuned
			if w.few {
				tuned = append(slices.Clone(tuned), gagg.FewFrom(0))
			}
			check := settled(t)
			got, s, err := answerStats(t, q, tuned.of(w.opt))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %+v: %.300q, want %.300q; %v", w.name, x, got, want, err)
				continue
			}
			check()
			if w.opt.Device != "" && len(s.Fallbacks) > 0 && w.opt.MemoryLimit == 0 {
				t.Errorf("%s: %+v: %+v", w.name, x, s.Fallbacks)
			}
			if w.opt.Device != "" && w.opt.MemoryLimit == 0 && !x.none && s.Encoded.RowGroups != groups {
				t.Errorf("%s: %+v: %+v", w.name, x, s.Encoded)
			}
			for _, d := range s.Devices {
				if w.name == "one device" && (x.selected != (d.Selected > 0) || x.regroups != (d.Regrouped > 0)) {
					t.Errorf("%+v: %+v", x, d)
				}
			}
		}
	}
}

// Groups with texts in their states leave a device that has no room for them, and meet on the CPU;
// also where memory is limited, and they take copies of their texts to disk.
func TestDeviceTextStatesLeave(t *testing.T) {
	gputest.Need(t, 1)
	const group, groups = 200, 60
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1), gagg.DevicePays()}
	small := []parquet.WriterOption{parquet.DictionaryMaxBytes(1 << 10), parquet.PageBufferSize(1 << 9)}
	q := gagg.Query{
		From: longFile(t, longRows(group*groups, group, 500, 900), group, small...), By: []string{"plain"},
		Aggs: exprs("count(*)", "min(text)", "max(text)", "min(n, 8)", "max(n, 8)"),
	}
	want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
	evicted := 0
	for _, limit := range []int64{0, 16 << 20, 24 << 20} {
		check := settled(t)
		got, s, err := answerStats(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: 3 << 20, Partitions: 8, MemoryLimit: limit}))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("limit %d: %d groups, want %d, or others; %v", limit, len(got), len(want), err)
		}
		check()
		if t.Logf("limit %d: %+v, %d spilled, %+v", limit, s.Devices, s.SpilledBytes, s.Fallbacks); len(s.Devices) > 0 && s.Devices[0].EvictedRows > 0 {
			evicted++
		}
	}
	if evicted < 2 {
		t.Errorf("%d times were rows evicted", evicted)
	}
}

// F67: whichever driver call of a query with texts in its states fails, the whole answer comes from
// the CPU, and nothing is left.
func TestDeviceTextStatesFaults(t *testing.T) {
	gputest.Need(t, 1)
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	from := longFile(t, longRows(1200, 200, 500, 900), 200, parquet.DictionaryMaxBytes(1<<10), parquet.PageBufferSize(1<<9))
	q := gagg.Query{From: from, By: []string{"text"}, Aggs: exprs("count(distinct n) as d", "min(plain)", "max(text)"), OrderBy: []string{"-d", "text"}, Limit: 9}
	f := deviceTrial{
		query: q, want: mustAnswer(t, q, gagg.Options{Device: "cpu"}), e: e,
		opt: gagg.Tuned(gagg.Options{Device: "auto", Threads: 2, Streams: 1, GPUMemory: 24 << 20, MemoryLimit: 64 << 20}, gagg.DevicePays()),
	}
	calls := f.calls(t)
	const trials = 12
	for i := range trials {
		f.failing(t, calls[i*len(calls)/trials], i%len(codes), i%2 == 0)
	}
}
