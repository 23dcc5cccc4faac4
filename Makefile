# The command goes to ./gagg, everything else that is built to build/.

GO    ?= go
TOOL   = $(GO) tool -modfile=go.tools.mod
ROWS   ?= 1e7
ROUNDS ?= 5
THREADS ?= 2

# Of make bench-memory: limits, questions (empty: all of db-benchmark), and
# the time after which a run is killed.
MEMORY    ?= default,8GiB,4GiB,2GiB,1GiB,512MiB
QUESTIONS ?= q10
TIMEOUT   ?= 20m
INTO      ?= nothing

export CGO_ENABLED = 0

# Tests read files of many writers: our own, testdata/corpus, and those of the corpus that
# GAGG_CORPUS names, or that lies beside the repository.
ifeq ($(GAGG_CORPUS),)
GAGG_CORPUS := $(patsubst %/cases.jsonl,%,$(wildcard $(abspath ../shared/corpus)/cases.jsonl))
endif
export GAGG_CORPUS

# What compiles the kernels; a check wants the very version of ptx/MANIFEST.
CLANG ?= clang-19

# What makes machine code of their PTX, for the devices that most people have. There need not be
# one: then code of kernels that have not changed stays, and drivers compile the others.
PTXAS ?= build/ptxas

# A fuzz target runs this long in `make fuzz-short` and `make ci`.
FUZZ_TIME ?= 2s

.PHONY: build
build:
	$(GO) build -o gagg ./cmd/gagg

.PHONY: test
test:
	$(GO) test ./...

# Everything a change has to pass. The result of every step is on stdout, once it has ended. Two
# steps run at a time: one alone leaves processors idle while it compiles and links. Long steps come
# first, and those with emulated devices not side by side. make fuzz-short needs the emulator that
# make test-device has built.
#
# Each of the two tests one package at a time (-p=1; a -p of the user's own GOFLAGS wins, as it
# comes later). With as many packages as processors in both steps, four test processes share two
# cores, and those with an emulated device wait for each other's threads: 20 min 58 s on two
# cores, instead of 17 min 2 s.
TWO = GOFLAGS="-p=1 $$($(GO) env GOFLAGS)" $(MAKE) --no-print-directory -j2 --output-sync=recurse

# The last that is printed is the name of the step that failed, below the end of its output: other
# steps may end after it.
STEPS = build/ci

.PHONY: ci
ci:
	@echo "ci: files to test with: testdata/corpus$(if $(GAGG_CORPUS), and $(GAGG_CORPUS),; GAGG_CORPUS names no others)"
	@rm -rf $(STEPS) && mkdir -p $(STEPS)
	@$(TWO) $(addprefix step-,fmt-check vet lint imports deadcode test-device race test-device-asan test-plain test-invariant test-arrow test-servers) && \
	$(TWO) $(addprefix step-,fuzz-short bench fuzz-duckdb-minute) && \
	$(MAKE) --no-print-directory step-clean-tree || { \
		for log in $$(ls $(STEPS)/*.failed); do \
			echo; echo "ci: the end of $$(basename "$$log" .failed), less the packages that passed:"; \
			grep -vE '^(ok  |\?   )	' "$$log" | tail -n 40; \
			echo "ci: FAILED: $$(basename "$$log" .failed)"; \
		done; exit 1; }
	@echo "ci: all green"

# A step of ci keeps what it says, under another name if it fails.
step-%:
	@if $(MAKE) --no-print-directory $* >$(STEPS)/$* 2>&1; then cat $(STEPS)/$*; \
	else mv $(STEPS)/$* $(STEPS)/$*.failed; cat $(STEPS)/$*.failed; exit 1; fi

.PHONY: fmt
fmt:
	$(TOOL) gofumpt -w .

.PHONY: fmt-check
fmt-check:
	@unformatted="$$($(TOOL) gofumpt -l .)" || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not formatted (run make fmt):"; echo "$$unformatted"; exit 1; fi

# The files that make lint leaves out, whose govet is the same vetting: those for builds without our
# checks, and without a driver. Only the packages that have any, since vet goes through all
# dependencies once more: those of the library and the program take two minutes of a processor.
.PHONY: vet
vet:
	$(GO) vet -tags nogpu ./gpumem/reference ./internal/cuda/... ./internal/hostmem ./internal/invariant

# How ci's tests are built: without vetting, since make vet has looked at the files, and without
# debugging information, which takes half of the linker's time. A package has half an hour: beside
# other work the library's tests take more than the ten minutes that are Go's default.
QUICK = -vet=off -ldflags=-w -timeout=30m

# What tests allocate is garbage soon. With four times the room for it those of internal/agg take
# two thirds of the time. Tests of what users get, and those under the sanitizers, have the
# collector run as often as always.
ROOMY = GOGC=400

# The linters have every package and test compiled. With the flags of the checked tests that is done
# once for both.
.PHONY: lint
lint:
	GOFLAGS="$$($(GO) env GOFLAGS) -gcflags=$(MODULE)/...=-d=checkptr -tags=invariant,assert" $(TOOL) golangci-lint run ./...

# Never from the test cache: the test looks at the imports of other packages.
.PHONY: imports
imports:
	$(GO) test -vet=off -count=1 ./internal/lint

# Functions and kernels that no query reaches, against the list with reasons.
.PHONY: deadcode
deadcode:
	GAGG_DEADCODE=1 $(GO) test -vet=off -count=1 -run TestEachFunctionHasACaller ./internal/lint

# The race detector. A test takes ten times as long under it, so random tests have fewer rounds,
# and it runs only in packages that start goroutines, or whose tests do. Nested modules have other
# steps. RACE_SKIP are the tests in which one goroutine computes for long, or whose goroutines do
# what those of others do (TestMetamorphic, TestMetamorphicMemory, TestSpillFaults, TestPairs):
# test-plain or test-invariant runs them. It is the one step that needs cgo, and so a C compiler.
# Tests cannot measure peaks of memory here: the detector has its own. A process would wait a
# second at its end for more races (atexit_sleep_ms), though tests wait for what they start.
NESTED    = $(patsubst %/go.mod,':!%',$(shell git ls-files '*/go.mod'))
STARTS    = \bgo [a-zA-Z_.]+\(|\.Go\(|AfterFunc\(|RunParallel\(
RACE_SKIP = ^Test(Parquet|Encodings|Encoded(Values|Decompressed|Corpus|Mutated)|Codecs|FileCorpus|Many(RowGroups|Columns)|CorpusBounds|CorpusMemory|Models|StepsOf|CoRW|MemoryMatrix|Large(Text|Parquet|Memory|Groups)|Pack|CutSums|Extremes|LimitIsTheBeginning|QueriesOfMutants|CancelWithinGroup|DistinctSpills|PagesRuledOut|LyingPageIndex|Snappy|Late|QuickFooter|Mutants|Dict(Repeats|Prefix)|DamagedParts|Crowded|Regrow|SeededParts|SpillEqualHashes|PairsRe|RecentCode|Offset|Stores|Holistic|Distinct$$|TextKeys|Pivot|Ordered(Large|ListsBeyond)|TopGroups|TiesStay|FloatSums|Approximate|DecimalProducts|KeysFollow|SummarizeCorpus|Totals|LongKeys|GroupingSetsSpill|SpillLongKeys|MergerGrows|States(FlippedBits|Cut))

.PHONY: race
race:
	@if command -v "$$($(GO) env CC)" >/dev/null; then \
		packages="$$(git grep -lE '$(STARTS)' -- '*.go' $(NESTED) | xargs -n1 dirname | sort -u | grep -vE '^(bench|internal/datagen)' | sed 's|^|./|')"; \
		echo "race:" $$packages; \
		$(ROOMY) GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test $(QUICK) -race -short -skip '$(RACE_SKIP)' $$packages; \
	else echo "race: SKIPPED, no C compiler ($$($(GO) env CC)) on this machine"; fi

# All tests of the library and the program as users get them, and of the packages that are built
# in another way with -tags invariant (memory) or build the program. The code of other packages
# runs in these; their own tests run with our checks, which find more, and under the race detector
# without.
PLAIN_PACKAGES = . ./cmd/gagg ./internal/cuda ./internal/hostmem

.PHONY: test-plain
test-plain:
	$(GO) test $(QUICK) $(PLAIN_PACKAGES)

# Inputs on real servers on loopback, gofakes3 and nginx: a module of its own, for what the servers
# need.
.PHONY: test-servers
test-servers:
	cd internal/remote/servers && $(GO) vet . && $(GO) test $(QUICK) .

# With our own checks (invariant), those of Arrow's buffers (assert), and the compiler's of unsafe
# pointers (checkptr, which -race has too, for fewer packages). Not together with -race: it does
# not see mapped memory, so that buffers are Go's there, and the use of one that was freed is not
# found (internal/hostmem). All tests, but fewer rounds of those that test-plain runs. The
# emulator's tests are built in the same way, so that packages are compiled once for both.
CHECKED = $(QUICK) -gcflags=$(MODULE)/...=-d=checkptr -tags invariant,assert
MODULE  = github.com/gagg-dev/gagg

.PHONY: test-invariant
test-invariant:
	$(ROOMY) $(GO) test $(CHECKED) $$($(GO) list ./... | grep -vxE '$(MODULE)(/(cmd/gagg|internal/(cuda|hostmem|lint)))?')
	$(ROOMY) $(GO) test $(CHECKED) -short $(PLAIN_PACKAGES)

# The module that joins gagg to Arrow 18, which links and starts beside it in one program, Parquet
# included. Not optimized, which is compiled in half the time.
.PHONY: test-arrow
test-arrow:
	cd docs/arrow18 && $(GO) test -tags assert -ldflags=-w "-gcflags=github.com/...=-N -l" ./...

# The peak resident size of the process for every aggregate, output format, number of groups and
# limit; test-plain runs a sample. A quarter of an hour on two cores, since each case is some
# processes.
.PHONY: test-memory
test-memory:
	GAGG_MEMORY_TEST=all $(GO) test -count=1 -timeout 60m -run TestMemoryMatrix ./cmd/gagg

# The device layer on the emulator, which a C++ compiler builds: plain, and under
# AddressSanitizer and UndefinedBehaviorSanitizer.
.PHONY: test-device test-device-asan
test-device test-device-asan: test-device%:
	@if command -v g++ >/dev/null; then $(MAKE) --no-print-directory test-emu$*; \
	else echo "$@: SKIPPED, no C++ compiler (g++) on this machine"; fi

# Each fuzz target for a short while. `go test -fuzz` takes one target at a time. A target whose
# time is up in the middle of an input fails at times ("context deadline exceeded"), so it gets a
# second try. An input that really fails is among the seeds by then, and fails again. FuzzSnappy
# and FuzzZstd need a device: the emulator, if make emu has built it.
.PHONY: fuzz-short
fuzz-short:
	@set -e; emulator=$(CURDIR)/build/emu/libcuda-emu.so; \
	if [ -f "$$emulator" ]; then export GAGG_CUDA_LIBRARY="$$emulator" GAGG_REQUIRE_GPU=1; \
	else echo "fuzz-short: FuzzSnappy and FuzzZstd SKIPPED, no emulator (make emu)"; fi; \
	grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do \
		package=$$(dirname "$$file"); \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$file"); do \
			case $$target in FuzzSnappy|FuzzZstd) [ -f "$$emulator" ] || continue;; esac; \
			fuzz="$(GO) test $(QUICK) -run ^$$ -fuzz ^$$target\$$ -fuzztime $(FUZZ_TIME) $$package"; \
			echo "$$fuzz"; \
			$$fuzz || $$fuzz; \
		done; \
	done

# Each Go benchmark once: it still runs. To measure: go test -bench=. -count=10 ./internal/…
.PHONY: bench
bench:
	$(GO) test $(QUICK) -run '^$$' -bench . -benchtime 1x $$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n1 dirname | sort -u)

# What has tests that need a device, or the emulator in its place.
DEVICE_PACKAGES = ega ega/evict ega/firstpass ega/groups ega/secondpass internal/decode internal/kernels/kerneltest internal/cuda internal/kernels internal/gputest gpumem gpumem/reference partition/ondevice streams

# What runs whole queries, or combines their rows. Tests that need a device have Device in their
# names, and some need two.
QUERY_PACKAGES = . ./cmd/gagg ./internal/agg ./internal/plan

# The same tests with the device required. Where there is no Go beside the GPU: make build/gpu.
.PHONY: test-gpu
test-gpu:
	GAGG_REQUIRE_GPU=1 $(GO) test -count=1 $(addprefix ./,$(DEVICE_PACKAGES))
	GAGG_REQUIRE_GPU=1 $(GO) test -count=1 -run Device $(QUERY_PACKAGES)

# The emulator: libcuda on the CPU, with all kernels built in; needs g++. One make at a time.
# emu-asan is the same under AddressSanitizer and UndefinedBehaviorSanitizer.
EMU_MAKE = mkdir -p build/emu && flock build/emu/lock sh -c '$(GO) run ./internal/kernels/gen -emulator build/emu/kernels && \
	$(MAKE) --no-print-directory -j2 -f internal/cuda/emu/emu.mk VARIANT=$(1)'

.PHONY: emu
emu:
	@$(call EMU_MAKE,plain)

.PHONY: emu-asan
emu-asan:
	@$(call EMU_MAKE,asan)

# The tests of the device layer on the emulator, with all of our checks; some again under the race
# detector without. Leaks are the emulator's own business (emu.Control().Leaks), and segmentation
# faults go to Go's handler. TestBuilds links the program twice, without a device: make test-plain
# has done so. The library's queries take fewer rounds.
EMU_TEST = GAGG_REQUIRE_GPU=1 GAGG_CUDA_LIBRARY=$(CURDIR)/build/emu/$(1) $(GO) test -count=1

.PHONY: test-emu
test-emu: emu
	$(ROOMY) $(call EMU_TEST,libcuda-emu.so) $(CHECKED) -skip '^TestBuilds$$' $(addprefix ./,$(DEVICE_PACKAGES) internal/cuda/emu)
	GAGG_EMU_DEVICES=2 $(ROOMY) $(call EMU_TEST,libcuda-emu.so) $(CHECKED) -short -run Device $(filter-out ./cmd/gagg,$(QUERY_PACKAGES))
	GAGG_EMU_DEVICES=2 $(ROOMY) $(call EMU_TEST,libcuda-emu.so) $(CHECKED) -run Device ./cmd/gagg
	CGO_ENABLED=1 $(ROOMY) $(call EMU_TEST,libcuda-emu.so) $(QUICK) -race -short -run 'TestDevice(Cancel|ReleasedEarly|RunsAtOnce)' .

# Left out under the sanitizers: the tests in which each call of the driver fails once, and those
# of many rows. What kernels and memory do there is what they do elsewhere.
ASAN_SKIP = ^Test(Pass|Made|Lists)Faults|^Test(PassLost|PassShortHost|ListsLarge|LongPages|SelectSample(First)?)$$

.PHONY: test-emu-asan
test-emu-asan: emu-asan
	$(call EMU_TEST,libcuda-emu-asan.so) $(CHECKED) -short -skip '$(ASAN_SKIP)' -exec "$(CURDIR)/internal/cuda/emu/asan.sh" $(addprefix ./,$(DEVICE_PACKAGES) internal/cuda/emu)

# Benches of the device layer; the result files go to bench/results.
.PHONY: bench-gpu
bench-gpu: build/gpu
	OUT=$(CURDIR)/build/gpu/out build/gpu/run.sh bench
	tar -C bench/results -xzf build/gpu/out/results.tgz

# Everything that a machine with nothing but an NVIDIA driver needs to run the
# tests and benches: build/gpu/run.sh test bench sanitize
.PHONY: build/gpu
build/gpu:
	rm -rf build/gpu
	mkdir -p build/gpu
	echo 'module packed // what lies here is no package of ours' >build/gpu/go.mod
	mkdir build/gpu/testdata && cp -r testdata/corpus build/gpu/testdata
	@set -e; for package in $(DEVICE_PACKAGES); do \
		echo "tests of $$package"; \
		mkdir -p build/gpu/$$package; \
		$(GO) test -c -ldflags='-s -w' -o build/gpu/$$package/$$(basename $$package).test ./$$package; \
		find $$package -maxdepth 1 -name '*.cu' -o -name '*.cuh' -o -name '*.def' -o -name '*_gen.go' | xargs -r cp -t build/gpu/$$package; \
		for folder in testdata ptx; do if [ -d $$package/$$folder ]; then cp -r $$package/$$folder build/gpu/$$package; fi; done; \
	done
	@set -e; for package in $(QUERY_PACKAGES); do \
		folder=build/gpu/queries/$$package; \
		echo "tests of queries, $$package"; \
		mkdir -p $$folder; \
		echo Device >$$folder/RUN; \
		$(GO) test -c -ldflags='-s -w' -o $$folder/queries.test $$package; \
		if [ -d $$package/testdata ]; then cp -r $$package/testdata $$folder; fi; \
	done
	@set -e; for bench in bench/link bench/pages bench/streams bench/scatter bench/ega bench/buckets bench/outofcore; do \
		echo "$$bench"; \
		mkdir -p build/gpu/$$bench; \
		$(GO) build -buildvcs=auto -ldflags='-s -w' -o build/gpu/$$bench ./$$bench; \
	done
	cp bench/link/link.cu build/gpu/bench/link
	cp bench/ega/cub.cu build/gpu/bench/ega
	cp internal/gputest/run.sh build/gpu
	@du -sh build/gpu

# The kernels' PTX, machine code and launch functions, from their sources. It needs clang.
.PHONY: ptx
ptx:
	$(GO) run ./internal/kernels/gen -clang $(CLANG) -ptxas $(PTXAS)

# NVIDIA's assembler, from Debian's section non-free; its licence lies beside it.
build/ptxas:
	internal/kernels/gen/ptxas.sh $@

# Everything that make ptx writes is as it would write it now.
.PHONY: ptx-check
ptx-check:
	$(GO) run ./internal/kernels/gen -clang $(CLANG) -ptxas $(PTXAS) -check
	@echo "ptx-check: no difference"

# gagg beside DuckDB, ClickHouse and Polars on db-benchmark's data; see bench/peers/README.md.
.PHONY: bench-peers
bench-peers: bench/peers/node_modules
	$(GO) build -o build/gagg ./cmd/gagg
	$(GO) run ./bench/peers -rows $(ROWS) -rounds $(ROUNDS) -threads $(THREADS)

# gagg beside them on the questions of ClickBench and TPC-H; with one number of threads after
# another. Where there is neither Go nor Node: make build/real, and bench/peers/real.sh there.
SETS    ?= clickbench,tpch
ENGINES ?= duckdb,clickhouse,polars
SCALING ?= 1,2
.PHONY: bench-real
bench-real: bench/peers/node_modules
	$(GO) build -o build/gagg ./cmd/gagg
	$(GO) run ./bench/peers -set $(SETS) -engines $(ENGINES) -rows $(ROWS) -rounds $(ROUNDS) -threads $(THREADS)

.PHONY: bench-scaling
bench-scaling: bench/peers/node_modules
	$(GO) build -o build/gagg ./cmd/gagg
	$(GO) run ./bench/peers -set $(SETS) -engines $(ENGINES) -scaling $(SCALING) -rows $(ROWS) -rounds $(ROUNDS)

.PHONY: build/real
build/real: bench/peers/node_modules
	$(call packed,cmd/gagg bench/peers bench/peers/library bench/hits bench/lineitem bench/trips)

# packed builds programs that run elsewhere, without Go or Node, beside DuckDB's library.
define packed
	rm -rf $@
	mkdir -p $@
	for main in $(1); do CGO_ENABLED=0 $(GO) build -buildvcs=auto -ldflags='-s -w' -o $@ ./$$main; done
	cp bench/peers/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so $@
	xz -T0 -2 $@/*
	@du -sh $@
endef

# gagg beside DuckDB under one memory limit after another: table, plot, result file.
.PHONY: bench-memory
bench-memory: bench/peers/node_modules
	$(GO) build -o build/gagg ./cmd/gagg
	$(GO) run ./bench/peers -memory $(MEMORY) -questions "$(QUESTIONS)" -rows $(ROWS) -rounds $(ROUNDS) -threads $(THREADS) -timeout $(TIMEOUT) -into $(INTO)

# SEEDS random tables, ten queries of each in two configurations, gagg's answers compared with
# DuckDB's; bench/fuzz/README.md. FIRST is the first seed. More writers of files with `make
# bench/peers/node_modules`, devices with `make emu`. Needs g++.
SEEDS ?= 100
FIRST ?= 0
.PHONY: fuzz-duckdb
fuzz-duckdb:
	$(GO) build -o build/gagg ./cmd/gagg
	$(GO) run ./bench/fuzz -first $(FIRST) -seeds $(SEEDS)

# A minute of it for ci, with seeds that the commit gives.
.PHONY: fuzz-duckdb-minute
fuzz-duckdb-minute:
	@if command -v g++ >/dev/null; then \
		$(GO) build -o build/gagg ./cmd/gagg && \
		$(GO) run ./bench/fuzz -from "$$(git rev-parse HEAD)" -seeds 100000 -for 1m; \
	else echo "fuzz-duckdb-minute: SKIPPED, no C++ compiler (g++) on this machine"; fi

# What DuckDB gives for the expressions of internal/expr/testdata, written there again.
.PHONY: functions-duckdb
functions-duckdb: bench/peers/node_modules
	node internal/expr/testdata/functions.mjs

# MP-EGA over more rows than the device may hold, from pinned and from pageable memory, beside
# plain copies.
.PHONY: bench-outofcore
bench-outofcore:
	$(GO) run ./bench/outofcore

# gagg on each of DEVICES, as a whole process and (OPEN) from a program that has the device open,
# beside DuckDB. Where neither Go nor Node is beside the GPU: make build/endtoend, and
# bench/peers/endtoend.sh there.
DEVICES ?= cpu,gpu,auto
OPEN ?= cpu,gpu
.PHONY: bench-endtoend
bench-endtoend: bench/peers/node_modules
	$(GO) build -o build/gagg ./cmd/gagg
	$(GO) build -o build/library ./bench/peers/library
	$(GO) run ./bench/peers -devices $(DEVICES) -open $(OPEN) -rows $(ROWS) -rounds $(ROUNDS) -threads $(THREADS)

# The same for the questions of ClickBench and TPC-H, with what ran where.
.PHONY: bench-devices
bench-devices: bench/peers/node_modules
	$(GO) build -o build/gagg ./cmd/gagg
	$(GO) build -o build/library ./bench/peers/library
	$(GO) run ./bench/peers -set $(SETS) -devices $(DEVICES) -open $(OPEN) -rows $(ROWS) -rounds $(ROUNDS) -threads $(THREADS)

.PHONY: build/endtoend
build/endtoend: bench/peers/node_modules
	$(call packed,cmd/gagg bench/peers bench/peers/library bench/outofcore)

bench/peers/node_modules:
	npm install --prefix bench/peers --no-package-lock --no-audit --no-fund

# What a release has, in build/dist: archives, packages, checksums, lists of modules. The version is
# that of the checkout: a clone, as Go stamps none in a worktree.
.PHONY: dist
dist:
	$(GO) run ./internal/dist -o build/dist

# Two clones of the last commit, in folders of different names, one of them with an empty build
# cache and other habits, make the same bytes. It is not part of ci: it takes minutes.
.PHONY: dist-check
dist-check:
	rm -rf build/dist-check && mkdir -p build/dist-check/another
	git clone -q . build/dist-check/one && git clone -q . build/dist-check/another/folder
	cd build/dist-check/one && $(GO) run ./internal/dist -o out >/dev/null
	cd build/dist-check/another/folder && umask 077 && \
		TZ=Asia/Tokyo LC_ALL=C GOCACHE=$(CURDIR)/build/dist-check/cache $(GO) run ./internal/dist -o out >/dev/null
	diff build/dist-check/one/out/SHA256SUMS build/dist-check/another/folder/out/SHA256SUMS
	@rm -rf build/dist-check
	@echo "dist-check: the same bytes"

# testdata/corpus; see its README.
.PHONY: corpus
corpus: bench/peers/node_modules
	$(GO) run ./bench/corpus

# Not part of ci: it asks a database on the internet.
.PHONY: vulncheck
vulncheck:
	$(TOOL) govulncheck ./...

# Tests and generators leave nothing behind, and nothing that is generated is stale.
.PHONY: clean-tree
clean-tree:
	@changed="$$(git status --porcelain)" || exit 1; \
	if [ -n "$$changed" ]; then echo "the working tree is not clean:"; echo "$$changed"; exit 1; fi
