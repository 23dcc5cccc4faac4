package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gagg-dev/gagg/internal/corpus"
)

// ask puts the case to DuckDB and keeps what it says. Where an error is right DuckDB has no say: it
// takes a list as a key, for example.
func (a *answers) ask(f file, c *corpus.Case) error {
	if c.Expect == "exact" || c.Expect == "error_or_exact" {
		if err := a.expect(f, c); err != nil {
			return err
		}
	}
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	a.cases.Write(append(line, '\n'))
	return nil
}

// expect fills in the answer and writes its CSV.
func (a *answers) expect(f file, c *corpus.Case) error {
	table := f.table(c)
	where := ""
	if w := c.Where(); w != "" {
		where = " where " + w
	}
	rowsIn, err := a.duck.query("select count(*)::varchar from " + table)
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(*rowsIn[0][0], &c.RowsIn); err != nil {
		return err
	}
	terms, err := a.terms(f, c, table)
	if err != nil {
		return err
	}
	sql := "select " + strings.Join(terms, ", ") + " from " + table + where
	for i := range c.Keys {
		if i == 0 {
			sql += " group by 1"
		} else {
			sql += fmt.Sprint(", ", i+1)
		}
	}
	return a.keep(c, sql)
}

// terms is the columns of the answer. Sums and averages of floats are compensated ones.
func (a *answers) terms(f file, c *corpus.Case, table string) (terms []string, err error) {
	types := map[string]string{}
	described, err := a.duck.query("select column_name, column_type from (describe select * from " + table + ")")
	for _, d := range described {
		types[*d[0]] = *d[1]
	}
	name := func(column string) string {
		if other, ok := columns[f.stem()+" "+column]; ok {
			column = other
		}
		return `"` + strings.ReplaceAll(column, `"`, `""`) + `"`
	}
	for _, k := range c.Keys {
		terms = append(terms, name(k))
	}
	for _, agg := range c.Aggs {
		function, column := corpus.Argument(agg)
		if t := types[column]; (t == "DOUBLE" || t == "FLOAT") && (function == "sum" || function == "avg") {
			function = "f" + function
		}
		if column != "*" {
			column = name(column)
		}
		terms = append(terms, function+"("+column+")")
	}
	return terms, err
}

// keep runs the query, each column as text.
func (a *answers) keep(c *corpus.Case, sql string) error {
	width := len(c.Keys) + len(c.Aggs)
	var names, texts []string
	described, err := a.duck.query("select column_type from (describe " + sql + ")")
	if err != nil {
		return err
	}
	for i, d := range described {
		names = append(names, fmt.Sprint("c", i))
		sqlType := *d[0]
		if strings.HasPrefix(sqlType, "ENUM") || sqlType == "JSON" || sqlType == `"NULL"` {
			sqlType = "VARCHAR"
		}
		text := fmt.Sprintf("c%d::varchar", i)
		if sqlType == "DOUBLE" { // whose text is wrong for some
			text = fmt.Sprintf("case when isfinite(c%d) then printf('%%.17g', c%[1]d) else c%[1]d::varchar end", i)
		}
		texts = append(texts, text)
		if i < len(c.Keys) {
			c.KeyTypes = append(c.KeyTypes, sqlType)
		} else {
			c.AggTypes = append(c.AggTypes, sqlType)
		}
	}
	if len(described) != width {
		return fmt.Errorf("%d columns, want %d", len(described), width)
	}
	all := fmt.Sprintf(" from (%s) r(%s)", sql, strings.Join(names, ", "))
	rows, err := a.duck.query("select " + strings.Join(texts, ", ") + all + " order by all")
	if err != nil {
		return err
	}
	if c.Groups = len(rows); c.Groups > manyGroups || c.Mode == "sample" {
		c.Mode = "sample"
		rows = rows[:min(sampleGroups, len(rows))]
		err = a.totals(c, all)
	} else {
		c.Mode = "full"
	}
	if err != nil {
		return err
	}
	c.ExpectedCSV = "expected/" + c.ID + ".csv"
	return os.WriteFile(filepath.Join(folder, c.ExpectedCSV), csv(append(append([]string{}, c.Keys...), c.Aggs...), rows), 0o666)
}

// totals is over all groups: of numbers the sum, of others how many are not NULL.
func (a *answers) totals(c *corpus.Case, all string) error {
	c.Totals = map[string]string{}
	for i, agg := range c.Aggs {
		function, _ := corpus.Argument(agg)
		form, unit := "sum(c%d)::varchar", ""
		if function == "min" || function == "max" {
			form, unit = "count(c%d)::varchar", " non-null"
		}
		total, err := a.duck.query(fmt.Sprintf("select "+form, len(c.Keys)+i) + all)
		if err != nil {
			return err
		}
		if total[0][0] != nil {
			c.Totals[agg] = *total[0][0] + unit
		}
	}
	return nil
}

// csv quotes every value; NULL is \N without quotes.
func csv(header []string, rows [][]*string) []byte {
	var out strings.Builder
	for i := range header {
		header[i] = quoted(header[i])
	}
	out.WriteString(strings.Join(header, ",") + "\n")
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = `\N`
			if cell != nil {
				cells[i] = quoted(*cell)
			}
		}
		out.WriteString(strings.Join(cells, ",") + "\n")
	}
	return []byte(out.String())
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
