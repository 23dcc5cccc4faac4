package iceberg

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

type schema struct {
	ID     int           `json:"schema-id"`
	Fields []schemaField `json:"fields"`
}

type schemaField struct {
	ID   int32           `json:"id"`
	Name string          `json:"name"`
	Type json.RawMessage `json:"type"`
}

// mappingKey is the property with the names by which columns are found in files without ids.
const mappingKey = "schema.name-mapping.default"

// tableSchema is the columns of a table: those of a snapshot if it was asked for, else those that
// the table has now.
func (m *metadata) tableSchema(s *snapshot, asked bool) (t parquetio.TableSchema, err error) {
	id, of := m.CurrentSchemaID, m.Schema
	if asked && s != nil && s.SchemaID != nil {
		id = *s.SchemaID
	}
	if i := slices.IndexFunc(m.Schemas, func(s schema) bool { return s.ID == id }); i >= 0 {
		of = &m.Schemas[i]
	} else if len(m.Schemas) > 0 || of == nil {
		return t, fmt.Errorf("damaged: the metadata of the Iceberg table has no schema %d", id)
	}
	t.ByID = true
	if t.Fields, err = appendFields(nil, of.Fields, parquetio.TableField{}, 0); err != nil {
		return t, err
	}
	if text := m.Properties[mappingKey]; text != "" {
		var names nameMapping
		if json.Unmarshal([]byte(text), &names) != nil {
			return t, fmt.Errorf("damaged: property %s of the Iceberg table", mappingKey)
		}
		t.IDsOf = names.ids
	}
	return t, nil
}

const maxDepth = 100

// appendFields appends the columns of a struct, those of structs in it by their leaves.
func appendFields(all []parquetio.TableField, fields []schemaField, parent parquetio.TableField, depth int) ([]parquetio.TableField, error) {
	if depth > maxDepth {
		return nil, errors.New("damaged: the columns of the Iceberg table are nested too deep")
	}
	for _, s := range fields {
		f := parquetio.TableField{Path: append(slices.Clone(parent.Path), s.Name), IDs: append(slices.Clone(parent.IDs), s.ID)}
		name, nested := "", struct {
			Type   string
			Fields []schemaField
		}{}
		switch {
		case s.ID <= 0:
			return nil, fmt.Errorf("damaged: column %q of the Iceberg table has no id", strings.Join(f.Path, "."))
		case json.Unmarshal(s.Type, &name) == nil:
			if f.Type, f.Err = typeOf(name); f.Err != nil {
				f.Err = fmt.Errorf("column %s: %w", strings.Join(f.Path, "."), f.Err)
			}
		case json.Unmarshal(s.Type, &nested) != nil:
			return nil, fmt.Errorf("damaged: the type of column %q of the Iceberg table", strings.Join(f.Path, "."))
		case nested.Type == "struct":
			var err error
			if all, err = appendFields(all, nested.Fields, f, depth+1); err != nil {
				return nil, err
			}
			continue
		default:
			f.Err = fmt.Errorf("column %s is a %s; grouping or aggregating it is not supported", strings.Join(f.Path, "."), nested.Type)
		}
		all = append(all, f)
	}
	return all, nil
}

var types = map[string]column.Type{
	"boolean": {Kind: column.Bool}, "int": {Kind: column.Int32}, "long": {Kind: column.Int64},
	"float": {Kind: column.Float32}, "double": {Kind: column.Float64}, "date": {Kind: column.Date},
	"time":      {Kind: column.Time, Unit: column.Micro},
	"timestamp": column.TimestampType(column.Micro, false), "timestamptz": column.TimestampType(column.Micro, true),
	"string": {Kind: column.String}, "binary": {Kind: column.Binary}, "uuid": {Kind: column.UUID},
}

func typeOf(name string) (column.Type, error) {
	if t, ok := types[name]; ok {
		return t, nil
	}
	var precision, scale, width int
	if n, err := fmt.Sscanf(strings.ReplaceAll(name, " ", ""), "decimal(%d,%d)", &precision, &scale); n == 2 && err == nil && precision >= 1 && precision <= column.MaxDigits && scale >= 0 && scale <= precision {
		return column.DecimalType(precision, scale), nil
	}
	if n, err := fmt.Sscanf(name, "fixed[%d]", &width); n == 1 && err == nil && width > 0 && width < 1<<20 {
		return column.Type{Kind: column.FixedBinary, Width: int32(width)}, nil
	}
	return column.Type{}, fmt.Errorf("type %q is not supported", name)
}

// nameMapping is the names of columns in files without ids.
type nameMapping []mappedName

type mappedName struct {
	ID     int32       `json:"field-id"`
	Names  []string    `json:"names"`
	Fields nameMapping `json:"fields"`
}

// ids is the ids of a path of names; nil: it is of no column.
func (n nameMapping) ids(path []string) (ids []int32) {
	for _, name := range path {
		i := slices.IndexFunc(n, func(m mappedName) bool { return slices.Contains(m.Names, name) })
		if i < 0 {
			return nil
		}
		ids, n = append(ids, n[i].ID), n[i].Fields
	}
	return ids
}
