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

# A fuzz target runs this long in `make fuzz-short` and `make ci`.
FUZZ_TIME ?= 5s

.PHONY: build
build:
	$(GO) build -o gagg ./cmd/gagg

.PHONY: test
test:
	$(GO) test ./...

# Everything a change has to pass. The result of every step is on stdout.
.PHONY: ci
ci: fmt-check vet lint imports test race test-invariant fuzz-short bench clean-tree
	@echo "ci: all green"

.PHONY: fmt
fmt:
	$(TOOL) gofumpt -w .

.PHONY: fmt-check
fmt-check:
	@unformatted="$$($(TOOL) gofumpt -l .)" || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not formatted (run make fmt):"; echo "$$unformatted"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: lint
lint:
	$(TOOL) golangci-lint run ./...

# Never from the test cache: the test looks at the imports of other packages.
.PHONY: imports
imports:
	$(GO) test -count=1 ./internal/lint

# With fewer rounds of the random tests, being ten times slower, and without
# the packages that only compute on what one goroutine owns. It is the one thing
# here that needs cgo, and so a C compiler.
.PHONY: race
race:
	@if command -v "$$($(GO) env CC)" >/dev/null; then \
		packages="$$($(GO) list ./... | grep -vE '/internal/(agg|datagen|expr)$$')"; \
		CGO_ENABLED=1 $(GO) test -race -short $$packages; \
	else echo "race: SKIPPED, no C compiler ($$($(GO) env CC)) on this machine"; fi

# With our own checks (invariant) and those of Arrow's buffers (assert).
.PHONY: test-invariant
test-invariant:
	$(GO) test -tags invariant,assert -short ./...

# Each fuzz target for a short while. `go test -fuzz` takes one target at a time.
.PHONY: fuzz-short
fuzz-short:
	@set -e; grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do \
		package=$$(dirname "$$file"); \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$file"); do \
			echo "$(GO) test -run '^$$' -fuzz '^$$target\$$' -fuzztime $(FUZZ_TIME) $$package"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ_TIME) "$$package"; \
		done; \
	done

# Each Go benchmark once: it still runs. To measure: go test -bench=. -count=10 ./internal/…
.PHONY: bench
bench:
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

# gagg beside DuckDB, ClickHouse and Polars on db-benchmark's data; see bench/peers/README.md.
.PHONY: bench-peers
bench-peers: bench/peers/node_modules
	$(GO) build -o build/gagg ./cmd/gagg
	$(GO) run ./bench/peers -rows $(ROWS) -rounds $(ROUNDS) -threads $(THREADS)

# gagg beside DuckDB under one memory limit after another: table, plot, result file.
.PHONY: bench-memory
bench-memory: bench/peers/node_modules
	$(GO) build -o build/gagg ./cmd/gagg
	$(GO) run ./bench/peers -memory $(MEMORY) -questions "$(QUESTIONS)" -rows $(ROWS) -rounds $(ROUNDS) -threads $(THREADS) -timeout $(TIMEOUT) -into $(INTO)

bench/peers/node_modules:
	npm install --prefix bench/peers --no-package-lock --no-audit --no-fund

# Not part of ci: it asks a database on the internet.
.PHONY: vulncheck
vulncheck:
	$(TOOL) govulncheck ./...

# Tests and generators leave nothing behind, and nothing that is generated is stale.
.PHONY: clean-tree
clean-tree:
	@changed="$$(git status --porcelain)" || exit 1; \
	if [ -n "$$changed" ]; then echo "the working tree is not clean:"; echo "$$changed"; exit 1; fi
