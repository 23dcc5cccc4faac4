package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/oracle"
)

type field = oracle.Field

// writers makes Parquet files by several writers. All begin with one by internal/datagen, which
// the others read and write anew.
type writers struct {
	names []string // datagen, duckdb, and what npm has
	duck  *duck
	node  *exec.Cmd // nil: no npm packages
	ask   *json.Encoder
	in    io.Closer
	reply *bufio.Reader

	Wrote   map[string]int // files, by writer
	Refused map[string]int // files that a writer could not write
}

// openWriters starts those of npm, unless their packages are not installed.
func openWriters(ctx context.Context, d *duck) (*writers, error) {
	w := &writers{names: []string{"datagen", "duckdb"}, duck: d, Wrote: map[string]int{}, Refused: map[string]int{}}
	if _, err := os.Stat("bench/peers/node_modules"); err != nil {
		return w, nil
	}
	w.node = exec.CommandContext(ctx, "node", "bench/fuzz/writers.mjs")
	w.node.Env = append(os.Environ(), "POLARS_MAX_THREADS=1")
	w.node.Stderr = os.Stderr
	in, err := w.node.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.node.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.in, w.ask, w.reply = in, json.NewEncoder(in), bufio.NewReader(out)
	if err := w.node.Start(); err != nil {
		w.node = nil // no node
		return w, nil
	}
	var have struct{ Writers []string }
	if err := w.request(map[string]any{}, &have); err != nil {
		return nil, fmt.Errorf("bench/fuzz/writers.mjs: %w", err)
	}
	w.names = append(w.names, have.Writers...)
	return w, nil
}

func (w *writers) request(r map[string]any, reply any) error {
	if err := w.ask.Encode(r); err != nil {
		return err
	}
	line, err := w.reply.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, reply)
}

func (w *writers) close() error {
	if w.node == nil {
		return nil
	}
	return errors.Join(w.in.Close(), w.node.Wait())
}

// table makes a random table in files of folder: a third of them in several files.
func (w *writers) table(rng *rand.Rand, folder string, rows int, device bool) (*table, error) {
	t := &table{}
	spec := datagen.Spec{Columns: randomColumns(rng, device)}
	parts := pick(rng, 1, 1, 1, 1, 2, 3)
	writer, struct_ := w.names[rng.IntN(len(w.names))], rng.IntN(3) == 0
	for i := range parts {
		spec.Rows, spec.Seed = rows/parts, rng.Uint64()
		if rng.IntN(20) == 0 {
			spec.Rows = 0
		}
		name, how, err := w.file(rng, filepath.Join(folder, fmt.Sprintf("part%d", i)), datagen.New(spec), writer, struct_)
		if err != nil {
			return nil, err
		}
		t.files, t.wrote = append(t.files, name), append(t.wrote, how)
	}
	return t, w.sameTypes(t)
}

// sameTypes leaves only the files whose columns have the types of the first one's. A writer may
// have refused some, and types are what it makes of them.
func (w *writers) sameTypes(t *table) error {
	var first [][]field
	for i := 0; i < len(t.files); i++ {
		types, err := w.duck.rows("select column_name, column_type from (describe select * from read_parquet(" + quote(t.files[i]) + "))")
		if err != nil {
			return err
		}
		if i == 0 {
			first = types
		} else if !slices.EqualFunc(first, types, slices.Equal[[]field]) {
			t.files, t.wrote = slices.Delete(t.files, i, i+1), slices.Delete(t.wrote, i, i+1)
			i--
		}
	}
	return t.learn(w.duck)
}

// file writes one file by a writer and says how. If that writer refuses it, it is datagen's.
func (w *writers) file(rng *rand.Rand, path string, rows *datagen.Table, writer string, struct_ bool) (name, how string, err error) {
	base := path + "-datagen.parquet"
	out, err := os.Create(base)
	if err != nil {
		return "", "", err
	}
	layout := randomLayout(rng, rows.Rows, rows.Columns)
	if err := errors.Join(rows.WriteParquet(out, layout), out.Close()); err != nil {
		return "", "", err
	}
	how = fmt.Sprintf("datagen %+v", layout)
	name = path + "-" + writer + ".parquet"
	switch writer {
	case "datagen":
		w.Wrote["datagen"]++
		return base, how, nil
	case "duckdb":
		how, err = w.duckWrite(rng, base, name, struct_)
	default:
		how, err = w.npmWrite(rng, writer, base, name)
	}
	if err != nil {
		w.Refused[fmt.Sprintf("%s: %.60s", writer, err)]++
		w.Wrote["datagen"]++
		return base, fmt.Sprintf("datagen %+v (%v)", layout, err), nil
	}
	w.Wrote[writer]++
	return name, how, os.Remove(base)
}

func (w *writers) duckWrite(rng *rand.Rand, from, to string, struct_ bool) (string, error) {
	options := []string{
		"format parquet", "compression " + pick(rng, "uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"),
		fmt.Sprintf("row_group_size %d", pick(rng, 2048, 4096, 122880)), "parquet_version " + pick(rng, "v1", "v2"),
	}
	if rng.IntN(3) == 0 {
		options = append(options, fmt.Sprintf("dictionary_size_limit %d", pick(rng, 1, 20, 1000)))
	}
	columns := "*"
	if struct_ {
		columns = "*, case when c1 is null then null else {'s': c1, 'n': 1::bigint} end as st"
	}
	how := "duckdb " + strings.Join(options, ", ")
	_, err := w.duck.rows(fmt.Sprintf("copy (select %s from read_parquet(%s)) to %s (%s)", columns, quote(from), quote(to), strings.Join(options, ", ")))
	return how, err
}

func (w *writers) npmWrite(rng *rand.Rand, writer, from, to string) (string, error) {
	r := map[string]any{
		"writer": writer, "from": from, "to": to, "rowGroup": pick(rng, 100, 1000, 100000), "page": pick(rng, 200, 4000, 1<<20),
		"codec": pick(rng, "none", "snappy", "gzip", "zstd", "brotli", "lz4"), "dictionary": rng.IntN(2) == 0,
		"statistics": rng.IntN(2) == 0, "v2": rng.IntN(2) == 0,
	}
	var reply struct{ Error string }
	if err := w.request(r, &reply); err != nil {
		return "", fmt.Errorf("%s: %w", writer, err)
	}
	if reply.Error != "" {
		return "", errors.New(reply.Error)
	}
	return fmt.Sprintf("%s rowGroup=%v page=%v codec=%v dictionary=%v statistics=%v v2=%v",
		writer, r["rowGroup"], r["page"], r["codec"], r["dictionary"], r["statistics"], r["v2"]), nil
}
