package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/device"
)

// questions of db-benchmark as the plan sees them, for 16 threads and 1e8 rows.
func question(groups float64, bytes int64) DeviceFacts {
	return DeviceFacts{Rereadable: true, Rows: 1e8, Bytes: bytes, Groups: groups, Threads: 16, RowSize: 56}
}

func TestChooseDevice(t *testing.T) {
	t.Parallel()
	small := question(1e6, 14e8)
	small.Rows, small.Bytes = 1e5, 14e5
	two := small
	two.Rows, two.Bytes, two.Threads = 1e7, 14e7, 2
	unpacked := question(100, 4e8)
	unpacked.Encoded, unpacked.Crossing, unpacked.Unpacked = 1, 3e9, 3e9
	medium := question(1e6, 42e7)
	medium.Rows = 3e7
	median := question(1e4, 9e8)
	median.Lists, median.Encoded, median.Crossing = 1, 1, 9e8
	medians := question(1e4, 9e9)
	medians.Lists, medians.Encoded, medians.Crossing, medians.Rows = 1, 1, 9e9, 1e9
	many := question(1e8, 14e9)
	many.Rows = 1e9
	for _, x := range []struct {
		name   string
		f      DeviceFacts
		change func(*DeviceFacts)
		use    bool
		reason string
	}{
		{name: "q1: the table fits a cache", f: question(100, 4e8)},
		{name: "q2", f: question(1e4, 5e8)},
		{name: "q3, and devices decode the columns", f: question(1e6, 14e8), change: decoding, use: true},
		{name: "q1, of a codec that takes workers as long as all else would", f: unpacked},
		{name: "q3: 1e6 groups", f: question(1e6, 14e8), use: true},
		{name: "q5", f: question(1e6, 11e8), use: true},
		{name: "q6: the CPU selects whoever collects", f: median},
		{name: "q6 on a device that is kept open", f: median, change: func(f *DeviceFacts) { f.Kept = true }, use: true},
		{name: "q6 of 1e9 rows", f: medians, use: true},
		{name: "q10: every row a group", f: question(math.Inf(1), 23e8), use: true},
		{name: "q10, for whose groups there is no memory", f: question(math.Inf(1), 23e8), change: room(4 << 30)},
		{name: "q10, for which there is enough", f: question(math.Inf(1), 23e8), change: room(64 << 30), use: true},
		{name: "q3 and little memory", f: question(1e6, 14e8), change: room(1 << 30), use: true},
		{name: "many rows of each of too many groups", f: many, change: room(4 << 30), use: true},
		{name: "1e5 rows: less than a device takes to start", f: small, reason: "predicted: CPU "},
		{name: "1e7 rows on two threads", f: two, use: true},

		{name: "3e7 rows", f: medium},
		{name: "3e7 rows on a device that is kept open", f: medium, change: func(f *DeviceFacts) { f.Kept = true }, use: true},
		{name: "asked for the CPU", f: question(1e6, 14e8), change: ask("cpu"), reason: "as asked for"},
		{name: "asked for a device", f: small, change: ask("gpu"), use: true, reason: "as asked for"},
		{name: "asked for devices", f: small, change: ask("0,1"), use: true, reason: "as asked for"},
		{name: "no device can do it", f: question(1e6, 14e8), change: func(f *DeviceFacts) { f.Unsupported = "median(v3): no" }, reason: "median(v3): no"},
		{name: "no device can do it, asked for or not", f: small, change: func(f *DeviceFacts) {
			f.Unsupported = "median(v3): no"
			ask("gpu")(f)
		}, reason: "median(v3): no"},
		{name: "no device is there", f: question(1e6, 14e8), change: func(f *DeviceFacts) { f.NoDevice = "no driver" }, reason: "no driver"},
		{name: "a stream", f: question(1e6, 14e8), change: func(f *DeviceFacts) { f.Rereadable = false }, reason: "could not be read again"},
		{name: "nobody knows how many rows", f: question(1e6, 14e8), change: func(f *DeviceFacts) { f.Rows = -1 }, reason: "how many rows"},
		{name: "no rows", f: question(1e6, 0), change: func(f *DeviceFacts) { f.Rows, f.Kept = 0, true }, reason: "no rows"},
	} {
		if x.change != nil {
			x.change(&x.f)
		}
		got := defaultCosts.choose(x.f)
		if got.Use != x.use || !strings.Contains(got.Reason, x.reason) || got.Reason == "" {
			t.Errorf("%s: %+v; want device %v, because %q", x.name, got, x.use, x.reason)
		}
	}
}

// encoded has devices make all rows.
func decoding(f *DeviceFacts) { f.Encoded, f.Crossing = 1, f.Bytes }

func room(bytes int64) func(*DeviceFacts) {
	return func(f *DeviceFacts) { f.Memory = bytes }
}

func ask(text string) func(*DeviceFacts) {
	return func(f *DeviceFacts) { f.Spec, _ = device.Parse(text) }
}

// The facts of the rows that are left are their part of the bytes to read and to copy.
func TestDeviceFactsRest(t *testing.T) {
	t.Parallel()
	f := question(1e6, 14e8)
	f.Crossing, f.Unpacked, f.Texts, f.Slow = 1e9, 1e8, 1e6, 4e8
	if got := f.rest(25e6); got.Rows != 25e6 || got.Bytes != 35e7 || got.Crossing != 25e7 || got.Unpacked != 25e6 || got.Slow != 1e8 || got.Texts != 25e4 || got.Groups != f.Groups {
		t.Errorf("%+v", got)
	}
	if got := (DeviceFacts{Bytes: 5}).rest(0); got.Bytes != 0 {
		t.Errorf("%+v", got)
	}
}

// Rows that devices make cost workers less than others, and less yet where they need not decompress
// the columns.
func TestEncodedPays(t *testing.T) {
	t.Parallel()
	rows := question(1e6, 14e8)
	rows.Threads = 4
	half, all := rows, rows
	decoding(&all)
	decoding(&half)
	half.Encoded = 0.5
	unpacked := all
	unpacked.Crossing, unpacked.Unpacked = 3e9, 3e9
	texts, stored := all, all
	texts.Texts, stored.Stored = texts.Rows, texts.Rows
	c := defaultCosts
	if r, h, a, u, x, s := c.device(rows), c.device(half), c.device(all), c.device(unpacked), c.device(texts), c.device(stored); !(a < h && h < r && a < u && a < s && s < x) {
		t.Errorf("as rows %v, half of them %v, encoded %v, decompressed %v, of long texts %v, on the device %v", r, h, a, u, x, s)
	}
}

// More of anything never takes less time, and the answer is a number.
func TestPredictionsGrow(t *testing.T) {
	t.Parallel()
	for _, grow := range []func(*DeviceFacts){
		func(f *DeviceFacts) { f.Rows *= 4 },
		func(f *DeviceFacts) { f.Bytes *= 4 },
		func(f *DeviceFacts) { f.Groups *= 4 },
		func(f *DeviceFacts) { f.RowSize *= 4 },
		func(f *DeviceFacts) { f.Crossing = 4*f.Crossing + 1 },
		func(f *DeviceFacts) { f.Unpacked = 4*f.Unpacked + 1 },
		func(f *DeviceFacts) { f.Slow = 4*f.Slow + 1e6 },
		func(f *DeviceFacts) { f.Texts = 4*f.Texts + 1 },
		func(f *DeviceFacts) { f.Stored = 4*f.Stored + 1 },
	} {
		f := question(1, 1)
		f.Rows = 1
		cpu, device := 0.0, 0.0
		for range 20 {
			c, d := defaultCosts.cpu(f), defaultCosts.device(f)
			if !(c >= cpu && d >= device && d < math.Inf(1) && c < math.Inf(1)) {
				t.Fatalf("%+v: CPU %v after %v, device %v after %v", f, c, cpu, d, device)
			}
			cpu, device = c, d
			grow(&f)
		}
	}
}
