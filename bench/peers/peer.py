"""DuckDB in one process, where there is Python but no Node:

    python3 peer.py LIBDUCKDB FILE THREADS [MEMORY TEMP]

answers requests as peer.mjs does (see there), by DuckDB's C API in the shared
library LIBDUCKDB.
"""
import ctypes
import json
import sys
import time

library, file, threads, *bounds = sys.argv[1:]
duckdb = ctypes.CDLL(library)


class Result(ctypes.Structure):
    """duckdb_result: what is in it is DuckDB's own business."""
    _fields_ = [("words", ctypes.c_uint64 * 8)]


duckdb.duckdb_result_error.restype = ctypes.c_char_p
duckdb.duckdb_library_version.restype = ctypes.c_char_p
duckdb.duckdb_query.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
for name in ("row_count", "column_count"):
    getattr(duckdb, "duckdb_" + name).restype = ctypes.c_uint64
duckdb.duckdb_value_varchar.restype = ctypes.c_void_p
duckdb.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
duckdb.duckdb_free.argtypes = [ctypes.c_void_p]


def connect():
    config, db, connection, error = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
    duckdb.duckdb_create_config(ctypes.byref(config))
    duckdb.duckdb_set_config(config, b"threads", threads.encode())
    if duckdb.duckdb_open_ext(b":memory:", ctypes.byref(db), config, ctypes.byref(error)):
        raise RuntimeError(error.value.decode())
    if duckdb.duckdb_connect(db, ctypes.byref(connection)):
        raise RuntimeError("duckdb_connect failed")
    return connection


def value(result, column, row):
    """A value as text; None for NULL."""
    text = duckdb.duckdb_value_varchar(ctypes.byref(result), column, row)
    if not text:
        return None
    try:
        return ctypes.cast(text, ctypes.c_char_p).value.decode()
    finally:
        duckdb.duckdb_free(text)


def query(connection, sql, fetch=False):
    """The rows of a statement, if they are asked for."""
    result = Result()
    try:
        if duckdb.duckdb_query(connection, sql.encode(), ctypes.byref(result)):
            raise RuntimeError(duckdb.duckdb_result_error(ctypes.byref(result)).decode())
        if not fetch:
            return None
        columns = range(duckdb.duckdb_column_count(ctypes.byref(result)))
        rows = range(duckdb.duckdb_row_count(ctypes.byref(result)))
        return [[value(result, c, r) for c in columns] for r in rows]
    finally:
        duckdb.duckdb_destroy_result(ctypes.byref(result))


def peak_bytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def answer(connection, request):
    if request.get("run"):
        sql = request["run"].replace("{table}", quoted(file))
        if request.get("to") == "none":
            sql = "explain analyze " + sql  # drops the result
        elif request.get("to"):
            sql = f"copy ({sql}) to {quoted(request['to'])} (format parquet)"
        else:
            sql = "create or replace temp table r as " + sql
        start, before = time.perf_counter(), time.process_time()
        query(connection, sql)
        return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - before}
    if request.get("write"):
        query(connection, f"copy r to {quoted(request['write'])} (format parquet)")
        return {}
    if request.get("query"):
        return {"rows": query(connection, request["query"], fetch=True)}
    return {"version": duckdb.duckdb_library_version().decode(), "peak": peak_bytes()}


def main():
    connection = connect()
    if bounds:
        memory, temp = bounds
        query(connection, "set preserve_insertion_order = false")
        query(connection, "set temp_directory = " + quoted(temp))
        query(connection, "set memory_limit = " + quoted(memory))
    for line in sys.stdin:
        try:
            reply = answer(connection, json.loads(line))
        except Exception as error:  # every failure is the caller's to report
            reply = {"error": str(error).split("\n", maxsplit=1)[0]}
        print(json.dumps(reply), flush=True)


main()
