package datagen

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/parquet-go/parquet-go"
)

// Trips is a table like those that taxi companies publish: 14 columns of a trip, in the order of
// pickups. Some fields are NULL in some rows, distances and tips are doubles, zones are skewed, and
// drivers are texts of 32 bytes, 1 for 50 trips.
//
// The layout is DuckDB's, like that of H2O.
type Trips struct {
	Rows int64
	Seed uint64
}

const (
	firstPickup  = 1_546_300_800_000_000 // 2019-01-01, in microseconds
	pickupsSpan  = 365 * 86400 * 1e6
	zones        = 265
	cars         = 13_000
	tripsADriver = 50
)

// WriteParquet writes the table as one file. It uses all processors; memory does not grow with
// Rows.
func (t Trips) WriteParquet(w io.Writer) error {
	if err := writeRows(w, "trips", t.Rows, tripColumns(), t.trips); err != nil {
		return fmt.Errorf("writing %d trips: %w", t.Rows, err)
	}
	return nil
}

// trip is a row of Trips.
type trip struct {
	pickup, dropoff            int64 // microseconds since 1970
	vendor, stored             int
	passengers, payment        int32 // 0: NULL
	from, to, car              int32
	distance, tip, temperature float64
	fare                       int64 // cents
	driver                     int64
}

// trips makes row group g.
func (t Trips) trips(g int) []trip {
	low, drivers := int64(g)*duckRowGroup, max(t.Rows/tripsADriver, 1)
	rng := rand.New(rand.NewPCG(t.Seed, uint64(g)))
	out := make([]trip, rowsOf(g, t.Rows))
	skewed := func(n float64) int32 { return int32(n * rng.Float64() * rng.Float64()) }
	cents := func(x float64) float64 { return math.Round(100*x) / 100 }
	for i := range out {
		p := &out[i]
		p.pickup = firstPickup + int64(float64(low+int64(i))/float64(t.Rows)*pickupsSpan) + rng.Int64N(60e6)
		p.dropoff = p.pickup + rng.Int64N(2400e6)
		p.vendor, p.stored = rng.IntN(5)/3, rng.IntN(10)/9
		if rng.IntN(20) > 0 {
			p.passengers = 1 + rng.Int32N(6)
		}
		if rng.IntN(50) > 0 {
			p.payment = 1 + rng.Int32N(5)
		}
		p.from, p.to, p.car = 1+skewed(zones), 1+skewed(zones), rng.Int32N(cars)
		p.distance = cents(math.Exp(3.5 * rng.Float64()))
		if rng.IntN(5) > 1 {
			p.tip = cents(12 * rng.Float64())
		}
		p.fare = 300 + int64(100*math.Exp(4.2*rng.Float64()))
		p.temperature, p.driver = cents(100*rng.Float64()), rng.Int64N(drivers)
	}
	return out
}

// tripColumns is the columns in alphabetical order, as the schema has them.
func tripColumns() []rowColumn[trip] {
	text := func(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }
	time := func() parquet.Node { return parquet.TimestampAdjusted(parquet.Microsecond, false) }
	known := func(n int32) parquet.Value {
		if n == 0 {
			return parquet.NullValue()
		}
		return parquet.Int32Value(n)
	}
	return []rowColumn[trip]{
		{"car", parquet.Int(32), true, func(t *trip) parquet.Value { return parquet.Int32Value(t.car) }},
		{"distance", parquet.Leaf(parquet.DoubleType), false, func(t *trip) parquet.Value { return parquet.DoubleValue(t.distance) }},
		{"driver", parquet.String(), true, func(t *trip) parquet.Value {
			return text(fmt.Sprintf("%016x%016x", scramble(uint64(t.driver)), scramble(^uint64(t.driver))))
		}},
		{"dropoff", time(), true, func(t *trip) parquet.Value { return parquet.Int64Value(t.dropoff) }},
		{"fare", parquet.Decimal(2, 10, parquet.Int64Type), true, func(t *trip) parquet.Value { return parquet.Int64Value(t.fare) }},
		{"from_zone", parquet.Int(16), false, func(t *trip) parquet.Value { return parquet.Int32Value(t.from) }},
		{"passengers", parquet.Int(8), false, func(t *trip) parquet.Value { return known(t.passengers) }},
		{"payment", parquet.Int(32), false, func(t *trip) parquet.Value { return known(t.payment) }},
		{"pickup", time(), true, func(t *trip) parquet.Value { return parquet.Int64Value(t.pickup) }},
		{"stored", parquet.String(), false, func(t *trip) parquet.Value { return text("NY"[t.stored : t.stored+1]) }},
		{"temperature", parquet.Leaf(parquet.FloatType), false, func(t *trip) parquet.Value { return parquet.FloatValue(float32(t.temperature)) }},
		{"tip", parquet.Leaf(parquet.DoubleType), false, func(t *trip) parquet.Value { return parquet.DoubleValue(t.tip) }},
		{"to_zone", parquet.Int(16), false, func(t *trip) parquet.Value { return parquet.Int32Value(t.to) }},
		{"vendor", parquet.String(), false, func(t *trip) parquet.Value { return text([]string{"CMT", "VTS"}[t.vendor]) }},
	}
}
