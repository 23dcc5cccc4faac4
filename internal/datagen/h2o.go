package datagen

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"

	"github.com/parquet-go/parquet-go"
)

// duckRowGroup is DuckDB's default row-group size in rows.
const duckRowGroup = 122880

// duckPage is larger than the largest column of H2O's row groups in memory
// (2.6 MB for id3: 12 bytes, a length, a row number and a level a value), so
// that every column chunk is a single data page, as DuckDB writes it.
const duckPage = 4 << 20

// H2O is the group-by table of db-benchmark, without its NULLs:
//
//	id1 id2  "id001".."id100"
//	id3      "id0000000001".. : Rows/100 values
//	id4 id5  int32 1..100
//	id6      int32 1..Rows/100
//	v1 v2    int32 1..5, 1..15
//	v3       double 0..100, six places
type H2O struct {
	Rows int64
	Seed uint64
}

// WriteParquet writes the table with the layout of DuckDB's defaults: Snappy,
// row groups of 122,880 rows, one v1 data page a column chunk, optional
// columns, dictionaries for all columns but id3, id6 and v3. It uses all
// processors; memory does not grow with Rows.
func (h H2O) WriteParquet(w io.Writer) error {
	if err := writeLikeDuckDB(w, h2oSchema(), h.Rows, h.fill); err != nil {
		return fmt.Errorf("writing %d rows of db-benchmark data: %w", h.Rows, err)
	}
	return nil
}

// writeLikeDuckDB writes a file of row groups that fill fills.
func writeLikeDuckDB(w io.Writer, schema *parquet.Schema, rows int64, fill func(g int, columns []*parquet.ColumnWriter) error) error {
	file := parquet.NewGenericWriter[any](w, schema,
		parquet.Compression(&parquet.Snappy),
		parquet.DataPageVersion(1),
		parquet.PageBufferSize(duckPage),
		parquet.MaxRowsPerRowGroup(duckRowGroup))
	groups := int((rows + duckRowGroup - 1) / duckRowGroup)
	if err := writeRowGroups(file, groups, runtime.GOMAXPROCS(0)+1, fill); err != nil {
		return err
	}
	return file.Close()
}

// rowColumn is a column of a table that is made row by row.
type rowColumn[R any] struct {
	name  string
	node  parquet.Node
	plain bool // no dictionary
	value func(*R) parquet.Value
}

// writeRows writes a file of columns, which are in alphabetical order, of the rows that rowsIn
// makes of each row group.
func writeRows[R any](w io.Writer, name string, rows int64, columns []rowColumn[R], rowsIn func(g int) []R) error {
	group := parquet.Group{}
	for _, c := range columns {
		encoding := parquet.Node(parquet.Encoded(c.node, &parquet.RLEDictionary))
		if c.plain {
			encoding = parquet.Encoded(c.node, &parquet.Plain)
		}
		group[c.name] = parquet.Optional(encoding)
	}
	return writeLikeDuckDB(w, parquet.NewSchema(name, group), rows, func(g int, out []*parquet.ColumnWriter) error {
		made := rowsIn(g)
		for c, column := range columns {
			next := -1
			draw := func() parquet.Value {
				next++
				return column.value(&made[next])
			}
			if err := writeDrawn(out[c], c, len(made), draw); err != nil {
				return err
			}
		}
		return nil
	})
}

// rowsOf is how many of the rows row group g holds.
func rowsOf(g int, rows int64) int {
	return int(min(duckRowGroup, rows-int64(g)*duckRowGroup))
}

// plain is an optional column without a dictionary.
func plain(n parquet.Node) parquet.Node {
	return parquet.Optional(parquet.Encoded(n, &parquet.Plain))
}

func h2oSchema() *parquet.Schema {
	dict := func(n parquet.Node) parquet.Node {
		return parquet.Optional(parquet.Encoded(n, &parquet.RLEDictionary))
	}
	return parquet.NewSchema("h2o", parquet.Group{ // in alphabetical order
		"id1": dict(parquet.String()), "id2": dict(parquet.String()), "id3": plain(parquet.String()),
		"id4": dict(parquet.Int(32)), "id5": dict(parquet.Int(32)), "id6": plain(parquet.Int(32)),
		"v1": dict(parquet.Int(32)), "v2": dict(parquet.Int(32)), "v3": plain(parquet.Leaf(parquet.DoubleType)),
	})
}

// fill writes row group g, each column from a generator of its own.
func (h H2O) fill(g int, columns []*parquet.ColumnWriter) error {
	rows := rowsOf(g, h.Rows)
	many := int32(max(h.Rows/100, 1))
	for c, out := range columns {
		rng := rand.New(rand.NewPCG(h.Seed, uint64(g)<<8|uint64(c)))
		var draw func() parquet.Value
		switch c {
		case 0, 1:
			draw = func() parquet.Value { return parquet.ByteArrayValue(fmt.Appendf(nil, "id%03d", 1+rng.Int32N(100))) }
		case 2:
			draw = drawWideID(rng, many)
		case 3, 4:
			draw = func() parquet.Value { return parquet.Int32Value(1 + rng.Int32N(100)) }
		case 5:
			draw = func() parquet.Value { return parquet.Int32Value(1 + rng.Int32N(many)) }
		case 6:
			draw = func() parquet.Value { return parquet.Int32Value(1 + rng.Int32N(5)) }
		case 7:
			draw = func() parquet.Value { return parquet.Int32Value(1 + rng.Int32N(15)) }
		case 8: // a quotient of integers is the double nearest to the six places
			draw = func() parquet.Value { return parquet.DoubleValue(float64(rng.Int32N(1e8+1)) / 1e6) }
		}
		if err := writeDrawn(out, c, rows, draw); err != nil {
			return err
		}
	}
	return nil
}

// drawWideID draws "id%010d" of 1..many without the cost of fmt. The bytes
// live until drawChunk more values were drawn.
func drawWideID(rng *rand.Rand, many int32) func() parquet.Value {
	buf := make([]byte, 12*drawChunk)
	next := 0
	return func() parquet.Value {
		b := buf[12*next : 12*next+12]
		next = (next + 1) % drawChunk
		b[0], b[1] = 'i', 'd'
		n := 1 + rng.Int32N(many)
		for i := 11; i >= 2; i-- {
			b[i] = byte('0' + n%10)
			n /= 10
		}
		return parquet.ByteArrayValue(b)
	}
}

// drawChunk is how many values are drawn before they are handed to the
// column writer, which copies them.
const drawChunk = 1024

// writeDrawn writes rows values of optional column c, some of which may be NULL.
func writeDrawn(out *parquet.ColumnWriter, c, rows int, draw func() parquet.Value) error {
	var chunk [drawChunk]parquet.Value
	for rows > 0 {
		n := min(rows, drawChunk)
		for i := range n {
			value, level := draw(), 1
			if value.IsNull() {
				level = 0
			}
			chunk[i] = value.Level(0, level, c)
		}
		if _, err := out.WriteRowValues(chunk[:n]); err != nil {
			return err
		}
		rows -= n
	}
	return nil
}
