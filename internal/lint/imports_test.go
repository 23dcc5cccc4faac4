package lint

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// allowed is the table of docs/architecture.md: what a package may import of
// ours, outside its tests. A new package gets a line here, and below the
// packages that use it. What is in free is free to all.
var allowed = map[string][]string{
	".":        {"internal/device", "internal/exec", "internal/input", "internal/query", "internal/sink"},            // at most five: TestRootIsSmall
	"cmd/gagg": {".", "internal/credentials", "internal/sink", "internal/spelling", "internal/teardown", "testdata"}, // which writes to more places: folders, pipes that hold back

	"ega":           {"ega/combine", "internal/cuda", "internal/kernels"},
	"ega/combine":   {}, // data that both engines share: operations of state words
	"ega/firstpass": {"ega", "ega/combine", "ega/evict", "ega/groups", "feedback", "streams", "internal/cuda", "internal/kernels"},
	"ega/evict": {
		"ega", "ega/groups", "ega/internal/pinned", "gpumem", "partition/ondevice", "streams", "internal/cuda", "internal/kernels",
	},
	"ega/groups":          {"ega", "ega/combine", "ega/internal/pinned", "feedback", "internal/cuda", "internal/kernels"},
	"ega/internal/pinned": {"internal/cuda"},
	"ega/reference": {
		"ega", "ega/combine", "partition/ondevice", "partition/reference", "internal/cuda", "internal/kernels", "internal/kernels/kerneltest",
	},

	"ega/secondpass": {"ega", "feedback", "internal/cuda", "internal/kernels"},
	"ega/egatest":    {"ega", "ega/combine", "ega/reference", "internal/bounded", "internal/cuda", "internal/cuda/emu", "internal/gputest"},

	"partition":           {"feedback", "internal/arena", "internal/hostmem", "internal/spill"},
	"partition/ondevice":  {"gpumem", "internal/cuda", "internal/kernels"},
	"partition/reference": {"partition/ondevice", "internal/cuda", "internal/kernels", "internal/kernels/kerneltest"},

	"streams":  {"internal/cuda", "internal/hostmem", "internal/kernels"},
	"feedback": {}, // arithmetic only
	"merge":    {}, // arithmetic only

	"internal/budget/budgettest": {"internal/budget"},

	"internal/budget":    {},
	"internal/column":    {"internal/hostmem"},
	"internal/arena":     {"internal/hostmem"},
	"internal/hostmem":   {},
	"internal/key":       {"internal/column", "internal/arena", "internal/hostmem"}, // tables of texts
	"internal/agg":       {"ega/combine", "internal/column", "internal/arena", "internal/sortkey", "internal/spelling"},
	"internal/expr":      {"internal/column", "internal/sortkey", "internal/spelling"},
	"internal/spill":     {"internal/hostmem"},
	"internal/extsort":   {"internal/column", "internal/hostmem", "internal/sortkey", "internal/spill"},
	"internal/filepool":  {},
	"internal/parquetio": {"internal/column", "internal/filepool", "internal/hostmem", "internal/spelling"},
	"internal/sortkey":   {"internal/column"},
	"internal/spelling":  {},
	"internal/sink":      {"internal/column"},
	"internal/cpu": {
		"partition", "feedback", "merge", "internal/agg", "internal/arena", "internal/column", "internal/encoded", "internal/hostmem",
		"internal/key", "internal/spill",
	},

	"internal/exec": {
		"ega", "feedback", "merge", "streams", "internal/agg", "internal/arena", "internal/budget", "internal/column", "internal/cpu",
		"internal/device", "internal/expr", "internal/extsort", "internal/gpu", "internal/hostmem", "internal/input", "internal/key",
		"internal/parquetio", "internal/plan", "internal/query", "internal/remote", "internal/spill", "internal/state", "internal/trace",
	},
	"internal/state": {"internal/column", "internal/query"}, // what tables of states say of themselves
	"internal/plan": {
		"ega", "ega/firstpass", "feedback", "partition", "internal/agg", "internal/arena", "internal/budget", "internal/column", "internal/cpu",
		"internal/decode", "internal/device", "internal/expr", "internal/gpu", "internal/input", "internal/kernels", "internal/key",
		"internal/parquetio", "internal/query",
	},
	"internal/query": {"internal/agg", "internal/column", "internal/expr", "internal/parquetio", "internal/spelling"}, // whose errors tell of columns

	"internal/device":      {"internal/cuda"},
	"internal/input":       {"internal/arrowio", "internal/column", "internal/cpu", "internal/delta", "internal/filepool", "internal/iceberg", "internal/lake", "internal/parquetio", "internal/query", "internal/remote", "internal/spill", "internal/state"},
	"internal/delta":       {"internal/column", "internal/lake", "internal/parquetio"},
	"internal/iceberg":     {"internal/column", "internal/filepool", "internal/lake", "internal/parquetio", "internal/sortkey"},
	"internal/lake":        {"internal/column", "internal/parquetio"},
	"internal/remote":      {},
	"internal/credentials": {"internal/remote"}, // whose requests are signed
	"internal/arrowio":     {},

	"internal/trace":           {"streams", "internal/cpu", "internal/encoded", "internal/parquetio"},
	"internal/trace/tracetest": {},

	"internal/encoded": {},
	"internal/decode":  {"internal/arena", "internal/column", "internal/cuda", "internal/encoded", "internal/expr", "internal/kernels", "internal/parquetio"},
	"internal/gpu": {
		"ega", "ega/combine", "ega/evict", "ega/firstpass", "ega/groups", "ega/secondpass", "feedback", "merge", "streams", "internal/cpu", "internal/cuda", "internal/decode", "internal/hostmem", "internal/key",
		"internal/agg", "internal/arena", "internal/encoded",
	},

	"gpumem":           {"internal/cuda", "internal/kernels"},
	"gpumem/reference": {"gpumem", "internal/cuda", "internal/kernels", "internal/kernels/kerneltest"},
	"internal/kernels": {"internal/cuda", "internal/kernels/image"},
	"internal/cuda":    {"internal/hostmem"},

	"internal/kernels/gen":        {"internal/cuda/emu", "internal/kernels/image"}, // not internal/kernels, which does not compile while its files are stale
	"internal/kernels/image":      {},
	"internal/dist":               {},
	"internal/kernels/kerneltest": {"internal/cuda", "internal/kernels"},
	"internal/cuda/emu":           {},
	"internal/gputest":            {"internal/bounded", "internal/cuda", "internal/cuda/emu"},
	"internal/bounded":            {},
	"internal/docpart":            {},

	"internal/oracle":          {"internal/column"},
	"internal/corpus":          {},
	"internal/datagen":         {"internal/column"},
	"internal/invariant":       {},
	"internal/teardown":        {"internal/cuda"},
	"internal/spill/spilltest": {"internal/spill"},
	"internal/lint":            {},

	"bench/table":  {"internal/sink"},
	"bench/h2o":    {"bench/table", "internal/datagen"},
	"bench/orders": {"internal/datagen"},
	"bench/shapes": {"bench/table", "internal/datagen"},
	"bench/hits":   {"bench/table", "internal/datagen"},
	"bench/plot":   {},

	"bench/timeline": {}, // draws a trace
	"bench/lineitem": {"bench/table", "internal/datagen"},
	"bench/trips":    {"bench/table", "internal/datagen"},
	"bench/peers":    {"bench/plot"}, // measures commands
	"bench/corpus":   {"internal/column", "internal/corpus", "internal/datagen"},
	"bench/fuzz":     {"internal/column", "internal/datagen", "internal/oracle"},

	"bench/peers/library": {"."},

	"bench/device": {"internal/cuda"},
	"bench/pages": {
		"bench/device", "bench/plot", "gpumem", "gpumem/reference", "internal/cuda", "internal/kernels", "internal/kernels/kerneltest",
	},
	"bench/streams": {"bench/device", "streams", "internal/cuda", "internal/kernels", "internal/kernels/kerneltest"},
	"bench/scatter": {
		"bench/device", "gpumem", "internal/cuda", "internal/kernels", "internal/kernels/kerneltest", "partition/ondevice",
		"partition/reference",
	},
	"bench/buckets": {
		"bench/device", "ega", "ega/combine", "ega/reference", "ega/secondpass", "internal/agg", "internal/arena", "internal/column", "internal/cpu", "internal/cuda", "internal/key",
		"merge", "partition",
	},
	"bench/ega": {"bench/device", "bench/plot", "ega", "ega/reference", "internal/cuda", "internal/kernels", "internal/kernels/kerneltest"},
	"bench/outofcore": {
		"bench/device", "ega", "ega/combine", "ega/evict", "ega/firstpass", "ega/groups", "ega/reference", "ega/secondpass", "internal/cuda", "partition",
	},
	"bench/link": {"bench/device", "internal/cuda", "internal/kernels/kerneltest"},
}

// free is what any package may import: checks, and what memory is drawn from.
var free = []string{"internal/invariant", "internal/budget"}

// testOnly is packages that only tests and bench/ use.
var testOnly = []string{
	"ega/egatest", "ega/reference", "gpumem/reference", "partition/reference", "internal/bounded", "internal/docpart", "internal/oracle", "internal/corpus", "internal/datagen", "internal/gputest", "internal/cuda/emu", "internal/kernels/kerneltest", "internal/kernels/gen", "internal/dist", "internal/spill/spilltest",
	"internal/budget/budgettest", "internal/trace/tracetest",
}

func TestImportTable(t *testing.T) {
	missing := maps.Clone(allowed)
	for _, p := range module(t) {
		may, listed := allowed[p.dir()]
		delete(missing, p.dir())
		if !listed {
			t.Errorf("%s is not in the import table of internal/lint", p.dir())
			continue
		}
		for _, imp := range p.Imports {
			dir, ours := inModule(imp)
			if ours && !slices.Contains(free, dir) && !slices.Contains(may, dir) {
				t.Errorf("%s imports %s, which the import table does not allow", p.dir(), dir)
			}
		}
	}
	for dir := range missing {
		t.Errorf("the import table of internal/lint has a line for %s, which does not exist", dir)
	}
}

// The root package is what a caller of the library sees: what a query needs is below it, in as
// few packages.
func TestRootIsSmall(t *testing.T) {
	const most = 5
	if n := len(allowed["."]); n > most {
		t.Errorf("the import table lets the root package import %d packages, want %d at most", n, most)
	}
}

func TestTestOnlyPackages(t *testing.T) {
	for dir, may := range allowed {
		if strings.HasPrefix(dir, "bench/") || slices.Contains(testOnly, dir) {
			continue
		}
		for _, imp := range may {
			if slices.Contains(testOnly, imp) {
				t.Errorf("the import table lets %s import %s, which is for tests and bench/", dir, imp)
			}
		}
	}
}

// The packages that meet Parquet files. Whoever else needs something of a
// file asks internal/parquetio, behind whose fence a library may panic.
var parquetImporters = []string{"internal/parquetio", "internal/sink", "internal/datagen"}

func TestParquetLibraryStaysBehindItsFence(t *testing.T) {
	for _, p := range module(t) {
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "github.com/parquet-go/parquet-go") && !slices.Contains(parquetImporters, p.dir()) {
				t.Errorf("%s imports %s; only %v may", p.dir(), imp, parquetImporters)
			}
		}
	}
}

// The package that meets files of Avro, whose library may panic too.
func TestAvroLibraryStaysBehindItsFence(t *testing.T) {
	for _, p := range module(t) {
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "github.com/twmb/avro") && p.dir() != "internal/iceberg" {
				t.Errorf("%s imports %s; only internal/iceberg may", p.dir(), imp)
			}
		}
	}
}

// The packages that meet the driver's library.
var driverImporters = []string{"internal/cuda", "internal/cuda/emu"}

func TestDriverStaysBehindItsFence(t *testing.T) {
	for _, p := range module(t) {
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "github.com/ebitengine/purego") && !slices.Contains(driverImporters, p.dir()) {
				t.Errorf("%s imports %s; only %v may", p.dir(), imp, driverImporters)
			}
		}
	}
}

const arrow = "github.com/apache/arrow/go/v15/arrow"

// The packages of Arrow that link beside a newer Arrow in one program: its
// Parquet and Flight packages do not.
var arrowPackages = []string{"", "/array", "/ipc", "/memory", "/decimal128", "/decimal256", "/bitutil", "/float16"}

func TestArrowImports(t *testing.T) {
	for _, p := range module(t) {
		for _, imp := range p.everyImport() {
			rest, isArrow := strings.CutPrefix(imp, arrow)
			if strings.HasPrefix(imp, "github.com/apache/arrow") && (!isArrow || !slices.Contains(arrowPackages, rest)) {
				t.Errorf("%s imports %s, which does not link beside newer Arrow modules", p.dir(), imp)
			}
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, p := range module(t) {
		switch p.Name {
		case "util", "utils", "common", "types", "helpers", "helper", "misc":
			t.Errorf("%s: a package is named after the concept it owns, not %q", p.dir(), p.Name)
		}
	}
}
