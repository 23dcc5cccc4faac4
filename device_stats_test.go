package gagg

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/ega/secondpass"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/streams"
)

// What parts of a run did on a device is one entry, by number, and no field of it
// is lost.
func TestAddDevice(t *testing.T) {
	part := DeviceStats{Number: 1, Name: "A"}
	for i, fields := 0, reflect.ValueOf(&part).Elem(); i < fields.NumField(); i++ {
		if f := fields.Field(i); f.Kind() == reflect.Int64 {
			f.SetInt(int64(i))
		}
	}
	part.Streams = []StreamStats{{Jobs: 3, BytesIn: 8, CopyIn: 1}}
	devices := addDevice(addDevice(addDevice(nil, part), DeviceStats{Number: 0, Name: "B"}), part)
	if len(devices) != 2 || devices[0].Name != "B" || len(devices[1].Streams) != 2 {
		t.Fatalf("%+v", devices)
	}
	if one := devices[1].Streams[0]; one.Jobs != 3 || one.BytesIn != 8 || one.CopyIn != 1 {
		t.Errorf("%+v", one)
	}
	once, twice := reflect.ValueOf(part), reflect.ValueOf(devices[1])
	for i := range once.NumField() {
		name := once.Type().Field(i).Name
		if once.Field(i).Kind() != reflect.Int64 {
			continue
		}
		want := 2 * once.Field(i).Int()
		if strings.HasSuffix(name, "Memory") {
			want = once.Field(i).Int() // a peak
		}
		if got := twice.Field(i).Int(); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

// The passes' counts reach the fields of their names.
func TestPassStats(t *testing.T) {
	got := newDeviceStats(gpu.Stats{
		Number: 11, Name: "A", Start: time.Second, Memory: 12, Peak: 13,
		First: firstpass.Stats{
			Rows: 1, Slots: 2, Growths: 3, Groups: 4, InCore: true, RestRows: 5, Stats: evict.Stats{Evictions: 6, WrittenRows: 7, WrittenBytes: 8},
			Streams: streams.Stats{Streams: []streams.StreamStats{{Jobs: 9, BytesIn: 8, CopyIn: time.Second}, {Jobs: 1}}},
		},
		Second: []secondpass.Stats{{Buckets: 1, Rows: 2, Full: 3}, {Buckets: 1}},
	})
	want := DeviceStats{
		Number: 11, Name: "A", Start: 1, Memory: 12, PeakMemory: 13,
		Tiles: 10, Rows: 1, InCore: true, Groups: 4, TableSlots: 2, Grown: 3, RestRows: 5, Evictions: 6, EvictedRows: 7, EvictedBytes: 8,
		Buckets: 2, BucketRows: 2, FullBuckets: 3,
		Streams: []StreamStats{{Jobs: 9, BytesIn: 8, CopyIn: 1}, {Jobs: 1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Stats is read by programs: its names stay.
func TestFallbackNames(t *testing.T) {
	out, err := json.Marshal(Fallback{"run", "context lost", 1})
	if err != nil || string(out) != `{"what":"run","why":"context lost","count":1}` {
		t.Errorf("%s, %v", out, err)
	}
}
