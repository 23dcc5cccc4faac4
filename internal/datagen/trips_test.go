package datagen

import (
	"bytes"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Trips come in the order of pickups but for a minute, some fields are NULL, and drivers have as
// many trips as they should.
func TestTrips(t *testing.T) {
	table := Trips{Rows: 50_000, Seed: 2}
	trips := table.trips(0)
	if !slices.Equal(trips, table.trips(0)) {
		t.Error("trips depend on more than their row group")
	}
	drivers, passengers := map[int64]bool{}, 0
	for i, p := range trips {
		drivers[p.driver] = true
		if p.passengers == 0 {
			passengers++
		}
		if i > 0 && p.pickup < trips[i-1].pickup-60e6 {
			t.Fatalf("trip %d begins %d µs before the one in front of it", i, trips[i-1].pickup-p.pickup)
		}
		if p.dropoff < p.pickup || p.from < 1 || p.from > zones || p.to > zones || p.distance < 1 || p.fare < 400 {
			t.Fatalf("trip %d is %+v", i, p)
		}
	}
	if n := len(drivers); n < 990 || n > 1000 {
		t.Errorf("%d drivers of 1000", n)
	}
	if passengers < 2300 || passengers > 2700 {
		t.Errorf("the passengers of %d trips of 50,000 are not known", passengers)
	}
}

func TestTripsFile(t *testing.T) {
	var out bytes.Buffer
	if err := (Trips{Rows: 130_000, Seed: 2}).WriteParquet(&out); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got := file.NumRows(); got != 130_000 || len(file.RowGroups()) != 2 || len(file.Schema().Fields()) != 14 {
		t.Errorf("%d rows, %d row groups, %d columns", got, len(file.RowGroups()), len(file.Schema().Fields()))
	}
	payment := slices.IndexFunc(file.Schema().Fields(), func(f parquet.Field) bool { return f.Name() == "payment" })
	index, err := file.RowGroups()[0].ColumnChunks()[payment].ColumnIndex()
	if err != nil {
		t.Fatal(err)
	}
	if n := index.NullCount(0); n == 0 {
		t.Error("all payments are known")
	}
}
