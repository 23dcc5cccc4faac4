package parquetio

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

// Counting the rows of a small file finds damage in any of its columns; a
// column that cannot be read is none.
func TestVerify(t *testing.T) {
	cut := onePage()
	cut.pages = []page{pageV1(format.Plain, 1, sized(2, 1)...)}
	lzo := onePage()
	lzo.codec = format.LZO
	long := cut
	long.rows = verifyRows + 1
	long.pages = []page{pageV1(format.Plain, verifyRows+1, sized(2, 1)...)}
	lie := onePage()
	lie.rows = 1 << 32
	lie.change = func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 1 }
	values := long // of which the footer says something else, and the pages are right
	values.change = func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 7 }
	for name, test := range map[string]struct {
		file    fileBuilder
		damaged bool
	}{"good": {onePage(), false}, "damaged": {cut, true}, "codec": {lzo, false}, "many rows": {long, false}, "rows that the footer contradicts": {lie, true}, "values that it contradicts": {values, false}} {
		data := test.file.build(t)
		d, err := Open(context.Background(), []Input{{Name: "f", Reader: bytes.NewReader(data), Size: int64(len(data))}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		rows, err := countRows(t, d, ScanOptions{})
		var fault *Error
		switch {
		case test.damaged && (!errors.As(err, &fault) || fault.Column != "x"):
			t.Errorf("%s: %d rows, error %v", name, rows, err)
		case !test.damaged && (err != nil || rows != test.file.rows):
			t.Errorf("%s: %d rows, error %v", name, rows, err)
		}
	}
}
