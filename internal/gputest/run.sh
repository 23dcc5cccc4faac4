#!/usr/bin/env bash
# Runs the tests and benches of the device layer on a machine that has nothing
# but an NVIDIA driver: no Go, no compiler, no sources. `make build/gpu` packs
# them with this script; copy the folder and run
#
#   build/gpu/run.sh [test] [bench] [sanitize]     nothing named: test
#
# test      every test binary, in its package's folder, with the device required
# bench     launches and copies (beside a CUDA C++ program if nvcc is there),
#           the page managers, and the Go benchmarks
# sanitize  the short tests under compute-sanitizer, if it is there
#
# The last thing printed is a table; the exit status is 1 if anything failed.
# Whole logs, and the result files of bench as results.tgz, go to $OUT.
#
# Variables: OUT (out, beside this script), TIMEOUT (240s, of one binary), RUN
# (-test.run; else what the file RUN beside a binary says, else all), GAGG_CORPUS (a folder of
# Parquet files with answers, read beside testdata/corpus), PACKAGES (all; for example "gpumem
# internal/cuda"), TOOLS (memcheck racecheck synccheck initcheck), PAGES, SCATTER, EGA, BUCKETS,
# OUTOFCORE, STREAMS and LINK (arguments of the benches), GAGG_CUDA_LIBRARY (the emulator in place
# of a GPU).

set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
OUT=${OUT:-$PWD/out}
TIMEOUT=${TIMEOUT:-240s}
TOOLS=${TOOLS:-memcheck racecheck synccheck initcheck}
export GAGG_REQUIRE_GPU=1
mkdir -p "$OUT"

table=()
failed=0

# count is how many lines of file $2 match $1.
count() { grep -cE "$1" "$2"; }

# timed OUT ERR COMMAND... runs the command with stdout and stderr appended to the files, and sets
# seconds and rc.
timed() {
  local out=$1 err=$2 from to
  shift 2
  from=$(date +%s%N)
  "$@" >>"$out" 2>>"$err"
  rc=$?
  to=$(date +%s%N)
  seconds=$(printf '%d.%01d' $(((to - from) / 1000000000)) $(((to - from) / 100000000 % 10)))
}

# row WHAT TESTS SECONDS RC adds a line to the table.
row() {
  local verdict=ok
  if [ "$4" -ne 0 ]; then
    verdict="FAIL ($4)"
    failed=1
  fi
  table+=("$(printf '%-42s %-18s %8s  %s' "$1" "$2" "$3" "$verdict")")
}

# in_folder BINARY COMMAND... runs COMMAND ./binary's-name ARGS... in the binary's folder.
in_folder() {
  local binary=$1
  shift
  (cd "$(dirname "$binary")" && "$@")
}

# package_name of ./internal/cuda/cuda.test is internal/cuda.
package_name() {
  local dir
  dir=$(dirname "$1")
  echo "${dir#./}"
}

# failures FILE prints what the tests that failed have said, and what ended the process.
failures() {
  awk '
    /^=== (RUN|CONT|NAME)/ { name = $3; next }
    /^ *--- (PASS|SKIP): / { next }
    /^ *--- FAIL: / { printf "%s%s\n", said[$3], $0; next }
    /^(panic:|fatal error|SIG)/ { rest = 40 }
    /ERROR SUMMARY: [1-9]|^========= (Invalid|Error|Race|Uninit|Barrier|Program hit)/ { rest = 8 }
    rest > 0 { print; rest--; next }
    name != "" { said[name] = said[name] $0 "\n" }' "$1"
}

# run_tests NAME LOG BINARY PREFIX... runs a test binary, after PREFIX, and adds a row.
run_tests() {
  local name=$1 log=$2 binary=$3 part run=${RUN:-}
  shift 3
  part=$(mktemp)
  if [ -z "$run" ]; then run=$(cat "$(dirname "$binary")/RUN" 2>/dev/null || echo .); fi
  timed "$part" "$part" in_folder "$binary" "$@" "./$(basename "$binary")" -test.v -test.timeout "$TIMEOUT" -test.run "$run" $SHORT
  local tests skipped
  tests=$(count '^ *--- (PASS|FAIL)' "$part")
  skipped=$(count '^ *--- SKIP' "$part")
  row "$name" "$tests, $skipped skipped" "$seconds" "$rc"
  if [ "$rc" -ne 0 ]; then
    echo "--- $name failed (status $rc); of its log:"
    failures "$part" | head -80
  fi
  { echo "=== $name, $seconds s, status $rc"; cat "$part"; } >>"$log"
  rm -f "$part"
}

# binaries are the test binaries of $PACKAGES.
binaries() {
  find . -name '*.test' -type f | sort | while read -r binary; do
    case " ${PACKAGES:-$(package_name "$binary")} " in *" $(package_name "$binary") "*) echo "$binary" ;; esac
  done
}

run_all_tests() {
  : >"$OUT/test.log"
  for binary in $(binaries); do
    SHORT='' run_tests "$(package_name "$binary")" "$OUT/test.log" "$binary"
  done
}

run_sanitizer() {
  if ! command -v compute-sanitizer >/dev/null; then
    echo "sanitize: SKIPPED, no compute-sanitizer on this machine"
    return
  fi
  : >"$OUT/sanitize.log"
  for tool in $TOOLS; do
    for binary in $(binaries); do
      export GAGG_SANITIZER=$tool
      SHORT=-test.short run_tests "$(package_name "$binary") $tool" "$OUT/sanitize.log" "$binary" \
        compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 20 --report-api-errors no
    done
  done
  unset GAGG_SANITIZER
}

# run_bench NAME COMMAND... runs a bench, shows what it prints, and adds a row. Its
# progress, on stderr, is in the log only, but for its end if the bench failed.
run_bench() {
  local name=$1 part progress
  shift
  part=$(mktemp) progress=$(mktemp)
  timed "$part" "$progress" "$@"
  row "$name" bench "$seconds" "$rc"
  { echo "=== $name, $seconds s, status $rc"; cat "$part"; } | tee -a "$OUT/bench.log"
  if [ "$rc" -ne 0 ]; then tail -n 20 "$progress"; fi
  cat "$progress" >>"$OUT/bench.log"
  rm -f "$part" "$progress"
}

run_benches() {
  local peer=() cub=()
  : >"$OUT/bench.log"
  rm -rf results
  mkdir results
  if command -v nvcc >/dev/null; then
    run_bench "nvcc link.cu" nvcc -O3 -std=c++17 -arch=native -o bench/link/link_cuda bench/link/link.cu -lcuda
    if [ -x bench/link/link_cuda ]; then peer=(-peer bench/link/link_cuda); fi
    run_bench "nvcc cub.cu" nvcc -O3 -std=c++17 -arch=native -o bench/ega/cub bench/ega/cub.cu
    if [ -x bench/ega/cub ]; then cub=(-peer bench/ega/cub); fi
  else
    echo "bench: no nvcc on this machine, so no CUDA C++ program to compare with"
  fi
  for binary in $(binaries); do
    if [ -n "$(in_folder "$binary" "./$(basename "$binary")" -test.list '^Benchmark' 2>/dev/null | grep '^Benchmark')" ]; then
      run_bench "$(package_name "$binary") benchmarks" \
        in_folder "$binary" "./$(basename "$binary")" -test.run '^$' -test.bench . -test.benchtime 200ms -test.timeout "$TIMEOUT"
    fi
  done
  # shellcheck disable=SC2086 # LINK and PAGES are lists of arguments
  run_bench bench/link bench/link/link -results results "${peer[@]}" ${LINK:-}
  # shellcheck disable=SC2086
  run_bench bench/pages bench/pages/pages -results results ${PAGES:-}
  # shellcheck disable=SC2086
  run_bench bench/streams bench/streams/streams -results results ${STREAMS:-}
  # shellcheck disable=SC2086
  run_bench bench/scatter bench/scatter/scatter -results results ${SCATTER:-}
  # shellcheck disable=SC2086
  run_bench bench/ega bench/ega/ega -results results "${cub[@]}" ${EGA:-}
  # shellcheck disable=SC2086
  run_bench bench/buckets bench/buckets/buckets -results results ${BUCKETS:-}
  # shellcheck disable=SC2086
  run_bench bench/outofcore bench/outofcore/outofcore -results results ${OUTOFCORE:-}
  tar -C results -czf "$OUT/results.tgz" .
}

for stage in "${@:-test}"; do
  case $stage in
  test) run_all_tests ;;
  bench) run_benches ;;
  sanitize) run_sanitizer ;;
  *)
    echo "run.sh: unknown stage $stage; want test, bench or sanitize" >&2
    exit 2
    ;;
  esac
done

echo
printf '%-42s %-18s %8s\n' package tests seconds
printf '%s\n' "${table[@]}"
exit $failed
