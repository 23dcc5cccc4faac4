// DuckDB as a program that the fuzzer drives, linked from the archives of a Go module (duck.go).
//
//	duck SQL      runs statements and prints the last result, a row a line, tabs between fields
//	duck          answers requests on stdin until it ends
//
// A request is the length of a statement in four bytes, little end first, and the statement. The
// answer is the number of columns (-1: an error, whose length and text follow), the number of rows
// and the fields row by row: a length (-1: NULL) and as many bytes. All columns have to be texts:
// the statement casts, so that DuckDB's own text forms are what is compared.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "duckdb.h"

namespace {

// One thread: first, last and list then see rows in the order of the files.
const char *const kSettings[] = {
    "set disabled_optimizers = 'filter_pushdown,statistics_propagation'", // they rule out NaN by statistics, which do not count it
    "set enable_caching_operators = false", // filters put a few rows that are left aside, and pass them on behind others
    "set threads = 1", "set TimeZone = 'UTC'", "set memory_limit = '2GB'",
    "set enable_external_file_cache = false", // files are written anew under the same name, within a second
    // Quantiles by whole numbers: l is sorted, the place n of d parts behind its first value.
    // _below and _above are the values around it; _down and _near lie between two whole numbers,
    // rounded down, or to the nearest, halves away from zero.
    "create macro place_disc(l, n, d) as l[greatest(1, (n * len(l) + d - 1) // d)]",
    "create macro place_below(l, n, d) as l[1 + (n * (len(l) - 1)) // d]",
    "create macro place_above(l, n, d) as l[1 + (n * (len(l) - 1) + d - 1) // d]",
    "create macro place_parts(l, n, d) as place_below(l, n, d) * d + (place_above(l, n, d) - place_below(l, n, d)) * ((n * (len(l) - 1)) % d)",
    "create macro divided_down(x, d) as (x - ((x % d) + d) % d) // d",
    "create macro divided_near(x, d) as sign(x) * ((abs(x) * 2 + d) // (2 * d))",
    "create macro place_down(l, n, d) as divided_down(place_parts(l, n, d), d)",
    "create macro place_near(l, n, d) as divided_near(place_parts(l, n, d), d)",
};

struct Answer {
	std::string error;
	uint32_t columns = 0;
	uint32_t rows = 0;
	std::string fields; // as they are sent
};

void append_number(std::string &to, int32_t n) { to.append(reinterpret_cast<const char *>(&n), sizeof n); }

void append_chunk(Answer &a, duckdb_data_chunk chunk) {
	idx_t rows = duckdb_data_chunk_get_size(chunk);
	for (idx_t row = 0; row < rows; row++) {
		for (uint32_t c = 0; c < a.columns; c++) {
			duckdb_vector v = duckdb_data_chunk_get_vector(chunk, c);
			uint64_t *valid = duckdb_vector_get_validity(v);
			if (valid && !duckdb_validity_row_is_valid(valid, row)) {
				append_number(a.fields, -1);
				continue;
			}
			duckdb_string_t *text = static_cast<duckdb_string_t *>(duckdb_vector_get_data(v)) + row;
			uint32_t length = duckdb_string_t_length(*text);
			append_number(a.fields, static_cast<int32_t>(length));
			a.fields.append(duckdb_string_t_data(text), length);
		}
	}
	a.rows += static_cast<uint32_t>(rows);
}

Answer run(duckdb_connection connection, const char *sql) {
	Answer a;
	duckdb_result result;
	if (duckdb_query(connection, sql, &result) == DuckDBError) {
		const char *text = duckdb_result_error(&result);
		a.error = text ? text : "no reason given";
	} else if (duckdb_result_return_type(result) == DUCKDB_RESULT_TYPE_QUERY_RESULT) {
		a.columns = static_cast<uint32_t>(duckdb_column_count(&result));
		for (uint32_t c = 0; c < a.columns; c++) {
			if (duckdb_column_type(&result, c) != DUCKDB_TYPE_VARCHAR) {
				a.error = std::string("column ") + duckdb_column_name(&result, c) + " is no text";
			}
		}
		while (a.error.empty()) {
			duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
			if (!chunk) break;
			append_chunk(a, chunk);
			duckdb_destroy_data_chunk(&chunk);
		}
	}
	duckdb_destroy_result(&result);
	return a;
}

bool put(const void *data, size_t size) { return fwrite(data, 1, size, stdout) == size; }

bool send(const Answer &a) {
	std::string head;
	if (!a.error.empty()) {
		append_number(head, -1);
		append_number(head, static_cast<int32_t>(a.error.size()));
		head += a.error;
	} else {
		append_number(head, static_cast<int32_t>(a.columns));
		append_number(head, static_cast<int32_t>(a.rows));
	}
	return put(head.data(), head.size()) && (!a.error.empty() || put(a.fields.data(), a.fields.size())) && fflush(stdout) == 0;
}

// print shows a result to people.
int print(const Answer &a) {
	if (!a.error.empty()) {
		fprintf(stderr, "duck: %s\n", a.error.c_str());
		return 1;
	}
	const char *at = a.fields.data();
	for (uint64_t i = 0; i < uint64_t(a.rows) * a.columns; i++) {
		int32_t length;
		memcpy(&length, at, sizeof length);
		at += sizeof length;
		if (length < 0) {
			fputs("NULL", stdout);
		} else {
			fwrite(at, 1, static_cast<size_t>(length), stdout);
			at += length;
		}
		putchar((i + 1) % a.columns ? '\t' : '\n');
	}
	return 0;
}

// serve answers requests; a request that is cut off ends it as the end of the input does.
int serve(duckdb_connection connection) {
	uint32_t length;
	std::vector<char> sql;
	while (fread(&length, sizeof length, 1, stdin) == 1) {
		sql.assign(length + 1, 0);
		if (fread(sql.data(), 1, length, stdin) != length) return 1;
		if (!send(run(connection, sql.data()))) return 1;
	}
	return 0;
}

} // namespace

int main(int argc, char **argv) {
	duckdb_database database;
	duckdb_connection connection;
	if (duckdb_open(nullptr, &database) == DuckDBError || duckdb_connect(database, &connection) == DuckDBError) {
		fputs("duck: DuckDB does not start\n", stderr);
		return 1;
	}
	for (const char *setting : kSettings) {
		Answer a = run(connection, setting);
		if (!a.error.empty()) return print(a);
	}
	return argc > 1 ? print(run(connection, argv[1])) : serve(connection);
}
