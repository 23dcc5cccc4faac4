package parquetio

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/internal/column"
)

// Hive partitioning: folders named key=value in the path of a file are
// columns of that file.
//
//	sales/year=2024/city=Zu%CC%88rich/part-0.parquet   year 2024, city Zürich
//
// Every folder of the path as given counts. A key becomes a column only if
// the path of every file has it; its type comes from all its values. Where a
// file holds a column of that name too, the folder wins, as in DuckDB.
//
// Names are data and never paths: they are taken apart first and
// percent-decoded after, so that an encoded slash or ".." is plain text.

// hiveNull is the text that writers put in place of a NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// hivePair is one key=value folder, decoded.
type hivePair struct {
	key, value string
	null       bool
}

// hivePairs reads the folders of a path. The same key twice is an error: no
// rule would tell which of the two holds.
func hivePairs(file string) ([]hivePair, error) {
	parts := strings.Split(file, "/")
	var pairs []hivePair
	for _, part := range parts[:len(parts)-1] {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" {
			continue
		}
		p := hivePair{key: percentDecode(key), value: percentDecode(value)}
		p.null = value == "" || value == hiveNull
		for _, before := range pairs {
			if before.key == p.key {
				return nil, &UsageError{fmt.Sprintf("%s: the folder key %q occurs twice in the path", file, p.key)}
			}
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// percentDecode undoes %XX; text with a stray % stays as it is.
func percentDecode(s string) string {
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	return s
}

// hiveColumn is a key that all paths have.
type hiveColumn struct {
	name   string
	typ    column.Type
	values []column.Value // by file
}

// hiveColumns finds the keys common to all paths, in the order of the first
// one. Inputs that are no paths ("") have no keys. known has, of those that are columns, the places
// of their types in hiveTypes; nil: that is as the paths say.
func hiveColumns(paths []string, known map[string]int) ([]hiveColumn, error) {
	var cols []hiveColumn
	pairs := make([][]hivePair, len(paths))
	errs := make([]error, len(paths))
	for i, p := range paths {
		pairs[i], errs[i] = hivePairs(p)
	}
	if err := joinErrors(errs); err != nil || len(paths) == 0 {
		return nil, err
	}
	for _, first := range pairs[0] {
		values, ok := valuesOf(first.key, pairs)
		if ok && known == nil {
			cols = append(cols, typedHiveColumn(first.key, values))
		} else if at, is := known[first.key]; ok && is {
			col := hiveColumn{name: first.key, typ: hiveTypes[at].typ, values: make([]column.Value, len(values))}
			if err := parseAll(&col, values, hiveTypes[at].parse); err != nil {
				return nil, err
			}
			cols = append(cols, col)
		}
	}
	return cols, nil
}

// valuesOf collects the pairs of one key; ok is false where a file lacks it.
func valuesOf(key string, pairs [][]hivePair) (values []hivePair, ok bool) {
	values = make([]hivePair, 0, len(pairs))
	for _, file := range pairs {
		for _, p := range file {
			if p.key == key {
				values = append(values, p)
			}
		}
	}
	return values, len(values) == len(pairs)
}

// hiveTypes are tried in order; the last one takes any text.
var hiveTypes = []struct {
	typ   column.Type
	parse func(string) (column.Value, error)
}{
	{column.Type{Kind: column.Int64}, parseWholeNumber},
	{column.Type{Kind: column.Date}, parseDate},
	{column.Type{Kind: column.String}, func(s string) (column.Value, error) { return column.Value{Bytes: s}, nil }},
}

// typedHiveColumn gives a column the first type that fits all its values.
// NULLs fit any type; nothing but NULLs is text.
func typedHiveColumn(name string, pairs []hivePair) hiveColumn {
	col := hiveColumn{name: name, values: make([]column.Value, len(pairs))}
	for i, t := range hiveTypes {
		col.typ = t.typ
		last := i == len(hiveTypes)-1
		if (last || !allNull(pairs)) && parseAll(&col, pairs, t.parse) == nil {
			break
		}
	}
	return col
}

func allNull(pairs []hivePair) bool {
	for _, p := range pairs {
		if !p.null {
			return false
		}
	}
	return true
}

func parseAll(col *hiveColumn, pairs []hivePair, parse func(string) (column.Value, error)) error {
	for i, p := range pairs {
		v := column.Value{Null: true}
		if !p.null {
			var err error
			if v, err = parse(p.value); err != nil {
				return err
			}
		}
		v.Type = col.typ
		col.values[i] = v
	}
	return nil
}

var errNotExact = errors.New("text form would be lost")

// parseWholeNumber takes a number only if it would be written the same again:
// the month 03 is text, as in DuckDB, and so are +1 and -0.
func parseWholeNumber(s string) (column.Value, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil && strconv.FormatInt(n, 10) != s {
		err = errNotExact
	}
	return column.Value{Int: n}, err
}

func parseDate(s string) (column.Value, error) {
	t, err := time.Parse(time.DateOnly, s)
	return column.Value{Int: t.Unix() / 86400}, err
}
