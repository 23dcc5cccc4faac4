package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// kind is what the language knows of a type: where two types are of one kind, so are all
// operators, functions and aggregates that take them.
type kind byte

const (
	boolean    kind = 'b'
	integer    kind = 'i' // up to 64 bits, and unsigned up to 32: computed as int64
	unsigned   kind = 'u' // uint64
	decimals   kind = 'd'
	single     kind = 'f' // float16 and float
	double     kind = 'D'
	text       kind = 't'
	blob       kind = 'B'
	uuid       kind = 'U'
	date       kind = 'a'
	clock      kind = 'T'
	clockNs    kind = 'S'
	clockUTC   kind = 'Z'
	instant    kind = 's' // timestamps in milliseconds or microseconds
	instantNs  kind = 'n'
	instantUTC kind = 'z'
	anything   kind = 'x' // of an operator's operands: any kind, the same for all of them
)

const everyKind = "biudfDtBUaTSZsnz"

func (k kind) in(kinds string) bool { return strings.IndexByte(kinds, byte(k)) >= 0 }

// kindOf is the kind of one of DuckDB's types, 0 for a type that gagg does not compute with.
func kindOf(sqlType string) kind {
	base, _, _ := strings.Cut(sqlType, "(")
	switch base {
	case "BOOLEAN":
		return boolean
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER":
		return integer
	case "UBIGINT":
		return unsigned
	case "DECIMAL":
		return decimals
	case "FLOAT":
		return single
	case "DOUBLE":
		return double
	case "VARCHAR":
		return text
	case "BLOB":
		return blob
	case "UUID":
		return uuid
	case "DATE":
		return date
	case "TIME":
		return clock
	case "TIME_NS":
		return clockNs
	case "TIME WITH TIME ZONE":
		return clockUTC
	case "TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_S":
		return instant
	case "TIMESTAMP_NS":
		return instantNs
	case "TIMESTAMP WITH TIME ZONE":
		return instantUTC
	}
	return 0
}

// known is a column as the files have it.
type known struct {
	name    string
	sqlType string
	kind    kind
	digits  int // of a decimal
	scale   int
	perUnit int      // digits of a second that a time or timestamp keeps
	lo, hi  float64  // of numbers: no value is outside, NaN and infinities aside
	special bool     // there are NaN or infinities
	samples []string // some values, as DuckDB writes them
}

// table is what the queries of a seed run over.
type table struct {
	files []string
	wrote []string // how, file by file
	rows  int
	cols  []known
}

// from is the table in DuckDB's SQL. By itself it does not read several files in the order of the
// list, not even those of a union; in the order of their names they are part0, part1, ….
func (t *table) from() string {
	if len(t.files) == 1 {
		return "read_parquet(" + quote(t.files[0]) + ")"
	}
	var quoted []string
	for _, f := range t.files {
		quoted = append(quoted, quote(f))
	}
	return "(select * exclude (filename, file_row_number) from read_parquet([" + strings.Join(quoted, ", ") +
		"], filename = true, file_row_number = true) order by filename, file_row_number)"
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// randomColumns draws what a table holds. DuckDB reads no decimals of more than 38 digits.
func randomColumns(rng *rand.Rand, device bool) []datagen.Column {
	types := slices.DeleteFunc(datagen.Types(), func(t column.Type) bool { return t.Precision > 38 })
	types = append(types, column.DecimalType(4, 2), column.DecimalType(12, 3), column.Type{Kind: column.Int64},
		column.Type{Kind: column.Int32}, column.Type{Kind: column.Float64}, column.Type{Kind: column.String}, column.Type{Kind: column.String})
	var cols []datagen.Column
	for i := range 3 + rng.IntN(6) {
		cols = append(cols, datagen.Column{
			Name: fmt.Sprintf("c%d", i), Type: types[rng.IntN(len(types))],
			Distinct: pick(rng, 1, 2, 5, 33, 400, 0), Nulls: pick(rng, 0, 0, 0.1, 0.5, 0.95, 1), Skew: pick(rng, 0, 0, 1.5),
			Special: rng.IntN(3) == 0, Coded: rng.IntN(2) == 0,
		})
	}
	if device { // many groups, so that devices run out of memory
		cols[0].Type, cols[0].Distinct, cols[0].Nulls = column.Type{Kind: column.Int64}, pick(rng, 4000, 5000, 8000), 0
	}
	return cols
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func randomLayout(rng *rand.Rand, rows int, cols []datagen.Column) datagen.Layout {
	l := datagen.Layout{
		RowGroup: pick(rng, 0, 0, 1000, 100, 7), Page: pick(rng, 0, 0, 500, 20), V2: rng.IntN(2) == 0,
		Codec: pick(rng, "none", "snappy", "gzip", "zstd", "brotli"), Encoding: pick(rng, datagen.Plain, datagen.Delta, datagen.Split),
		Required: rng.IntN(3) == 0,
	}
	if l.RowGroup > 0 && rows/l.RowGroup > 500 { // thousands of row groups take seconds
		l.RowGroup = rows / 50
	}
	split := func(c datagen.Column) bool { // DuckDB reads this encoding of floats alone
		return !c.Type.IsFloat() && c.Type.Kind != column.Bool && c.Type.Kind != column.String && c.Type.Kind != column.Binary || c.Type.Kind == column.Float16
	}
	if l.Encoding == datagen.Split && slices.ContainsFunc(cols, split) {
		l.Encoding = datagen.Plain
	}
	return l
}

var decimalType = regexp.MustCompile(`^DECIMAL\((\d+),(\d+)\)$`)

// learn asks DuckDB what the columns of the files hold.
func (t *table) learn(d *duck) error {
	cols, err := d.rows("select column_name, column_type from (describe select * from " + t.from() + ")")
	if err != nil {
		return err
	}
	t.cols = nil
	for _, c := range cols {
		t.cols = append(t.cols, knownOf(c[0].Text, c[1].Text)...)
	}
	units, err := d.rows("select distinct name, upper(coalesce(converted_type, '') || coalesce(logical_type, '')) from parquet_schema([" + quote(t.files[0]) + "])")
	if err != nil {
		return err
	}
	for _, u := range units {
		t.unit(u[0].Text, u[1].Text)
	}
	for i := range t.cols {
		if err := t.cols[i].learn(d, t.from()); err != nil {
			return err
		}
	}
	rows, err := d.rows("select count(*)::varchar from " + t.from())
	if err == nil {
		t.rows, err = strconv.Atoi(rows[0][0].Text)
	}
	return err
}

var (
	inMillis = regexp.MustCompile(`_MILLIS|MILLIS=MILLI`)
	inNanos  = regexp.MustCompile(`NANOS=NANO`)
)

// unit notes the unit of a column, which DuckDB's type does not tell. DuckDB cuts nanoseconds in
// UTC to microseconds (difference nanosecondsUTC): such a column is not asked for.
func (t *table) unit(name, types string) {
	for i := range t.cols {
		c := &t.cols[i]
		switch {
		case c.name != name && !strings.HasPrefix(c.name, name+"."):
		case inMillis.MatchString(types):
			c.perUnit = 3
		case inNanos.MatchString(types) && c.kind.in("zZ"):
			t.cols = slices.Delete(t.cols, i, i+1)
			return
		}
	}
}

// knownOf is a column, or the fields of a struct.
func knownOf(name, sqlType string) []known {
	// made by duckWrite: two fields, s and n
	if fields, ok := strings.CutPrefix(sqlType, "STRUCT("); ok {
		if m := regexp.MustCompile(`^(\w+) ([A-Z]\w*(?:\(\d+,\d+\))?), `).FindStringSubmatch(strings.ReplaceAll(fields, `"`, "")); m != nil {
			return knownOf(name+"."+m[1], m[2])
		}
		return nil
	}
	c := known{name: name, sqlType: sqlType, kind: kindOf(sqlType), perUnit: 6}
	if m := decimalType.FindStringSubmatch(sqlType); m != nil {
		c.digits, _ = strconv.Atoi(m[1])
		c.scale, _ = strconv.Atoi(m[2])
	}
	if c.kind == instantNs {
		c.perUnit = 9
	}
	if c.kind == 0 {
		return nil
	}
	return []known{c}
}

// sql is the column in SQL.
func (c *known) sql() string {
	whole, part, inside := strings.Cut(c.name, ".")
	if inside {
		return quoteName(whole) + "." + quoteName(part)
	}
	return quoteName(c.name)
}

func (c *known) learn(d *duck, from string) error {
	rows, err := d.rows(fmt.Sprintf("select distinct %s::varchar from %s where %[1]s is not null order by 1 limit 8", c.sql(), from))
	if err != nil {
		return err
	}
	for _, r := range rows {
		c.samples = append(c.samples, r[0].Text)
	}
	if !c.kind.in("iudfD") {
		return nil
	}
	finite, some := "true", "coalesce(bool_or(false), false)"
	if c.kind.in("fD") {
		finite, some = "isfinite("+c.sql()+")", "coalesce(bool_or(not isfinite("+c.sql()+")), false)"
	}
	rows, err = d.rows(fmt.Sprintf("select min(%[1]s)::double::varchar, max(%[1]s)::double::varchar, any_value(null)::varchar from %[2]s where %[3]s"+
		" union all select (%[4]s)::varchar, null, null from %[2]s", c.sql(), from, finite, some))
	if err != nil {
		return err
	}
	if !rows[0][0].Null {
		c.lo, _ = strconv.ParseFloat(rows[0][0].Text, 64)
		c.hi, _ = strconv.ParseFloat(rows[0][1].Text, 64)
	}
	c.special = rows[1][0].Text == "true"
	return nil
}
