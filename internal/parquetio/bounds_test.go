package parquetio

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// F46: what a bound says in the table's type, or that it says nothing.
func TestTableBound(t *testing.T) {
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	milli, nano := column.TimestampType(column.Milli, false), column.TimestampType(column.Nano, false)
	dec9, dec18, dec38 := column.DecimalType(9, 2), column.DecimalType(18, 2), column.DecimalType(38, 2)
	cases := []struct {
		name       string
		b          []byte
		physical   format.Type
		from, want column.Type
		max        bool
		value      string
	}{
		{"int32", le32(1<<32 - 5), format.Int32, kind(column.Int32), kind(column.Int32), false, "-5"},
		{"int32 in a table of int64", le32(1<<32 - 5), format.Int32, kind(column.Int32), kind(column.Int64), false, "-5"},
		{"uint32", le32(1<<32 - 5), format.Int32, kind(column.Uint32), kind(column.Uint32), false, "4294967291"},
		{"uint32 in a table of int64", le32(1<<32 - 5), format.Int32, kind(column.Uint32), kind(column.Int64), false, "4294967291"},
		{"int64 of 4 bytes", le32(5), format.Int64, kind(column.Int64), kind(column.Int64), false, "none"},
		{"int32 of no bytes", nil, format.Int32, kind(column.Int32), kind(column.Int32), false, "none"},
		{"bool", []byte{1}, format.Boolean, kind(column.Bool), kind(column.Bool), true, "1"},
		{"bool of 2 bytes", []byte{1, 1}, format.Boolean, kind(column.Bool), kind(column.Bool), true, "none"},
		{"float in a table of double", le32(math.Float32bits(0.5)), format.Float, kind(column.Float32), kind(column.Float64), true, "0.5"},
		{"NaN", le64(math.Float64bits(math.NaN())), format.Double, kind(column.Float64), kind(column.Float64), true, "none"},
		{"a minimum of 0 may be -0", le64(0), format.Double, kind(column.Float64), kind(column.Float64), false, "-0"},
		{"a maximum of -0 may be 0", le64(1 << 63), format.Double, kind(column.Float64), kind(column.Float64), true, "0"},
		{"string", []byte("ab"), format.ByteArray, kind(column.String), kind(column.String), true, "ab"},
		{"an empty string may be no bound", []byte{}, format.ByteArray, kind(column.String), kind(column.String), false, "none"},
		{"milliseconds in a table of nanoseconds", le64(7), format.Int64, milli, nano, false, "7000000"},
		{"milliseconds that do not fit nanoseconds", le64(math.MaxInt64 / 2), format.Int64, milli, nano, true, "none"},
		{"INT96", make([]byte, 12), format.Int96, column.TimestampType(column.Micro, false), nano, true, "none"},
		{"decimal in an int32", le32(1<<32 - 5), format.Int32, dec9, dec18, false, "-5"},
		{"decimal in an int64, the table's is wide", le64(1<<64 - 5), format.Int64, dec18, dec38, false, "-5"},
		{"decimal in bytes", []byte{255}, format.FixedLenByteArray, dec9, dec9, false, "none"},
		{"half float", []byte{0, 0}, format.FixedLenByteArray, kind(column.Float16), kind(column.Float16), false, "none"},
	}
	for _, c := range cases {
		v, ok := tableBound(c.b, c.physical, c.from, c.want, c.max)
		got := "none"
		if ok {
			got = valueText(v)
		}
		if got != c.value || ok && v.Type != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.value)
		}
	}
}

// The old min and max count only for types that have one order.
func TestStatisticsOrder(t *testing.T) {
	old := format.Statistics{Min: []byte("old"), Max: []byte("old")}
	both := format.Statistics{Min: []byte("old"), Max: []byte("old"), MinValue: []byte("new"), MaxValue: []byte("new")}
	cases := []struct {
		kind     column.Kind
		physical format.Type
		ordered  bool
		stats    format.Statistics
		want     string
	}{
		{column.Int32, format.Int32, true, both, "new"},
		{column.Int32, format.Int32, true, old, "old"},
		{column.Int32, format.Int32, false, both, "new"},
		{column.Uint32, format.Int32, true, both, "new"},
		{column.Uint32, format.Int32, true, old, ""},
		{column.Uint32, format.Int32, false, both, ""},
		{column.String, format.ByteArray, true, both, "new"},
		{column.String, format.ByteArray, true, old, ""},
		{column.String, format.ByteArray, false, both, ""},
	}
	for _, c := range cases {
		f := &file{meta: &format.FileMetaData{ColumnOrders: make([]format.ColumnOrder, 1)}}
		if c.ordered {
			f.meta.ColumnOrders[0].Value = new(format.TypeDefinedOrder)
		}
		low, high := statistics(f, &leaf{typ: column.Type{Kind: c.kind}, physical: c.physical}, &c.stats)
		if string(low) != c.want || string(high) != c.want {
			t.Errorf("%+v: got %q, %q", c, low, high)
		}
	}
}

// A minimum above the maximum is a fault of the writer: neither counts.
func TestBoundsContradict(t *testing.T) {
	f := oneChunk(format.Statistics{MinValue: le64(5), MaxValue: le64(4), NullCount: 11})
	b := groupBounds(f, 0, 0, column.Type{Kind: column.Int64})
	if b.HasMin || b.HasMax || b.Nulls != -1 || b.Rows != 10 {
		t.Errorf("%+v", b)
	}
}

// oneChunk is a file of ten rows in a column of int64 with these statistics.
func oneChunk(s format.Statistics) *file {
	md := format.ColumnMetaData{Type: format.Int64, Statistics: s}
	return &file{
		leaves: []leaf{{typ: column.Type{Kind: column.Int64}}},
		groups: []rowGroup{{rows: 10}},
		meta:   new(format.FileMetaData),
		chunks: chunkTable{whole: []format.RowGroup{{Columns: []format.ColumnChunk{{MetaData: md}}}}},
	}
}

func FuzzTableBound(f *testing.F) {
	f.Add([]byte{}, int32(1), int32(2), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, physical, width int32, kind uint8) {
		from := column.Type{Kind: column.Kind(kind % 22), Width: width}
		if from.Kind == column.Decimal {
			from.Precision = 1 + kind%76
		}
		if v, ok := tableBound(b, format.Type(physical), from, from, true); ok && v.Type != from {
			t.Error(v)
		}
	})
}

// everyType has a column for each way that a bound is decoded.
type everyType struct {
	Bool   bool     `parquet:"bool"`
	I8     int8     `parquet:"i8"`
	I32    int32    `parquet:"i32"`
	I64    *int64   `parquet:"i64,optional"`
	U32    uint32   `parquet:"u32"`
	U64    uint64   `parquet:"u64,dict"`
	F32    float32  `parquet:"f32"`
	F64    *float64 `parquet:"f64,optional"`
	Text   *string  `parquet:"text,optional,dict"`
	Bytes  []byte   `parquet:"bytes"`
	UUID   [16]byte `parquet:"uuid,uuid"`
	Day    int32    `parquet:"day,date"`
	Millis int64    `parquet:"millis,timestamp(millisecond)"`
	Small  int32    `parquet:"small,decimal(2:9)"`
	Large  int64    `parquet:"large,decimal(2:18)"`
	Fixed  [9]byte  `parquet:"fixed,decimal(3:20)"`
}

func randomRows(r *rand.Rand, n int) []everyType {
	rows := make([]everyType, n)
	base := r.Int64N(1 << 40)
	for i := range rows {
		x := base + r.Int64N(50) - 25
		row := everyType{
			Bool: x%2 == 0, I8: int8(x), I32: int32(x), U32: uint32(x), U64: uint64(x) << 24, F32: float32(x%5 - 2),
			Bytes: fmt.Appendf(nil, "\xff%d", x), Day: int32(x), Millis: x, Small: int32(x % 999999), Large: -x,
		}
		if r.IntN(5) > 0 {
			text := strings.Repeat("long common prefix ", r.IntN(8)) + fmt.Sprint(x)
			f := []float64{float64(x), math.NaN(), 0, math.Copysign(0, -1), math.Inf(1)}[r.IntN(5)]
			row.I64, row.F64, row.Text = &x, &f, &text
		}
		binary.BigEndian.PutUint64(row.UUID[4:], uint64(x)*0x9E3779B97F4A7C15)
		binary.BigEndian.PutUint64(row.Fixed[1:], uint64(x))
		rows[i] = row
	}
	return rows
}

// No value of a row group may lie outside its bounds or be denied by its
// bloom filter, whatever the type.
func TestBoundsHold(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	var rows []everyType
	for range 10 {
		rows = append(rows, randomRows(r, 100)...)
	}
	var filters []parquet.BloomFilterColumn
	for _, f := range parquet.SchemaOf(everyType{}).Fields() {
		if f.Type().Kind() != parquet.Boolean {
			filters = append(filters, parquet.SplitBlockFilter(10, f.Name()))
		}
	}
	writeRows(t, "f.parquet", 100, rows, parquet.BloomFilters(filters...))
	seen := checkBounds(t, mustOpen(t, Options{}, "f.parquet"))
	if seen.bounds < 12*10 || seen.blooms < 12*10 || seen.denied == 0 {
		t.Errorf("%+v", seen)
	}
}

// boundsSeen counts what checkBounds met, so that a test notices when it
// checks nothing.
type boundsSeen struct{ bounds, blooms, denied int }

func checkBounds(t *testing.T, d *Dataset) (seen boundsSeen) {
	t.Helper()
	for c, field := range d.Schema().Fields {
		s, err := d.Scan(ScanOptions{Columns: []int{c}})
		if err != nil {
			continue // lists, types that disagree: other tests
		}
		r := s.NewReader()
		var batch column.Batch
		for u, unit := range s.Units() {
			b := s.bounds(s.fileOf[unit.of], unit.Group, 0)
			if b.HasMin && b.HasMax {
				seen.bounds++
			}
			if b.MaybeIn != nil {
				seen.blooms++
			}
			if err := r.Open(u); err != nil {
				break // reading is not what is tested
			}
			nulls := int64(0)
			for ok, err := r.Next(&batch); ok && err == nil; ok, err = r.Next(&batch) {
				for i := range batch.Rows {
					v := batch.Cols[0].At(i)
					if v.Null {
						nulls++
						continue
					}
					seen.denied += checkValue(t, unit.File, field, b, v)
				}
			}
			if b.Nulls >= 0 && nulls != b.Nulls {
				t.Errorf("%s %s: %d NULLs, the footer says %d", unit.File, field.Name, nulls, b.Nulls)
			}
		}
		r.Close()
	}
	return seen
}

// checkValue checks one value, and counts whether a value nearby is denied by
// the bloom filter.
func checkValue(t *testing.T, file string, field column.Field, b column.Bounds, v column.Value) int {
	t.Helper()
	if v.Float == v.Float { // NaN never counts
		if b.HasMin && less(field.Type, v, b.Min) || b.HasMax && less(field.Type, b.Max, v) {
			t.Errorf("%s %s: %s is not within %s and %s", file, field.Name, valueText(v), valueText(b.Min), valueText(b.Max))
		}
	}
	if b.MaybeIn == nil {
		return 0
	}
	if !b.MaybeIn(v) {
		t.Errorf("%s %s: the bloom filter denies %s", file, field.Name, valueText(v))
	}
	v.Int, v.Float, v.Bytes = v.Int+1000, v.Float+1000.5, v.Bytes+"!"
	if !b.MaybeIn(v) {
		return 1
	}
	return 0
}

// F46: the same rows pass a filter with pruning and without.
func TestSkipKeepsMatches(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 4 {
		var rows []idName
		for range 50 {
			x := int64(i*100) + r.Int64N(100)
			rows = append(rows, idName{x, str(fmt.Sprint("n", x/10))})
		}
		writeRows(t, fmt.Sprintf("d/k=%d/f.parquet", i), 10, rows)
	}
	d := mustOpen(t, Options{}, "d")
	id, _ := d.Find("id")
	k, _ := d.Find("k")
	cols := []int{id, k}
	for lo := int64(-10); lo < 420; lo += 7 {
		hi := lo + r.Int64N(30)
		matches := func(b *column.Batch, i int) bool {
			x, key := b.Cols[0].At(i).Int, b.Cols[1].At(i).Int
			return x >= lo && x <= hi && key != 2
		}
		skip := func(bounds func(int) column.Bounds) bool {
			b, key := bounds(0), bounds(1)
			return b.HasMax && b.Max.Int < lo || b.HasMin && b.Min.Int > hi || key.Min.Int == 2 && key.Max.Int == 2
		}
		all, _ := matching(t, d, ScanOptions{Columns: cols}, matches)
		pruned, s := matching(t, d, ScanOptions{Columns: cols, Skip: skip}, matches)
		if all != pruned {
			t.Fatalf("%d to %d: %s, pruned %s", lo, hi, all, pruned)
		}
		groups, rows, bytes := s.Skipped()
		if groups < 10 || groups+len(s.Units()) != 20 || rows != int64(groups)*10 || bytes <= 0 {
			t.Fatal(groups, rows, bytes, len(s.Units()))
		}
	}
}

// matching lists the row numbers that pass.
func matching(t *testing.T, d *Dataset, o ScanOptions, pass func(*column.Batch, int) bool) (string, *Scan) {
	t.Helper()
	s, err := d.Scan(o)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	err = eachBatch(s, func(b *column.Batch) {
		for i := range b.Rows {
			if pass(b, i) {
				rows = append(rows, fmt.Sprint(b.First+int64(i)))
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(rows, " "), s
}
