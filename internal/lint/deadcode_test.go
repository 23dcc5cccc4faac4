package lint

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// withoutCaller is the functions that the command does not reach, by the reason why they stay.
// Other code that no query uses lives in a package named reference, or in kerneltest, and nothing
// that is shipped imports it.
var withoutCaller = map[string][]string{
	"the library's, for its callers: the command makes queries from text, and one set of devices a process": {
		"gagg.OpenGPUs", "gagg.CountAll", "gagg.Count", "gagg.Sum", "gagg.Mean", "gagg.Min", "gagg.Max",
		"gagg.VarSamp", "gagg.Stddev", "gagg.Corr", "gagg.First", "gagg.Last", "gagg.AnyValue", "gagg.ArgMin", "gagg.ArgMax",
		"gagg.CountDistinct", "gagg.Median", "gagg.Quantile", "gagg.Mode", "gagg.List", "gagg.StringAgg", "gagg.call",
	},
	"results of programs that call the library: the command has outputs of its own": {
		"gagg.Write", "gagg.WriteFile", "gagg.write",
	},
	"sources of programs that call the library: the command reads files and pipes": {
		"gagg.Parquet", "gagg.Readers", "gagg/internal/input.Readers", "gagg/internal/input.readerSource.Open",
		"gagg.Records", "gagg/internal/input.Records",
		"gagg.RecordSeq", "gagg/internal/input.recordsOf",
		"gagg.RecordChan", "gagg/internal/input.RecordChan", "gagg/internal/input.fromChannel",
		"gagg.FS", "gagg/internal/input.FS", "gagg/internal/input.fsSource.Open", "gagg/internal/input.fsSource.open",
		"gagg/internal/input.pooledInput.Close", "gagg/internal/input.until", "gagg/internal/input.watch",
		"gagg/internal/input.watched.ReadAt", "gagg/internal/input.watched.failure", "gagg/internal/input.watched.Stat",
		"gagg/internal/parquetio.ListFS", "gagg/internal/parquetio.findFS", "gagg/internal/parquetio.belowFS",
		"gagg/internal/parquetio.globFS", "gagg/internal/parquetio.tooDeep", "gagg/internal/parquetio.skipped",
	},
	"the generator's of kernels: a format is written where it is read": {
		"gagg/internal/kernels/image.Pack",
	},
	"asked by tests of other packages, what they see being the package's own": {
		"gagg/internal/cuda.LockedThreads", "gagg/internal/hostmem.Live",
		"gagg/internal/spill.System", // spilltest has faults happen in front of it
	},
}

// TestEachFunctionHasACaller takes ten seconds of a processor, and so runs by itself: make
// deadcode. Kernels are among the functions, by their launch methods; Load… of generated code is
// what tests load kernels with.
func TestEachFunctionHasACaller(t *testing.T) {
	if os.Getenv("GAGG_DEADCODE") == "" {
		t.Skip("make deadcode runs it")
	}
	const each = `{{range .Funcs}}{{println $.Path .Name .Generated}}{{end}}`
	c := bounded.Command(t, "go", "tool", "-modfile=go.tools.mod", "deadcode", "-generated", "-f", each, "./cmd/gagg")
	c.Dir = "../.."
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("deadcode: %v", err)
	}
	var known []string
	for _, names := range withoutCaller {
		known = append(known, names...)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] == "true" && strings.HasPrefix(fields[1], "Load") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "github.com/gagg-dev/") + "." + fields[1]
		if i := slices.Index(known, name); i >= 0 {
			known = slices.Delete(known, i, i+1)
		} else {
			t.Errorf("no query reaches %s: it needs a caller, a place in a package of references, or a reason in withoutCaller", name)
		}
	}
	for _, name := range known {
		t.Errorf("withoutCaller lists %s, which is reached, or gone", name)
	}
}
