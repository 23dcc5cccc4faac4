#!/bin/sh
# Unpacks what `make build/real` packed, below the folder that DATA names, and asks
# the real queries there: DATA=/dev/shm bench/peers/real.sh -rows 5e7 -threads 16 -rounds 5,
# or with -scaling 1,2,4,8,16 in place of -threads, or with -devices cpu,gpu,auto -open cpu,gpu,auto
# beside it.
set -eu
unpack=real
. bench/peers/unpack.sh
exec "$programs/peers" -set clickbench,tpch -engines duckdb -gagg "$programs/gagg" -makers "$programs" \
	-library "$programs/library" -duckdb "$programs/libduckdb.so" -data "$DATA" -results "${OUT:-bench}/results" "$@"
