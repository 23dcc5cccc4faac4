package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// The size of a decimal whose cast names none, as DuckDB has it.
const (
	defaultPrecision = 18
	defaultScale     = 3
)

// castTypes are the type names of casts, except decimal. The names with a
// number of bits are those that --schema shows; SQL's names stand beside
// them.
var castTypes = map[string]column.Type{
	"boolean": boolType, "bool": boolType,
	"int8": {Kind: column.Int8}, "tinyint": {Kind: column.Int8},
	"int16": {Kind: column.Int16}, "smallint": {Kind: column.Int16},
	"int32": {Kind: column.Int32}, "integer": {Kind: column.Int32}, "int": {Kind: column.Int32},
	"int64": int64Type, "bigint": int64Type, "long": int64Type,
	"uint8": {Kind: column.Uint8}, "utinyint": {Kind: column.Uint8},
	"uint16": {Kind: column.Uint16}, "usmallint": {Kind: column.Uint16},
	"uint32": {Kind: column.Uint32}, "uinteger": {Kind: column.Uint32},
	"uint64": uint64Type, "ubigint": uint64Type,
	"float": floatType, "real": floatType, "float32": floatType,
	"double": doubleType, "float64": doubleType,
	"string": stringType, "varchar": stringType, "text": stringType,
	"binary": binaryType, "blob": binaryType,
	"uuid":         {Kind: column.UUID},
	"date":         dateType,
	"time":         {Kind: column.Time, Unit: column.Micro},
	"timestamp":    column.TimestampType(column.Micro, false),
	"timestamp_s":  column.TimestampType(column.Second, false),
	"timestamp_ms": column.TimestampType(column.Milli, false),
	"timestamp_us": column.TimestampType(column.Micro, false),
	"timestamp_ns": column.TimestampType(column.Nano, false),
	"timestamptz":  column.TimestampType(column.Micro, true),
	"interval":     intervalType,
}

// TypeNames is a type that casts take, with its names.
type TypeNames struct {
	Name  string   // as a schema shows it
	Casts []string // in casts, the usual one first
}

// Types lists the types that casts take, by name.
func Types() []TypeNames {
	by := map[column.Type][]string{}
	for name, t := range castTypes {
		if name != castName(t) {
			by[t] = append(by[t], name)
		}
	}
	list := []TypeNames{{"decimal(p,s)", []string{"decimal(p,s)", "numeric(p,s)"}}}
	for t, names := range by {
		slices.Sort(names)
		list = append(list, TypeNames{t.String(), append([]string{castName(t)}, names...)})
	}
	for _, t := range castTypes {
		if by[t] == nil {
			list = append(list, TypeNames{t.String(), []string{castName(t)}})
		}
	}
	slices.SortFunc(list, func(a, b TypeNames) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func castTypeNames() []string {
	return append(slices.Sorted(maps.Keys(castTypes)), "decimal")
}

// castName is the canonical name of a type that a cast may name.
func castName(t column.Type) string {
	switch {
	case t.Kind == column.Time:
		return "time"
	case t.Kind == column.Timestamp && t.UTC:
		return "timestamptz"
	case t.Kind == column.Timestamp && t.Unit == column.Micro:
		return "timestamp"
	case t.Kind == column.Timestamp:
		return fmt.Sprintf("timestamp_%s", t.Unit)
	}
	return t.String()
}
