#!/bin/sh
# Unpacks what `make build/endtoend` packed, below the folder that DATA names, and
# measures there: DATA=/dev/shm bench/peers/endtoend.sh -rows 1e8 -threads 16 -rounds 3 …
set -eu
unpack=endtoend
. bench/peers/unpack.sh
exec "$programs/peers" -devices "${DEVICES:-cpu,gpu,auto}" -open "${OPEN-cpu,gpu}" -gagg "$programs/gagg" -library "$programs/library" \
	-duckdb "$programs/libduckdb.so" -data "$DATA" -results "${OUT:-bench}/results" "$@"
