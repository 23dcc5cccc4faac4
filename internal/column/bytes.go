package column

import "github.com/apache/arrow/go/v15/arrow"

// RecordBytes is how many bytes the buffers of a record have, dictionaries not counted.
func RecordBytes(rec arrow.Record) (n int64) {
	for _, c := range rec.Columns() {
		n += dataBytes(c.Data())
	}
	return n
}

func dataBytes(d arrow.ArrayData) (n int64) {
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		n += dataBytes(c)
	}
	return n
}
