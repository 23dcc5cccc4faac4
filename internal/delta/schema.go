package delta

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Field is a column of a table.
type Field = parquetio.TableField

type structField struct {
	Name     string
	Type     json.RawMessage
	Metadata map[string]json.RawMessage
}

// Keys of the metadata of a field, and of the table's configuration.
const (
	physicalKey = "delta.columnMapping.physicalName"
	mappingKey  = "delta.columnMapping.mode"
)

// fields is the columns of a table, and which of them are partition columns.
func fields(m *metadata) (all []Field, parts []int, err error) {
	mapped := false
	switch mode := m.Configuration[mappingKey]; mode {
	case "", "none":
	case "name", "id": // of both, files have the physical names
		mapped = true
	default:
		return nil, nil, fmt.Errorf("the Delta table maps columns by %q, which is not supported", mode)
	}
	var root struct{ Fields []structField }
	if err := json.Unmarshal([]byte(m.SchemaString), &root); err != nil {
		return nil, nil, fmt.Errorf("damaged: the schema of the Delta table: %w", err)
	}
	if all, err = appendFields(nil, root.Fields, Field{}, mapped); err != nil {
		return nil, nil, err
	}
	for _, name := range m.PartitionColumns {
		i := slices.IndexFunc(all, func(f Field) bool { return len(f.Path) == 1 && f.Path[0] == name })
		if i < 0 {
			return nil, nil, fmt.Errorf("damaged: the Delta table has no column %q, which it is partitioned by", name)
		}
		all[i].Constant = true
		parts = append(parts, i)
	}
	return all, parts, nil
}

// appendFields appends the columns of a struct, those of structs in it by their leaves.
func appendFields(all []Field, fields []structField, parent Field, mapped bool) ([]Field, error) {
	for _, s := range fields {
		f := Field{Path: append(slices.Clone(parent.Path), s.Name), Stored: append(slices.Clone(parent.Stored), s.Name)}
		if mapped {
			name := ""
			if json.Unmarshal(s.Metadata[physicalKey], &name) != nil || name == "" {
				return nil, fmt.Errorf("damaged: column %q of the Delta table has no physical name", strings.Join(f.Path, "."))
			}
			f.Stored[len(f.Stored)-1] = name
		}
		name, nested := "", struct {
			Type   string
			Fields []structField
		}{}
		switch {
		case json.Unmarshal(s.Type, &name) == nil:
			if f.Type, f.Err = typeOf(name); f.Err != nil {
				f.Err = fmt.Errorf("column %s: %w", strings.Join(f.Path, "."), f.Err)
			}
		case json.Unmarshal(s.Type, &nested) != nil:
			return nil, fmt.Errorf("damaged: the type of column %q of the Delta table", s.Name)
		case nested.Type == "struct":
			var err error
			if all, err = appendFields(all, nested.Fields, f, mapped); err != nil {
				return nil, err
			}
			continue
		default:
			if nested.Type == "array" {
				nested.Type = "list"
			}
			f.Err = fmt.Errorf("column %s is a %s; grouping or aggregating it is not supported", strings.Join(f.Path, "."), nested.Type)
		}
		all = append(all, f)
	}
	return all, nil
}

var types = map[string]column.Type{
	"string": {Kind: column.String}, "binary": {Kind: column.Binary}, "boolean": {Kind: column.Bool},
	"byte": {Kind: column.Int8}, "short": {Kind: column.Int16}, "integer": {Kind: column.Int32}, "long": {Kind: column.Int64},
	"float": {Kind: column.Float32}, "double": {Kind: column.Float64}, "date": {Kind: column.Date},
	"timestamp": column.TimestampType(column.Micro, true), "timestamp_ntz": column.TimestampType(column.Micro, false),
}

func typeOf(name string) (column.Type, error) {
	if t, ok := types[name]; ok {
		return t, nil
	}
	var precision, scale int
	if n, err := fmt.Sscanf(name, "decimal(%d,%d)", &precision, &scale); n == 2 && err == nil && precision >= 1 && precision <= column.MaxDigits && scale >= 0 && scale <= precision {
		return column.DecimalType(precision, scale), nil
	}
	return column.Type{}, fmt.Errorf("type %q is not supported", name)
}

var errValue = errors.New("damaged: a value that is none of its type")

// partitionValue reads the text of a value in the log.
func partitionValue(text string, t column.Type) (v column.Value, err error) {
	v.Type = t
	switch t.Kind {
	case column.String, column.Binary:
		v.Bytes = text
	case column.Bool:
		var b bool
		if b, err = strconv.ParseBool(text); b {
			v.Int = 1
		}
	case column.Int8, column.Int16, column.Int32, column.Int64:
		v.Int, err = strconv.ParseInt(text, 10, t.Bits())
	case column.Float32, column.Float64:
		v.Float, err = strconv.ParseFloat(text, t.Bits())
	case column.Date:
		var day time.Time
		day, err = time.Parse(time.DateOnly, text)
		v.Int = day.Unix() / (24 * 60 * 60)
	case column.Timestamp:
		var at time.Time
		for _, form := range []string{"2006-01-02 15:04:05", time.RFC3339, "2006-01-02T15:04:05"} {
			if at, err = time.Parse(form, text); err == nil { // with a fraction too
				break
			}
		}
		v.Int = at.UnixMicro()
	case column.Decimal:
		return decimal(text, t)
	default:
		return v, fmt.Errorf("type %s is not supported", t)
	}
	if err != nil {
		err = fmt.Errorf("%w (%q, %s)", errValue, text, t)
	}
	return v, err
}

// decimal reads a decimal, exactly.
func decimal(text string, t column.Type) (v column.Value, err error) {
	v.Type = t
	x, ok := new(big.Rat).SetString(text)
	if ok = ok && len(text) < 2*column.MaxDigits; ok {
		x.Mul(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)))
		ok = x.IsInt() && len(x.Num().Text(10)) <= int(t.Precision)+1
	}
	switch {
	case !ok:
		return v, fmt.Errorf("%w (%q, %s)", errValue, text, t)
	case t.Rep() == column.RepWide:
		v.Wide = decimal256.FromBigInt(x.Num())
	default:
		v.Int = x.Num().Int64()
	}
	return v, nil
}
