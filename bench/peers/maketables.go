package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// madeTable is a table of real queries that DuckDB makes, so that its file is another writer's than
// those of the data makers here. Values are hashes of the rows' numbers i, and depend on nothing
// else.
type madeTable struct {
	// of SQL; $(k, n) is one of n integers from 0 on by the hash of i and k, ^(k, n) the same with
	// small ones more often
	columns []string
	options string // of COPY
}

var madeTables = map[string]madeTable{
	"payments": {[]string{
		"md5(i::varchar)::uuid as id",
		"1000000000 + ^(1, $rows // 50) * 7 as account",
		"'Merchant ' || ^(2, 20000) || ' ' || ['Ltd', 'GmbH & Co. KG', 'Trading Company of the North', 'SARL', 'Inc.'][1 + $(3, 5)] as merchant",
		"case when $(4, 50) > 0 then (4000 + ^(5, 300))::smallint end as category",
		"['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK', 'HUF', 'RON', 'BGN', 'TRY', 'AUD', 'CAD', 'CNY', 'INR', 'BRL', 'ZAR'][1 + ^(6, 20)] as currency",
		"(exp($(7, 1000003) / 100000.0) * 13 + $(8, 100) / 100.0)::decimal(12, 2) as amount",
		"case when $(9, 4) > 0 then ($(10, 90000) / 10000.0)::decimal(9, 4) end as fee",
		"(0.5 + $(11, 100000000) / 1e8)::decimal(18, 8) as rate",
		"date '2022-01-01' + (i * 730 // $rows)::int + $(12, 3)::int as booked",
		"timestamp '2022-01-01' + to_microseconds(i * (63072000000000 // $rows) + $(13, 100000000)) as created",
		"['settled', 'pending', 'declined', 'refunded', 'chargeback'][1 + ^(14, 5)] as status",
		"$(15, 20) = 0 as refunded",
		"case when $(16, 10) > 5 then 'order ' || $(17, 1000000) || ' for customer ' || $(18, 5000) || ', thank you very much' end as note",
		"['DE', 'FR', 'GB', 'US', 'JP', 'CH', 'SE', 'NO', 'PL', 'IT', 'ES'][1 + ^(19, 11)] as country",
		"['tag' || $(20, 50), 'tag' || $(21, 50)][1:$(22, 3)] as tags",
	}, "compression zstd"},
	"readings": {[]string{
		"(i % 5000 + $(1, 3))::int as sensor",
		"timestamp '2024-03-01' + to_microseconds((i // 5000) * 10000000 + $(2, 2000000)) as seen",
		"case when $(3, 50) > 0 then round(15 + 10 * sin(i / 3e6) + $(4, 1000) / 100.0, 2) end as temperature",
		"($(5, 10000) / 100.0)::float as humidity",
		"950 + $(6, 1000000007) / 1e7 as pressure",
		"^(7, 6)::utinyint as state",
		"(100 - i * 90 // $rows - $(8, 5))::int as battery",
		"'v' || $(9, 3) || '.' || $(10, 4) || '.' || ^(11, 4) as firmware",
		"'site-' || ((i % 5000) // 25) as site",
	}, "parquet_version v2, compression zstd"},
	"commits": {[]string{
		"md5(i::varchar) || substr(md5((i + 1)::varchar), 1, 8) as sha",
		"'dev' || ^(1, $rows // 30) || '@' || ['example.com', 'users.noreply.github.com', 'corp.internal', 'mail.org'][1 + $(2, 4)] as author",
		"'org' || (^(3, $rows // 100) % 5000) || '/project-' || ^(3, $rows // 100) as repo",
		"case when $(4, 8) = 0 then 'Merge branch ''main'' into feature-' || $(5, 3000) " +
			"else ['Fix', 'Add', 'Remove', 'Refactor', 'Update', 'Bump'][1 + $(6, 6)] || ' ' || " +
			"['tests', 'docs', 'parser', 'build', 'dependency of the module', 'handling of errors in the network layer'][1 + $(7, 6)] || " +
			"' (#' || $(8, 200000) || ')' end as message",
		"timestamp '2020-01-01' + to_seconds($(9, 126000000)) as seen",
		"(exp($(10, 1000) / 120.0) - 1)::int as additions",
		"(exp($(11, 1000) / 130.0) - 1)::int as deletions",
		"(1 + ^(12, 40))::int as files",
		"case when $(13, 12) > 0 then ['Go', 'C++', 'Rust', 'Python', 'JavaScript', 'TypeScript', 'Java', 'C', 'Ruby', 'Shell', 'HTML', 'Kotlin'][1 + ^(14, 12)] end as language",
		"$(4, 8) = 0 as merge",
	}, "compression snappy"},
}

// make has DuckDB write rows of the table into a file.
func (t madeTable) make(ctx context.Context, s settings, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	unfinished := path + ".unfinished"
	if err := s.haveDuckDB(ctx, path, t.sql(int64(s.rows), unfinished)); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}

// sql is the statements that write the table. The numbers of the rows come from a table because a
// range is made by one thread.
func (t madeTable) sql(rows int64, path string) []string {
	columns := strings.NewReplacer("$rows", fmt.Sprint(rows), "$(", "draw(i, ", "^(", "small(i, ").Replace(strings.Join(t.columns, ", "))
	return []string{
		"create macro draw(i, k, n) as (hash(i, k) % n)::bigint",
		"create macro small(i, k, n) as (((hash(i, k) % 1000003) / 1000003.0) ** 3 * n)::bigint",
		fmt.Sprintf("create table numbers as select range as i from range(%d)", rows),
		fmt.Sprintf("copy (select %s from numbers) to '%s' (format parquet, %s)", columns, path, t.options),
	}
}
