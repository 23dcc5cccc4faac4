#!/bin/sh
# What each part of a query on a device is worth, by leaving it out or varying it
# (docs/experiments/0008): PROGRAMS and DATA as in bench/peers/endtoend.sh, which has to
# have run, and outofcore beside its programs.
#
#	end to end   streams 1 to 8; device memory that holds all, some and little
#	out of core  pinned and pageable input; slots of 1 to 8 MiB; streams; rows that leave
#	             stay in pinned memory, or writers take them; host buckets loaded by feedback,
#	             and once; small host buckets merged with their buddies, and one by one
set -eu
programs=$DATA/endtoend
results=${OUT:-bench}/results
rows=${ROWS:-1e8}

"$programs/peers" -devices "cpu,gpu,gpu --streams 1,gpu --streams 4,gpu --streams 8,gpu --gpu-memory 4GiB,gpu --gpu-memory 1GiB" \
	-gagg "$programs/gagg" -duckdb "$programs/libduckdb.so" -data "$DATA" -results "$results" -name ablation \
	-rows "$rows" -threads "${THREADS:-16}" -rounds "${ROUNDS:-3}" -questions q3,q5,q10 -unchecked q10

outofcore() {
	name=$1
	shift
	"$programs/outofcore" -results "$results" -name "outofcore-$name" -rows "$rows" -rounds "${ROUNDS:-3}" "$@"
}
for slot in 1MiB 2MiB 8MiB; do outofcore "slot-$slot" -groups 1e5 -varied - -slot "$slot"; done
outofcore streams -groups 1e5,1e8 -varied 1e5,1e8
outofcore placers -groups 1e8 -varied - -keep 0B
outofcore placers-4 -groups 1e8 -varied - -keep 0B -writers 4
# Few buckets and passes, so that a table has room for the groups of each, and more rows than are
# certain to fit.
outofcore feedback -groups 1e7 -varied - -device-memory 256MiB -bits 2 -passes 2
outofcore once -groups 1e7 -varied - -device-memory 256MiB -bits 2 -passes 2 -once
# As many buckets of writers in both.
outofcore merged -groups 1e8 -varied - -keep 0B -bits 7 -split 7
outofcore unmerged -groups 1e8 -varied - -keep 0B -bits 14
