package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gagg-dev/gagg/internal/oracle"
)

// DuckDB comes as static archives in a Go module, so that a machine without npm has it too. The
// module is fetched by its name and version and compared with its checksum; it stands in no go.mod.
const (
	duckModule = "github.com/duckdb/duckdb-go-bindings/lib/linux-amd64"
	duckTag    = "v0.10506.0" // DuckDB 1.5.6, that of bench/peers/package.json
	duckSum    = "h1:yy2TUU+YWxiBiOQryYseUl0AcUzoFFYRmmrCGijUxiU="
)

// buildDuck links duck.cc with DuckDB into folder, unless that is done, and returns the program.
// The link takes about two seconds and 60 MB.
func buildDuck(ctx context.Context, folder string) (string, error) {
	program := filepath.Join(folder, "duck-"+duckTag)
	source := filepath.Join("bench", "fuzz", "duckdb", "duck.cc")
	from, err := os.Stat(source)
	if err != nil {
		return "", fmt.Errorf("run this in the repository's root: %w", err)
	}
	if made, err := os.Stat(program); err == nil && made.ModTime().After(from.ModTime()) {
		return program, nil
	}
	archives, err := fetchDuck(ctx)
	if err != nil {
		return "", err
	}
	list, err := filepath.Glob(filepath.Join(archives, "*.a"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o777); err != nil {
		return "", err
	}
	args := append([]string{"-O1", "-Wall", "-I" + archives, "-o", program + ".new", source, "-Wl,--start-group"}, list...)
	args = append(args, "-Wl,--end-group", "-lpthread", "-ldl", "-lm")
	if out, err := exec.CommandContext(ctx, "g++", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("linking DuckDB: %w\n%s", err, out)
	}
	return program, os.Rename(program+".new", program)
}

// fetchDuck is the folder of the module in Go's module cache.
func fetchDuck(ctx context.Context) (string, error) {
	get := exec.CommandContext(ctx, "go", "mod", "download", "-json", duckModule+"@"+duckTag)
	get.Dir = os.TempDir() // outside of any module: nothing is written to a go.mod
	out, err := get.Output()
	var module struct{ Dir, Sum, Error string }
	if broken := json.Unmarshal(out, &module); broken != nil || module.Error != "" {
		return "", fmt.Errorf("fetching %s: %w %s", duckModule, errors.Join(err, broken), module.Error)
	}
	if module.Sum != duckSum {
		return "", fmt.Errorf("%s@%s has the checksum %s, not %s", duckModule, duckTag, module.Sum, duckSum)
	}
	return module.Dir, nil
}

// duck is a DuckDB process, which answers one statement after another.
type duck struct {
	program string
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func startDuck(ctx context.Context, program string) (*duck, error) {
	d := &duck{program: program, process: exec.CommandContext(ctx, program)}
	d.process.Stderr = os.Stderr
	var err error
	if d.in, err = d.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewReader(out)
	return d, d.process.Start()
}

// refusal is what DuckDB says of a statement that failed.
type refusal struct{ text string }

func (r refusal) Error() string { return "DuckDB: " + r.text }

// rows runs a statement whose columns are all texts.
func (d *duck) rows(sql string) ([][]oracle.Field, error) {
	request := binary.LittleEndian.AppendUint32(nil, uint32(len(sql)))
	if _, err := d.in.Write(append(request, sql...)); err != nil {
		return nil, fmt.Errorf("asking DuckDB: %w", err)
	}
	columns, err := d.number()
	if err != nil {
		return nil, fmt.Errorf("DuckDB gave up at %s: %w", sql, err)
	}
	if columns < 0 {
		text, err := d.field()
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(text.Text, "\n")
		return nil, refusal{first}
	}
	n, err := d.number()
	if err != nil {
		return nil, err
	}
	out := make([][]oracle.Field, n)
	for i := range out {
		out[i] = make([]oracle.Field, columns)
		for c := range out[i] {
			if out[i][c], err = d.field(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (d *duck) number() (int32, error) {
	var b [4]byte
	_, err := io.ReadFull(d.out, b[:])
	return int32(binary.LittleEndian.Uint32(b[:])), err
}

func (d *duck) field() (oracle.Field, error) {
	n, err := d.number()
	if err != nil || n < 0 {
		return oracle.Field{Null: true}, err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(d.out, text)
	return oracle.Field{Text: string(text)}, err
}

// answer is a result: the names and types of its columns as DuckDB writes them, and its rows.
type answer struct {
	names, types []string
	rows         [][]oracle.Field
}

// query runs a select and has its columns cast to text.
func (d *duck) query(sql string) (answer, error) {
	var a answer
	columns, err := d.rows("select column_name, column_type from (describe " + sql + ")")
	if err != nil {
		return a, err
	}
	var list []string
	for _, c := range columns {
		a.names, a.types = append(a.names, c[0].Text), append(a.types, c[1].Text)
		form := "%s::varchar"
		if c[1].Text == "DOUBLE" { // whose text is wrong for some: 2^91 has that of 2^92
			form = "case when isfinite(%[1]s) then printf('%%.17g', %[1]s) else %[1]s::varchar end"
		}
		list = append(list, fmt.Sprintf(form, fmt.Sprintf("c%d", len(list))))
	}
	var names []string
	for i := range list {
		names = append(names, fmt.Sprintf("c%d", i))
	}
	a.rows, err = d.rows(fmt.Sprintf("select %s from (%s) r(%s)", strings.Join(list, ", "), sql, strings.Join(names, ", ")))
	return a, err
}

func (d *duck) close() error {
	return errors.Join(d.in.Close(), d.process.Wait())
}
