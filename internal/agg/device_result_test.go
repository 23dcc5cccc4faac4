package agg

import (
	"math"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// of is the field of a row.
func (f DeviceField) of(row []uint64) uint64 { return row[f.Word] >> f.Shift & f.Mask }

// of is the word of a result, as a device makes it of a row; bad: it cannot.
func (r *DeviceResult) of(row []uint64) (word uint64, null, bad bool) {
	rows := r.Rows.Rows.of(row) + r.Rows.Least - r.Rows.Nulls.of(row)
	if r.From == ResultRows {
		return rows, false, false
	}
	if word = row[r.Word]; rows == 0 {
		return 0, true, false
	}
	others := uint64(0)
	switch r.From {
	case ResultBits:
		word = word&r.Mask ^ r.Flip
	case ResultWide:
		others = uint64(int64(word) >> 63)
	case ResultPositive:
		bad = int64(word) < 0
	case ResultDouble:
		word = math.Float64bits(math.Float64frombits(word) + 0)
	case ResultDoubles:
		word = math.Float64bits(compensated{math.Float64frombits(word), math.Float64frombits(row[r.High])}.value())
	}
	for _, w := range row[r.High:][:r.More] {
		bad = bad || w != others
	}
	if r.Point == 0 || bad {
		return word, false, bad
	}
	by := float64(int64(rows)) * r.Point
	if r.From == ResultDoubles {
		return math.Float64bits(math.Float64frombits(word) / by), false, false
	}
	const exact = 1 << 53
	sum := int64(word)
	return math.Float64bits(float64(sum) / by), false, sum > exact || sum < -exact || by > exact
}

// What a device makes of the words of a row is what Finish makes, to the bit, or it can tell that
// it is not; and the aggregates that it knows are those that it combines, but for moments.
func TestDeviceResult(t *testing.T) {
	t.Parallel()
	told, bads := map[funcID]int{}, 0
	forDevice(t, func(t *testing.T, l *Layout, d *testData, _ ega.Layout) {
		w := newWorker(l, &arena.Arenas{})
		w.update(d, seq(len(d.gids)))
		want, err := w.results(t, d.groups)
		if err != nil {
			return // a sum that does not fit
		}
		for c := range l.calls {
			r, ok := l.DeviceResult(c)
			if !ok {
				continue
			}
			told[l.calls[c].fn]++
			for g, v := range want[c] {
				id, _ := w.group(uint32(g))
				word, null, bad := r.of(w.row(id))
				if bad {
					bads++
					continue
				}
				got := column.Value{Type: v.Type, Null: null, Int: int64(word)}
				switch {
				case v.Type.IsFloat():
					got.Int, got.Float = 0, math.Float64frombits(word)
				case v.Type.Rep() == column.RepWide:
					n, fits := int64Of(v)
					v.Wide, v.Int = got.Wide, n
					if !fits && !v.Null {
						t.Fatalf("%s of group %d: %d, want more than that", l.calls[c].name(), g, got.Int)
					}
				}
				if !same(got, v, 0) {
					t.Fatalf("%s of group %d: %s, want %s", l.calls[c].name(), g, show(got), show(v))
				}
			}
		}
	})
	for _, fn := range []funcID{fnCount, fnSum, fnMean, fnMin, fnMax, fnBoolAnd, fnBoolOr, fnBitAnd, fnBitOr, fnBitXor} {
		if told[fn] == 0 {
			t.Errorf("a device knows no result of %s", signatures[fn].name)
		}
	}
	if bads == 0 {
		t.Error("every result was one of 64 bits")
	}
}

// int64Of is a wide value as an int64.
func int64Of(v column.Value) (int64, bool) {
	n := v.Wide.BigInt()
	return n.Int64(), n.IsInt64()
}
