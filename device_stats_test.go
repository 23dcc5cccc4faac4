package gagg

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/ega/secondpass"
	"github.com/gagg-dev/gagg/internal/bounded"
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
	part.Streams = streamStats(streams.Stats{Streams: []streams.StreamStats{{Jobs: 3, BytesIn: 8, CopyIn: time.Second}}})
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

// A fallback is told once and counted always.
func TestFallbacks(t *testing.T) {
	var f fallbacks
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { f.fellBack(log, "bucket", "no memory") })
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	f.fellBack(log, "run", "context lost")
	told := f.told()
	if len(told) != 2 || told[0] != (Fallback{"bucket", "no memory", 10}) {
		t.Errorf("%+v", told)
	}
	if n := strings.Count(text.String(), "level=WARN"); n != 2 {
		t.Errorf("%d lines in the log:\n%s", n, text.String())
	}
	out, err := json.Marshal(told[1])
	if err != nil || string(out) != `{"what":"run","why":"context lost","count":1}` {
		t.Errorf("%s, %v", out, err)
	}
}

// The passes' counts reach the fields of their names.
func TestPassStats(t *testing.T) {
	first := firstPass(firstpass.Stats{
		Rows: 1, Slots: 2, Growths: 3, Groups: 4, InCore: true, RestRows: 5, Stats: evict.Stats{Evictions: 6, WrittenRows: 7, WrittenBytes: 8},
		Streams: streams.Stats{Streams: []streams.StreamStats{{Jobs: 9}, {Jobs: 1}}},
	})
	want := DeviceStats{
		Tiles: 10, Rows: 1, InCore: true, Groups: 4, TableSlots: 2, Grown: 3, RestRows: 5, Evictions: 6, EvictedRows: 7, EvictedBytes: 8,
		Streams: []StreamStats{{Jobs: 9}, {Jobs: 1}},
	}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("got %+v, want %+v", first, want)
	}
	if second := secondPass(secondpass.Stats{Buckets: 1, Rows: 2, Full: 3}); second.Buckets != 1 || second.BucketRows != 2 || second.FullBuckets != 3 {
		t.Errorf("%+v", second)
	}
}
