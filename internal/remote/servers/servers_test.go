package servers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
)

// columns of 8 bytes a row, in the files of wide.
const columns = 8

// wide is a file of random columns c0 to c7 in one row group, uncompressed.
func wide(t *testing.T, rows int, seed uint64) []byte {
	t.Helper()
	root := parquet.Group{}
	for c := range columns {
		root[fmt.Sprintf("c%d", c)] = parquet.Leaf(parquet.Int64Type)
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("wide", root), parquet.Compression(&parquet.Uncompressed))
	rng := rand.New(rand.NewPCG(seed, 2))
	batch := make([]parquet.Row, 1000)
	for at := 0; at < rows; at += len(batch) {
		for i := range batch {
			batch[i] = make(parquet.Row, columns)
			for c := range columns {
				batch[i][c] = parquet.Int64Value(int64(rng.Uint64N(1<<40))).Level(0, 0, c)
			}
		}
		if _, err := w.WriteRows(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// changed is a file with another value in it: only its version tells.
func changed(file []byte) []byte {
	file = slices.Clone(file)
	file[len(file)/2] ^= 1
	return file
}

// hooked sends requests on, each after a call with its number.
type hooked struct {
	http.RoundTripper
	n      atomic.Int64
	before func(n int64, r *http.Request)
}

func (h *hooked) RoundTrip(r *http.Request) (*http.Response, error) {
	if n := h.n.Add(1) - 1; h.before != nil {
		h.before(n, r)
	}
	return h.RoundTripper.RoundTrip(r)
}

// ask runs a query on a path, or on a file in memory if path is empty.
func ask(t *testing.T, path string, file []byte, aggs, where string, o gagg.Options) (string, gagg.Stats, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	q := gagg.Query{From: gagg.Files(path), Aggs: []gagg.Agg{gagg.Expr(aggs)}, Where: where}
	if path == "" {
		q.From = gagg.Parquet("x", bytes.NewReader(file), int64(len(file)))
	}
	o.Device, o.TempDir = "cpu", t.TempDir()
	rows, err := gagg.Run(ctx, q, o)
	if err != nil {
		return "", gagg.Stats{}, err
	}
	defer rows.Release()
	var values []string
	for rows.Next() {
		for _, c := range rows.Record().Columns() {
			values = append(values, c.ValueStr(0))
		}
	}
	return strings.Join(values, " "), rows.Stats(), rows.Err()
}

// all is an aggregate of every column, so that all of a file is wanted.
const all = "count(*), sum(c0), sum(c1), max(c2), sum(c3), sum(c4), min(c5), sum(c6), sum(c7)"

// resets forwards connections to a server, and resets those that cut tells of, by their number,
// once so many bytes of answers have passed; 0: none is reset.
type resets struct {
	net.Listener
	network, to string
	cut         func(n int) int64
	done        sync.WaitGroup
}

func newResets(t *testing.T, network, to string, cut func(n int) int64) (at string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &resets{Listener: l, network: network, to: to, cut: cut}
	r.done.Go(r.serve)
	t.Cleanup(func() {
		_ = l.Close()
		r.done.Wait()
	})
	return l.Addr().String()
}

func (r *resets) serve() {
	for n := 0; ; n++ {
		from, err := r.Accept()
		if err != nil {
			return
		}
		r.done.Go(func() { r.forward(from.(*net.TCPConn), r.cut(n)) })
	}
}

func (r *resets) forward(from *net.TCPConn, most int64) {
	to, err := net.Dial(r.network, r.to)
	if err != nil {
		_ = from.Close()
		return
	}
	r.done.Go(func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	})
	if most == 0 {
		_, _ = io.Copy(from, to)
	} else if n, _ := io.CopyN(from, to, most); n == most {
		_ = from.SetLinger(0) // closing sends a reset
	}
	_ = from.Close()
	_ = to.Close()
}
