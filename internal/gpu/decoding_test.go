package gpu

import (
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/streams"
)

// planOf makes rows of so many columns, of which the first half are keys.
func planOf(t *testing.T, columns int) *decode.Plan {
	t.Helper()
	plan := &decode.Plan{HashWords: 1, KeyWords: columns / 2, States: make([]kernels.ParquetState, columns)}
	var words []int
	for i := range columns {
		o := decode.Output{Source: i, Field: -1, ParquetOutput: kernels.ParquetOutput{Form: kernels.ParquetValue, Words: 1}}
		if i < columns/2 {
			o.Field, o.Form, words = i, kernels.ParquetBits, append(words, i)
		}
		plan.Outputs = append(plan.Outputs, o)
	}
	if err := plan.Place(words); err != nil {
		t.Fatal(err)
	}
	return plan
}

// unitsOf is units alike, of columns of 64 bits that take 5 bytes a row in the file.
func unitsOf(columns int, rows int64) Units {
	const n = 100
	u := UnitSize{Rows: rows, Bytes: 5 * rows * int64(columns), Expanded: 8 * rows * int64(columns)}
	return Units{Largest: u, All: UnitSize{Rows: n * u.Rows, Bytes: n * u.Bytes, Expanded: n * u.Expanded}}
}

const (
	mebi = 1 << 20
	gibi = 1 << 30
)

// What is chosen for usual files on usual devices.
func TestPlanDecoding(t *testing.T) {
	for _, test := range []struct {
		columns, lanes int
		rows, memory   int64
		want           string
	}{
		// Small units share a batch, of the usual size.
		{3, 0, 200, 0, "20000 rows in 12 MiB, 4 streams, 20 slots"},
		{3, 0, 122_880, 0, "559240 rows in 12 MiB, 4 streams, 20 slots"},
		{9, 0, 122_880, 72 * gibi, "186413 rows in 12 MiB, 4 streams, 20 slots"},
		// A large one has a batch of its own; two streams occupy a device.
		{3, 0, mebi, 16 * gibi, "1048576 rows in 22 MiB, 2 streams, 18 slots"},
		{9, 0, mebi, 16 * gibi, "1048576 rows in 67 MiB, 2 streams, 18 slots"},
		{9, 0, mebi, 72 * gibi, "1048576 rows in 67 MiB, 2 streams, 18 slots"},
		// Where there is little memory batches are smaller, and then there is one stream.
		{9, 0, 5 * mebi, 72 * gibi, "5242880 rows in 337 MiB, 1 streams, 12 slots"},
		{3, 0, 200, 256 * mebi, "20000 rows in 3 MiB, 2 streams, 20 slots"},
		{3, 0, 200, 16 * mebi, "2184 rows in 0 MiB, 3 streams, 20 slots"},
		{3, 0, 5 * mebi, 16 * gibi, "5242880 rows in 112 MiB, 1 streams, 18 slots"},
		{9, 0, mebi, 2 * gibi, "none"},
		// Streams that were asked for are kept to.
		{3, 2, 122_880, 16 * gibi, "559240 rows in 12 MiB, 2 streams, 20 slots"},
		{3, 16, 122_880, 16 * gibi, "279620 rows in 6 MiB, 16 streams, 20 slots"},
		{9, 8, mebi, 16 * gibi, "none"},
		{9, 8, mebi, 72 * gibi, "1048576 rows in 67 MiB, 8 streams, 18 slots"},
	} {
		d := PlanDecoding(planOf(t, test.columns), unitsOf(test.columns, test.rows), test.memory, test.lanes)
		got := "none"
		if d.Plan != nil {
			got = fmt.Sprintf("%d rows in %d MiB, %d streams, %d slots", d.Limits.Rows, d.Limits.Bytes/mebi, d.Streams, d.slots(16))
		}
		if got != test.want {
			t.Errorf("%d columns of %d rows, %d MiB, %d streams: %s, want %s", test.columns, test.rows, test.memory/mebi, test.lanes, got, test.want)
		}
	}
}

// Whatever the units and the memory, a batch has room for any unit, the stages take no more than
// their part, and nothing is chosen only where one unit at a time would take more.
func TestPlanDecodingFits(t *testing.T) {
	for _, columns := range []int{2, 3, 20} {
		plan := planOf(t, columns)
		for rows := int64(1); rows <= 2*firstpass.MaxMadeRows; rows = rows*3 + 1 {
			for memory := int64(mebi); memory <= 1<<40; memory *= 4 {
				for _, lanes := range []int{0, 1, 5} {
					checkDecoding(t, plan, unitsOf(columns, rows), memory, lanes)
				}
			}
		}
	}
}

func checkDecoding(t *testing.T, plan *decode.Plan, units Units, memory int64, lanes int) {
	t.Helper()
	d := PlanDecoding(plan, units, memory, lanes)
	name := fmt.Sprintf("%+v in %d MiB, %d streams", units.Largest, memory/mebi, lanes)
	if d.Plan == nil {
		least := Decoding{Plan: plan}
		least.set(units.Largest)
		if units.Largest.Rows <= firstpass.MaxMadeRows && least.stage*int64(streams.DefaultDepth*max(lanes, 1)) <= memory/decodingParts {
			t.Errorf("%s: none, and the largest unit takes %d bytes", name, least.stage)
		}
		return
	}
	l, u := d.Limits, units.Largest
	if int64(l.Rows) < u.Rows || int64(l.Bytes) < u.Bytes || l.Rows > firstpass.MaxMadeRows || l.Work < plan.UnitsWork(u.Rows, u.Bytes, u.Expanded) {
		t.Errorf("%s: no room for a unit: %+v", name, l)
	}
	if d.Streams < 1 || lanes > 0 && d.Streams != lanes || d.Streams > max(lanes, decodingStreams) {
		t.Errorf("%s: %d streams", name, d.Streams)
	}
	if all := d.stage * int64(d.Streams*streams.DefaultDepth); all > memory/decodingParts {
		t.Errorf("%s: stages take %d bytes", name, all)
	}
	if n := d.slots(16); n < leastSlots || n > leastSlots && n*l.Bytes > pinnedBatches {
		t.Errorf("%s: %d slots of %d bytes", name, n, l.Bytes)
	}
}

// A device with more or less memory than was thought has the streams that fit there.
func TestDecodingStreams(t *testing.T) {
	d := PlanDecoding(planOf(t, 3), unitsOf(3, 122_880), 0, 0)
	for memory, want := range map[int64]int{d.stage: 0, 9 * d.stage: 1, 9*d.stage - 1: 0, 30 * d.stage: 3, 1 << 40: decodingStreams} {
		if got := d.streams(memory); got != want {
			t.Errorf("%d streams in %d of a stage, want %d", got, memory/d.stage, want)
		}
	}
	if none := (&Decoding{}); none.streams(1<<40) != 0 {
		t.Error("streams without a plan")
	}
}
