package delta

import (
	"bytes"
	"encoding/json"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/lake"
)

// stats is what the log says of the values of a file.
type stats struct {
	rows     int64 // -1: nothing
	min, max map[string]json.RawMessage
	values   []column.Value // by field: those of partition columns
	fields   []Field
}

// statsOf makes what the log says of a file fit for tests.
func statsOf(fields []Field, f *lake.File, text string) stats {
	s := stats{rows: -1, values: f.Values, fields: fields}
	var all struct {
		NumRecords *int64
		MinValues  map[string]json.RawMessage
		MaxValues  map[string]json.RawMessage
	}
	if json.Unmarshal([]byte(text), &all) != nil {
		return s
	}
	if s.min, s.max = all.MinValues, all.MaxValues; all.NumRecords != nil {
		s.rows = *all.NumRecords
	}
	return s
}

// of is what is known of a field. What is missing, or not certain, is left out.
func (s *stats) of(i int) column.Bounds {
	f, b := &s.fields[i], column.Bounds{Rows: max(s.rows, 0), Nulls: -1}
	if f.Constant {
		v := s.values[i]
		b.HasMin, b.HasMax, b.Min, b.Max = !v.Null, !v.Null, v, v
		if v.Null { // no row has a value: no bound would say so
			b.Nulls = b.Rows
		}
		return b
	}
	b.Min, b.HasMin = bound(s.min, f)
	b.Max, b.HasMax = bound(s.max, f)
	if f.Type.Kind == column.Timestamp { // bounds are cut to milliseconds
		b.Max.Int += 999
	}
	return b
}

// bound is a bound of a field.
func bound(values map[string]json.RawMessage, f *Field) (v column.Value, ok bool) {
	for i, name := range f.Stored {
		raw, there := values[name]
		if !there {
			return v, false
		}
		if i == len(f.Stored)-1 {
			return boundValue(raw, f.Type)
		}
		values = nil
		if json.Unmarshal(raw, &values) != nil {
			return v, false
		}
	}
	return v, false
}

func boundValue(raw json.RawMessage, t column.Type) (v column.Value, ok bool) {
	text := string(bytes.TrimSpace(raw))
	if len(text) > 0 && text[0] == '"' {
		if json.Unmarshal(raw, &text) != nil {
			return v, false
		}
	}
	if text == "null" || text == "" && t.Kind != column.String || t.Kind == column.Binary || t.Kind == column.Bool {
		return v, false
	}
	// a float may be written with the digits of a double
	if t.Kind == column.Float32 && text != "" {
		t := t
		t.Kind = column.Float64
		v, err := partitionValue(text, t)
		v.Type, v.Float = column.Type{Kind: column.Float32}, float64(float32(v.Float))
		return v, err == nil && v.Float == v.Float
	}
	v, err := partitionValue(text, t)
	return v, err == nil && v.Float == v.Float
}
