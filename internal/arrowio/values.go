package arrowio

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// values is a dictionary.
type values struct {
	data  *array.Data
	bytes int64 // drawn for it
}

// valuesOf returns the dictionary of a column as it is for a batch: the last that stands before it,
// with what adds to it. All readers share it.
func (f *File) valuesOf(c *field, t arrow.DataType, d *batch) (*array.Data, error) {
	parts := f.partsOf(c.dict, d.dicts)
	key := [2]int{-1 - int(c.dict), 0}
	if len(parts) > 0 {
		key = [2]int{parts[0], parts[len(parts)-1]}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if v := f.dictionaries[key]; v != nil {
		return v.data, nil
	}
	v := &values{}
	if err := f.make(v, parts, c, t, d); err != nil {
		f.from.Release(v.bytes)
		return nil, err
	}
	f.dictionaries[key] = v
	return v.data, nil
}

// make makes a dictionary of messages. f.mu is held.
func (f *File) make(v *values, parts []int, c *field, t arrow.DataType, d *batch) error {
	arrays := make([]arrow.Array, 0, len(parts))
	for _, i := range parts {
		data, err := f.readValues(i, c, t, d, &v.bytes)
		if err != nil {
			return err
		}
		arrays = append(arrays, array.MakeFromData(data))
	}
	switch len(arrays) {
	case 0:
		arrays = append(arrays, array.MakeArrayOfNull(memory.DefaultAllocator, t, 0))
	case 1:
	default:
		if err := f.from.Draw(v.bytes); err != nil { // as much once more
			return err
		}
		v.bytes *= 2
		all, err := array.Concatenate(arrays, memory.DefaultAllocator)
		if err != nil {
			return err
		}
		arrays[0] = all
	}
	v.data = arrays[0].Data().(*array.Data)
	return nil
}

// partsOf are the messages that a dictionary is made of, of the first n.
func (f *File) partsOf(id int64, n int) (parts []int) {
	for i := n - 1; i >= 0; i-- {
		if f.dicts[i].id != id {
			continue
		}
		parts = append(parts, i)
		if !f.dicts[i].delta {
			break
		}
	}
	slices.Reverse(parts)
	return parts
}

// readValues reads the values that a message has. f.mu is held.
func (f *File) readValues(i int, c *field, t arrow.DataType, of *batch, drawn *int64) (arrow.ArrayData, error) {
	if _, ok := storage(t).(arrow.NestedType); ok || storage(t).ID() == arrow.DICTIONARY {
		return nil, fmt.Errorf("column %q: a dictionary of %s; not supported", c.Name, t)
	}
	b := &f.dicts[i]
	m, err := b.message(of.from)
	if err != nil {
		return nil, err
	}
	table, ok, err := m.field(m.header, dictionaryData)
	if err != nil || !ok {
		return nil, errDamaged
	}
	d := batch{message: m, from: of.from, at: b.at + b.meta, file: f, codec: of.codec, drawn: drawn}
	if err := d.begin(table); err != nil {
		return nil, err
	}
	if d.rows < 0 || d.rows > maxRows {
		return nil, errDamaged
	}
	return d.column(&field{Field: arrow.Field{Name: c.Name, Type: t}, dict: noDictionary}, int(d.rows))
}
