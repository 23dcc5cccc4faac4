package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file is where the library for Avro is met. What it makes of a value:
//
//	int: int32    long: int64    string: string    bytes, fixed: []byte    array: []any
//	date, timestamp: time.Time   time: time.Duration   decimal: *big.Rat   uuid: [16]byte

// record is a value of a record, by the names of its fields. A field that is not there is NULL.
type record = map[string]any

const (
	maxAvro    = 1 << 30  // bytes of a file
	maxBlock   = 64 << 20 // of a block in it, as it is stored and decompressed
	blockBytes = 1 << 20  // that a block takes: writers end them after some 64 KiB
)

// avroFile is a file of Avro as it begins.
type avroFile struct {
	meta   map[string][]byte
	schema *avro.SchemaNode
}

// readAvro reads all records of a file, of so many bytes; 0: of any. What begin returns is called
// for each.
func (r *reading) readAvro(path string, size int64, begin func(f *avroFile) (each func(record) error, err error)) error {
	data, err := r.readAll(r.meta.place(path), maxAvro)
	if err != nil {
		return err
	}
	defer r.mem.Release(int64(len(data)))
	if size > 0 && int64(len(data)) != size { // one that is cut off between blocks looks whole
		return fmt.Errorf("damaged: %d bytes, where the manifest list says %d", len(data), size)
	}
	if err := r.mem.Draw(blockBytes); err != nil {
		return err
	}
	defer r.mem.Release(blockBytes)
	f := &avroFile{}
	var file *ocf.Reader
	if err := fenced(func() (err error) {
		if file, err = ocf.NewReader(bytes.NewReader(data), ocf.WithMaxBlockBytes(maxBlock), ocf.WithMaxDecompressedBlockBytes(maxBlock), ocf.WithSchemaOpts(avro.WithLaxNames(nil))); err == nil {
			f.meta, f.schema = file.Metadata(), file.Schema().Root()
		}
		return err
	}); err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read from
	each, err := begin(f)
	if err != nil {
		return err
	}
	for {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		var v any
		err := fenced(func() error { return file.Decode(&v) })
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rec, ok := v.(record)
		if !ok {
			return errors.New("damaged: what it holds is no records")
		}
		if err := each(rec); err != nil {
			return err
		}
	}
}

// fenced calls the library: what it panics with is damage of the file. So is an error, unless it is
// one of reading.
func fenced(do func() error) (err error) {
	defer invariant.Fence(&err, func(p any) error {
		return fmt.Errorf("damaged (decoder: %s)", strings.Join(strings.Fields(fmt.Sprint(p)), " "))
	})
	if err = do(); err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("damaged: %w", err)
	}
	return err
}

// fields takes the values of a record; err is of the first that is of another type.
type fields struct {
	of  record
	err error
}

// get is the value of a field; ok is false if it is NULL.
func get[T any](f *fields, name string) (v T, ok bool) {
	x := f.of[name]
	if x == nil {
		return v, false
	}
	if v, ok = x.(T); !ok && f.err == nil {
		f.err = fmt.Errorf("damaged: field %s is a %T", name, x)
	}
	return v, ok
}

// number is the value of an int or a long; ok is false if it is NULL.
func (f *fields) number(name string) (n int64, ok bool) {
	if n, ok := f.of[name].(int32); ok {
		return int64(n), true
	}
	return get[int64](f, name)
}

// must is number of a field that has to be there.
func (f *fields) must(name string) int64 {
	n, ok := f.number(name)
	if !ok && f.err == nil {
		f.err = fmt.Errorf("damaged: there is no field %s", name)
	}
	return n
}

// each calls do for the elements of an array of records.
func (f *fields) each(name string, do func(f *fields)) {
	list, _ := get[[]any](f, name)
	for _, x := range list {
		rec, ok := x.(record)
		if !ok && f.err == nil {
			f.err = fmt.Errorf("damaged: field %s has an element that is a %T", name, x)
		}
		of := fields{of: rec}
		do(&of)
		if f.err == nil {
			f.err = of.err
		}
	}
}

// ordinal is an integer of any form: a number, days, microseconds.
func ordinal(x any) (int64, bool) {
	switch x := x.(type) {
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case time.Duration:
		return x.Microseconds(), true
	}
	return 0, false
}

// valueOf is a value of a partition as one of a column; ok is false if it is not of its type.
func valueOf(x any, t column.Type) (v column.Value, ok bool) {
	v.Type = t
	if x == nil {
		v.Null = true
		return v, true
	}
	switch t.Kind {
	case column.Bool:
		b, ok := x.(bool)
		if b {
			v.Int = 1
		}
		return v, ok
	case column.Date:
		if day, ok := x.(time.Time); ok {
			v.Int = day.Unix() / (24 * 60 * 60)
			return v, true
		}
		v.Int, ok = ordinal(x)
	case column.Timestamp:
		if at, ok := x.(time.Time); ok {
			v.Int = at.UnixMicro()
			return v, true
		}
		v.Int, ok = ordinal(x)
	case column.Int32, column.Int64, column.Time:
		v.Int, ok = ordinal(x)
	case column.Float32, column.Float64:
		switch x := x.(type) {
		case float32:
			v.Float, ok = float64(x), true
		case float64:
			v.Float, ok = x, true
		}
	case column.Decimal:
		switch x := x.(type) {
		case *big.Rat:
			scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt(pow10(int(t.Scale))))
			return decimalOf(scaled.Num(), t), scaled.IsInt()
		case []byte:
			return decimalOf(bigEndian(x), t), true
		}
	case column.String:
		v.Bytes, ok = x.(string)
	case column.Binary, column.FixedBinary, column.UUID:
		switch x := x.(type) {
		case []byte:
			v.Bytes, ok = string(x), t.Kind == column.Binary || len(x) == widthOf(t)
		case [16]byte:
			v.Bytes, ok = string(x[:]), t.Kind == column.UUID
		}
	}
	return v, ok
}

func widthOf(t column.Type) int {
	if t.Kind == column.UUID {
		return 16
	}
	return int(t.Width)
}
