package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// fingerprint is what two equal answers have in common whatever the order of
// their rows: the number of groups, a hash of the keys, and of each
// aggregate two sums, the second one weighted by a hash of the keys so that
// values at the wrong group show.
type fingerprint struct {
	groups, keys string
	sums         []float64 // of every aggregate: sum, weighted sum
	sizes        []float64 // the same sums of absolute values: what an error is relative to
}

// tolerance is how far sums may differ, relative to the sum of absolute
// values: engines add floats in different orders.
const tolerance = 1e-9

// fingerprintOf reads an answer that an engine wrote as Parquet, with DuckDB.
func fingerprintOf(duckdb *peer, q question, path string) (fingerprint, error) {
	if q.real != nil {
		return readFingerprint(duckdb, q.real.fingerprintSQL(path))
	}
	var keys []string
	for _, k := range q.by {
		keys = append(keys, k+"::varchar") // ClickHouse writes other integer types
	}
	if len(keys) == 0 {
		keys = []string{"0"}
	}
	hash := "hash(" + strings.Join(keys, ", ") + ")"
	sql := "select count(*)::varchar, bit_xor(" + hash + ")::varchar"
	for i, t := range q.aggs {
		value := t.value(fmt.Sprintf("a%d", i))
		weighted := fmt.Sprintf("%s * (1 + %s %% 1009)", value, hash)
		sql += fmt.Sprintf(", sum(%s), sum(%s), sum(abs(%s)), sum(abs(%s))", value, weighted, value, weighted)
	}
	return readFingerprint(duckdb, sql+" from '"+path+"'")
}

// readFingerprint asks DuckDB for the groups, the keys, and four sums of each
// value.
func readFingerprint(duckdb *peer, sql string) (fingerprint, error) {
	answer, err := duckdb.do(request{Query: sql})
	if err != nil {
		return fingerprint{}, err
	}
	row := answer.Rows[0]
	f := fingerprint{groups: fmt.Sprint(row[0]), keys: fmt.Sprint(row[1])}
	for i := 2; i < len(row); i += 4 {
		for j := range 2 {
			f.sums = append(f.sums, number(row[i+j]))
			f.sizes = append(f.sizes, number(row[i+2+j]))
		}
	}
	return f, nil
}

// String is the fingerprint for a result file.
func (a fingerprint) String() string {
	return fmt.Sprintf("%s groups, keys %s, sums %v", a.groups, a.keys, a.sums)
}

// number reads a double of DuckDB's JSON: a number, or a string for what JSON
// cannot spell.
func number(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return f
		}
	}
	return math.NaN()
}

// differs says in what b is another answer than a; "" if in nothing.
func (a fingerprint) differs(b fingerprint) string {
	switch {
	case a.groups != b.groups:
		return fmt.Sprintf("%s groups instead of %s", b.groups, a.groups)
	case a.keys != b.keys:
		return "other keys"
	}
	for i := range a.sums {
		if !(math.Abs(a.sums[i]-b.sums[i]) <= tolerance*a.sizes[i]) { // NaN differs
			return fmt.Sprintf("a%d: a sum of %v instead of %v", i/2, b.sums[i], a.sums[i])
		}
	}
	return ""
}
