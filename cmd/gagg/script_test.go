package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"
)

// TestScripts runs the stories in testdata/script. Beside the commands of
// testscript they have
//
//	status N COMMAND…      runs COMMAND, which must end with exit status N
//	parquet OUT TABLE      writes the table in the file TABLE as Parquet
//	h2o OUT ROWS           writes the table of db-benchmark with so many rows
//	decompress FROM TO     writes what a gzip or zstd stream holds
//	indexed FILE           runs the command of an Indexed Job of Kubernetes, once for each index
//	only DIR NAME…         wants DIR to hold these names (hidden ones too) and no other
//
// and the conditions root and lacks:NAME, which is that there is no such program: for skip. With
// GAGG_REQUIRE_TOOLS=1 that is an error, since a test that skips looks as if it passed. There are
// $ORDERS, the Parquet file of the README, and $SERVER, which has it too.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs of whole processes")
	}
	orders, err := filepath.Abs("../../testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	recipes, err := filepath.Abs("../../docs/recipes")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("ORDERS", orders)
			e.Setenv("RECIPES", recipes)
			server := httptest.NewServer(ordersServer(orders))
			e.Defer(server.Close)
			e.Setenv("SERVER", server.URL)
			e.Setenv("ESCAPE", "no\x1b[31mfile\x1b]") // a name that would colour the terminal
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":  scriptStatus,
			"parquet": scriptParquet,
			"h2o":     scriptH2O,
			"only":    scriptOnly,
			"indexed": scriptIndexed,

			"decompress": scriptDecompress,
		},
		Condition: func(name string) (bool, error) {
			if tool, lacks := strings.CutPrefix(name, "lacks:"); lacks {
				return lacksTool(tool)
			}
			if name != "root" {
				return false, fmt.Errorf("no condition %s", name)
			}
			return os.Geteuid() == 0, nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// lacksTool reports whether there is no such program, an error if there has to be one.
func lacksTool(name string) (bool, error) {
	_, err := exec.LookPath(name)
	if err != nil && os.Getenv("GAGG_REQUIRE_TOOLS") == "1" {
		return false, fmt.Errorf("GAGG_REQUIRE_TOOLS=1, and there is no %s: %w", name, err)
	}
	return err != nil, nil
}

// TestScriptsUseAll wants the stories to use every flag, and to end with every exit status but
// those of signals.
func TestScriptsUseAll(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") {
				all.WriteString(line)
			}
		}
	}
	flagSet(&settings{}).VisitAll(func(flag *pflag.Flag) {
		used := `gagg .*--` + flag.Name + `[ =\n]`
		if flag.Shorthand != "" {
			used += `|gagg (.* )?-[a-z]*` + flag.Shorthand
		}
		if !regexp.MustCompile(used).MatchString(all.String()) {
			t.Errorf("no story uses --%s", flag.Name)
		}
	})
	for _, status := range []int{statusFailed, statusUsage, statusInput, statusOverflow, statusBudget, statusDevice} {
		if !strings.Contains(all.String(), fmt.Sprintf("\nstatus %d gagg", status)) {
			t.Errorf("no story ends with status %d", status)
		}
	}
}

// ordersServer has the file at any path with its name, and sends it as a whole below /whole/.
func ordersServer(file string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) != filepath.Base(file) {
			http.NotFound(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/whole/") {
			r.Header.Del("Range")
		}
		http.ServeFile(w, r, file)
	})
}

func scriptStatus(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
	// Every failure is one line, beginning "gagg: "; no stack, ever.
	stderr := ts.ReadFile("stderr")
	if got == 0 || args[1] != "gagg" {
		return
	}
	if got == statusPipeClosed && stderr == "" {
		return
	}
	if !strings.HasPrefix(stderr, "gagg: ") || strings.Count(stderr, "\n") != 1 {
		ts.Fatalf("stderr is not one line beginning with \"gagg: \"")
	}
}

func scriptIndexed(ts *testscript.TestScript, _ bool, args []string) {
	var job struct {
		APIVersion, Kind string
		Spec             struct {
			CompletionMode string
			Completions    int
			Template       struct {
				Spec struct{ Containers []struct{ Command []string } }
			}
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &job))
	s := &job.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || s.CompletionMode != "Indexed" || s.Completions < 2 || len(s.Template.Spec.Containers) != 1 {
		ts.Fatalf("%s is no Indexed Job: %+v", args[0], job)
	}
	command := s.Template.Spec.Containers[0].Command
	for i := range s.Completions {
		ts.Setenv("JOB_COMPLETION_INDEX", strconv.Itoa(i))
		ts.Check(ts.Exec(command[0], command[1:]...))
	}
}

// scriptParquet writes a table such as
//
//	k string | v int64
//	a        | 1
//	NULL     | 2
//	"a\nb"   | 3
//
// as Parquet. All columns are optional, and ordered by name: that is how
// parquet-go orders them.
func scriptParquet(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[1])), "\n")
	root := parquet.Group{}
	var names, types []string
	for _, head := range cells(lines[0]) {
		i := strings.LastIndex(head, " ")
		name, kind := unquoted(head[:i]), head[i+1:]
		names, types = append(names, name), append(types, kind)
		root[name] = parquet.Optional(nodeOf(ts, kind))
	}
	out, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	schema := parquet.NewSchema("table", root)
	w := parquet.NewWriter(out, schema)
	for _, line := range lines[1:] {
		row := make(parquet.Row, len(names))
		for i, text := range cells(line) {
			leaf, _ := schema.Lookup(names[i])
			row[leaf.ColumnIndex] = valueOf(ts, types[i], text, leaf.ColumnIndex)
		}
		_, err := w.WriteRows([]parquet.Row{row})
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(out.Close())
}

func scriptH2O(ts *testscript.TestScript, _ bool, args []string) {
	rows, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(writeH2O(ts.MkAbs(args[0]), rows))
}

func cells(line string) []string {
	all := strings.Split(line, "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

func nodeOf(ts *testscript.TestScript, kind string) parquet.Node {
	nodes := map[string]parquet.Node{
		"string": parquet.String(),
		"binary": parquet.Leaf(parquet.ByteArrayType),
		"int32":  parquet.Int(32),
		"int64":  parquet.Int(64),
		"uint64": parquet.Uint(64),
		"date":   parquet.Date(),
		"micros": parquet.Timestamp(parquet.Microsecond),
		"nanos":  parquet.Timestamp(parquet.Nanosecond),
		"double": parquet.Leaf(parquet.DoubleType),
		"bool":   parquet.Leaf(parquet.BooleanType),
		"list":   parquet.List(parquet.Int(64)),
	}
	node, ok := nodes[kind]
	if !ok {
		ts.Fatalf("no type %s", kind)
	}
	return node
}

func valueOf(ts *testscript.TestScript, kind, text string, column int) parquet.Value {
	if text == "NULL" {
		return parquet.NullValue().Level(0, 0, column)
	}
	text = unquoted(text)
	var v parquet.Value
	var err error
	switch kind {
	case "int32", "date": // days since 1970
		var n int64
		n, err = strconv.ParseInt(text, 10, 32)
		v = parquet.Int32Value(int32(n))
	case "int64", "micros", "nanos": // since 1970
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		v = parquet.Int64Value(n)
	case "uint64":
		var n uint64
		n, err = strconv.ParseUint(text, 10, 64)
		v = parquet.Int64Value(int64(n))
	case "double":
		var x float64
		x, err = strconv.ParseFloat(text, 64)
		v = parquet.DoubleValue(x)
	case "bool":
		v = parquet.BooleanValue(text == "true")
	default:
		v = parquet.ByteArrayValue([]byte(text))
	}
	ts.Check(err)
	return v.Level(0, 1, column)
}

func scriptOnly(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	want := map[string]bool{}
	for _, name := range args[1:] {
		want[name] = true
	}
	for _, e := range entries {
		if !want[e.Name()] {
			ts.Fatalf("%s holds %s", args[0], e.Name())
		}
		delete(want, e.Name())
	}
	for name := range want {
		ts.Fatalf("%s: %v", filepath.Join(args[0], name), fs.ErrNotExist)
	}
}

// scriptDecompress is decompress FROM TO: a gzip or zstd stream as what it holds.
func scriptDecompress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: decompress FROM TO")
	}
	in, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer in.Close()
	var from io.Reader
	if strings.HasSuffix(args[0], ".zst") {
		from, err = zstd.NewReader(in)
	} else {
		from, err = gzip.NewReader(in)
	}
	ts.Check(err)
	text, err := io.ReadAll(from)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o600))
}
