package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// file is a file of the corpus, or a folder of files that queries read as one.
type file struct {
	name   string // below the corpus's folder; a folder ends with a slash
	writer string
	note   string
	twin   string // the same rows in a file that DuckDB reads too, where it does not read this one
}

// written is what DuckDB and ClickHouse write: a query and how its rows are laid out.
type written struct{ name, note, sql, options string }

const duckTypes = `select i as id, i % 3 = 0 as bool, (i - 128)::tinyint i8, (i * 200 - 30000)::smallint i16, (i * 7919)::integer i32,
 i * 1000000007 * 12345 as i64, (i % 256)::utinyint u8, (i * 200)::usmallint u16, (i * 14000000)::uinteger u32, 18446744073709551615::ubigint - i::ubigint u64,
 (i * 0.37)::float f32, i / 7.0::double f64, (i * 0.1)::decimal(4,1) d4, (i * 12345.67)::decimal(9,2) d9, (i * 1234567891.123)::decimal(18,3) d18,
 (i::decimal(38,10) * 1234567890123456789) d38, date '1969-12-01' + i::integer as day, time '00:00:00' + to_seconds(i * 311) as clock,
 (timestamp '1969-12-31 23:00:00' + to_minutes(i))::timestamp_s ts_s, (timestamp '1969-12-31 23:00:00' + to_milliseconds(i * 12345))::timestamp_ms ts_ms,
 timestamp '1969-12-31 23:00:00' + to_microseconds(i * 123456789) ts_us, make_timestamp_ns(i * 123456789123) ts_ns,
 (timestamp '2024-02-29 12:00:00' + to_hours(i))::timestamptz tz, 'text ' || (i % 17) as text, ('\x00\xFF' || chr((65 + i % 20)::integer))::blob as bytes,
 ('00000000-0000-4000-8000-' || lpad((i % 50)::varchar, 12, '0'))::uuid as uuid, (['low', 'middle', 'high'][i % 3 + 1])::enum('low', 'middle', 'high') as level
 from range(80) t(i)`

var byDuckDB = []written{
	{"duckdb_types", "all scalar types, v1 pages", duckTypes, ""},
	{"duckdb_types_v2", "all scalar types, encodings of v2: DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, BYTE_STREAM_SPLIT", duckTypes, "parquet_version v2, compression zstd, dictionary_size_limit 1"},
	{"duckdb_nulls", "NULLs, few and many, and a column of nothing else", `select case when i % 5 > 0 then i % 10 end as k, case when i % 97 = 0 then i end as rare,
 case when i > 20 then 'v' || i % 8 end as late, null::integer as never, null::varchar as no_text, case when i % 2 = 0 then i / 4.0::double end as half from range(600) t(i)`, "compression gzip"},
	{"duckdb_keys", "40,000 different keys", `select (i * 7919) % 40000 as k, i % 1000 as v from range(40000) t(i)`, "parquet_version v2, compression zstd"},
	{
		"duckdb_text_keys", "5,000 different texts, 50 bytes of each the same", `select 'customer number of the northern branch, archived: ' || (i % 5000) as k, i as v from range(6000) t(i)`,
		"parquet_version v2, compression zstd",
	},
	{"duckdb_long_texts", "texts of up to 100 kB", `select repeat('long ', case when i = 18 then 20000 else i * i * i // 3 end::integer) as k, repeat('x', (i % 5 * 20000)::integer) as v, i as n from range(19) t(i)`, "compression brotli"},
	{"duckdb_one_value", "a hundred thousand rows in some hundred bytes", `select 7 as k, 'same' as v from range(100000)`, ""},
	{
		"duckdb_groups", "row groups of 2048 rows, bloom filters", `select i % 61 as k, 'name ' || i % 97 as name, (i % 31)::decimal(18,2) as v from range(6000) t(i)`,
		"compression lz4_raw, row_group_size 2048",
	},
	{"duckdb_nested", "structs, lists and maps beside flat columns", `select i % 4 as k, case when i % 7 > 0 then {'a': i % 5, 'in': {'b': 'b' || i % 3, 'c': i / 2.0::double}} end as s,
 [i, i + 1, null] as l, map {'x': i} as m, [{'y': i}] as ls, case when i % 3 = 0 then [] else [['z']] end as ll, i as last from range(60) t(i)`, "compression zstd"},
	{"duckdb_names", "names that want quotes", `select i % 3 as "a b", i % 2 as "a.b", i as "select", i * 2 as "count(*)", i % 4 as "é ü 漢", i % 5 as "🦆", i as "quote""s", i as "1", i as " edge ",
 i as "semi;colon", i as "--", i as "it's", i as "x,y", i as "(", i as "back\slash", i as "new
line" from range(20) t(i)`, ""},
	{"duckdb_empty", "no rows", `select 1 as k, 'x' as v where false`, ""},
	{"duckdb_special", "NaN, -0.0, infinities, extremes", `select * from (values (0, 'nan'::double, 'nan'::float, 9223372036854775807::bigint, (-128)::tinyint), (1, '-0.0'::double, '-0.0'::float, -9223372036854775808, 127::tinyint),
 (2, 0.0::double, 0.0::float, 0, 0::tinyint), (3, 'inf'::double, 'inf'::float, 1, null), (4, '-inf'::double, '-inf'::float, -1, 1::tinyint), (5, 1.7976931348623157e308, 3.4028235e38::float, null, -1::tinyint),
 (6, 5e-324, 1e-45::float, 9007199254740993, 5::tinyint), (7, -1.7976931348623157e308, (-3.4028235e38)::float, -9007199254740993, 5::tinyint), (8, null, null, 2, 5::tinyint),
 (9, '-nan'::double, '-nan'::float, 3, 5::tinyint)) t(id, d, f, i, s)`, ""},
	{"duckdb_union/one", "columns id, a, b", `select i as id, i % 3 as a, 'b' || i % 2 as b from range(30) t(i)`, ""},
	{"duckdb_union/two", "columns b, id, c", `select 'b' || i % 4 as b, 100 + i as id, i / 8.0::double as c from range(25) t(i)`, "compression zstd"},
	{"duckdb_disagree/one", "column v an integer", `select i as k, i as v from range(5) t(i)`, ""},
	{"duckdb_disagree/two", "column v a text", `select i as k, 'text' as v from range(5) t(i)`, ""},
}

// folders are those of several files, and what DuckDB writes as one.
var folders = []file{
	{name: "valid/duckdb_union/", writer: "DuckDB", note: "files of different columns"},
	{name: "valid/duckdb_disagree/", writer: "DuckDB", note: "files whose types disagree"},
	{name: "valid/duckdb_hive/", writer: "DuckDB", note: "folders day=…/town=…, one of them of NULL"},
}

const duckHive = `copy (select i as id, i % 11 as v, date '2024-02-28' + (i % 3)::integer as day, case i % 4 when 0 then 'Oslo' when 1 then '03' when 2 then 'São Paulo' end as town from range(90) t(i))
 to '{folder}' (format parquet, partition_by (day, town))`

var byClickHouse = []written{
	{
		"clickhouse_types", "ClickHouse's types, required and Nullable", `select toInt8(number - 100) as i8, toUInt16(number * 300) as u16, toInt64(number) * -1000000007 as i64, toUInt64(number) * 92233720368547758 as u64,
 toFloat32(number / 3) as f32, number / 7 as f64, toDecimal32(number / 8, 2) as d9, toDecimal64(number * 1000003, 4) as d18, toDecimal128(number * 1000000007, 6) as d38, toDate(number * 100) as day,
 toDate32('1950-01-01') + number as early, toDateTime(number * 12345678, 'UTC') as moment, toDateTime64(number * 1234.567, 3, 'UTC') as ms, fromUnixTimestamp64Nano(toInt64(number) * 1234567891000, 'UTC') as ns,
 concat('text ', toString(number % 9)) as text, toFixedString(toString(number % 10), 3) as fixed, toLowCardinality(concat('low ', toString(number % 5))) as low,
 toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') as uuid, if(number % 6 = 0, null, number) as sometimes, number % 2 = 0 as bool from numbers(100)`,
		"output_format_parquet_compression_method = 'zstd'",
	},
	{
		"clickhouse_groups", "row groups of 50 rows, small pages", `select number % 13 as k, number as n, if(number % 4 = 1, null, concat('v', toString(number % 40))) as v from numbers(300)`,
		"output_format_parquet_row_group_size = 50, output_format_parquet_data_page_size = 100, output_format_parquet_compression_method = 'lz4'",
	},
	{
		"clickhouse_nested", "arrays and tuples beside flat columns", `select number % 5 as k, [number, number + 1] as list, tuple(number % 3 as a, toString(number % 2) as b)::Tuple(a Int64, b String) as t, number as n from numbers(60)`,
		"output_format_parquet_compression_method = 'none'",
	},
}

// rewritten is what the writers of npm make of a file of another writer's.
type rewritten struct {
	name, note, writer, from string
	options                  map[string]any
}

func npm(rowGroup, page int, codec string, dictionary, v2 bool, encoding string) map[string]any {
	return map[string]any{"rowGroup": rowGroup, "page": page, "codec": codec, "dictionary": dictionary, "statistics": true, "v2": v2, "encoding": encoding}
}

var byNPM = []rewritten{
	{"polars_types", "Polars' types, zstd", "nodejs-polars", "duckdb_types", npm(100, 1<<20, "zstd", true, false, "")},
	{"polars_names", "names that want quotes", "nodejs-polars", "duckdb_names", npm(1000, 1<<20, "snappy", true, false, "")},
	{"arrowrs_types", "arrow-rs, v1 pages of some values, dictionaries, brotli", "parquet-wasm", "duckdb_types", npm(100, 600, "brotli", true, false, "")},
	{"arrowrs_plain", "arrow-rs, PLAIN, v2 pages, not compressed", "parquet-wasm", "duckdb_nulls", npm(300, 2000, "none", false, true, "PLAIN")},
	{"arrowrs_delta", "arrow-rs, DELTA_BINARY_PACKED and DELTA_BYTE_ARRAY, v2 pages", "parquet-wasm", "duckdb_groups", npm(1500, 500, "lz4", false, true, "")},
	{"arrowrs_nested", "arrow-rs, lists and structs", "parquet-wasm", "duckdb_nested", npm(50, 1000, "gzip", true, true, "")},
	{"hyparquet_nulls", "hyparquet-writer: a writer in JavaScript", "hyparquet-writer", "duckdb_nulls", npm(400, 2000, "snappy", true, false, "")},
	{"hyparquet_groups", "30 row groups of a row", "hyparquet-writer", "duckdb_union/one", npm(1, 2000, "snappy", true, false, "")},
}

// drawn is random tables of internal/datagen, by layout: encodings that others do not write.
var drawn = []struct {
	name, note string
	layout     datagen.Layout
	column     datagen.Column
}{
	{"datagen_plain", "PLAIN, required columns, v1 pages of 30 rows, not compressed", datagen.Layout{Page: 30, Required: true}, datagen.Column{Distinct: 24}},
	{"datagen_delta", "DELTA_BINARY_PACKED and DELTA_BYTE_ARRAY, v2 pages, gzip", datagen.Layout{V2: true, Page: 32, Codec: "gzip", Encoding: datagen.Delta}, datagen.Column{Distinct: 24, Nulls: 0.1, Special: true}},
	{"datagen_split", "BYTE_STREAM_SPLIT of all numbers, v2 pages, brotli", datagen.Layout{V2: true, Page: 40, Codec: "brotli", Encoding: datagen.Split}, datagen.Column{Distinct: 24, Nulls: 0.3, Special: true}},
	{"datagen_coded", "dictionaries of all types, v2 pages, zstd", datagen.Layout{V2: true, Page: 25, Codec: "zstd"}, datagen.Column{Distinct: 12, Nulls: 0.5, Skew: 1, Coded: true, Special: true}},
	{"datagen_all_null", "nothing but NULL, of all types", datagen.Layout{Codec: "snappy"}, datagen.Column{Distinct: 1, Nulls: 1}},
}

// writeGood writes valid/, and to scratch what is for DuckDB alone.
func writeGood(ctx context.Context, duck *peer, scratch string) (files []file, err error) {
	for _, w := range byDuckDB {
		options := "format parquet"
		if w.options != "" {
			options += ", " + w.options
		}
		f := file{name: "valid/" + w.name + ".parquet", writer: "DuckDB", note: w.note}
		if err := os.MkdirAll(filepath.Dir(f.path()), 0o777); err != nil {
			return nil, err
		}
		if _, err := duck.query(fmt.Sprintf("copy (%s) to '%s' (%s)", w.sql, f.path(), options)); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if _, err := duck.query(strings.Replace(duckHive, "{folder}", filepath.Join(folder, "valid/duckdb_hive"), 1)); err != nil {
		return nil, err
	}
	files = append(files, folders...)
	for _, write := range []func(context.Context, string) ([]file, error){writeClickHouse, writeNPM, writeDrawn, writeOdd} {
		more, err := write(ctx, scratch)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

func (f file) path() string { return filepath.Join(folder, f.name) }

// isFolder reports whether queries read several files as one.
func (f file) isFolder() bool { return strings.HasSuffix(f.name, "/") }

func writeClickHouse(ctx context.Context, _ string) (files []file, err error) {
	for _, w := range byClickHouse {
		f := file{name: "valid/" + w.name + ".parquet", writer: "ClickHouse", note: w.note}
		// A process of its own: settings stay for the session.
		p, err := startPeer(ctx, "bench/peers/peer.mjs", "clickhouse", "none", "1")
		if err != nil {
			return nil, err
		}
		defer p.close()
		if _, err := p.request(map[string]any{"run": w.sql}); err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		if _, err := p.request(map[string]any{"write": f.path(), "settings": w.options}); err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

func writeNPM(ctx context.Context, _ string) (files []file, err error) {
	p, err := startPeer(ctx, "bench/fuzz/writers.mjs")
	if err != nil {
		return nil, err
	}
	defer p.close()
	for _, w := range byNPM {
		f := file{name: "valid/" + w.name + ".parquet", writer: w.writer, note: w.note}
		w.options["writer"], w.options["to"] = w.writer, f.path()
		w.options["from"] = filepath.Join(folder, "valid", w.from+".parquet")
		if _, err := p.request(w.options); err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// drawnTypes are those of internal/datagen that DuckDB reads: it takes decimals of 38 digits at
// most.
func drawnTypes() (types []column.Type) {
	for _, t := range datagen.Types() {
		if t.Kind != column.Decimal || t.Precision <= 38 {
			types = append(types, t)
		}
	}
	return types
}

func writeDrawn(_ context.Context, scratch string) (files []file, err error) {
	for i, d := range drawn {
		spec := datagen.Spec{Rows: 48, Seed: uint64(i)}
		for _, t := range drawnTypes() {
			c := d.column
			c.Name, c.Type = t.String(), t
			// of kilobytes
			c.Special = c.Special && t.Kind != column.String && t.Kind != column.Binary
			spec.Columns = append(spec.Columns, c)
		}
		f := file{name: "valid/" + d.name + ".parquet", writer: "parquet-go", note: d.note}
		if err := writeTable(f.path(), spec, d.layout); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		if d.layout.Encoding == datagen.Split { // DuckDB reads no more of it than of floats
			f.twin = filepath.Join(scratch, d.name+".parquet")
			if err := writeTable(f.twin, spec, datagen.Layout{}); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	return files, nil
}

func writeTable(path string, spec datagen.Spec, layout datagen.Layout) error {
	var out bytes.Buffer
	if err := datagen.New(spec).WriteParquet(&out, layout); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o666)
}

func writeOdd(context.Context, string) (files []file, err error) {
	odd, err := datagen.Odd()
	if err != nil {
		return nil, err
	}
	return writeFiles("valid/odd_", odd)
}

// writeBad writes bad/.
func writeBad() ([]file, error) {
	bad, err := datagen.Damaged()
	if err != nil {
		return nil, err
	}
	return writeFiles("bad/", bad)
}

func writeFiles(prefix string, made []datagen.File) (files []file, err error) {
	for _, m := range made {
		f := file{name: prefix + m.Name + ".parquet", writer: "parquet-go", note: m.Note}
		if err := os.WriteFile(f.path(), m.Data, 0o666); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}
