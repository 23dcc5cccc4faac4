package parquetio

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Two files one behind the other are refused, by whatever writer they are; one alone is not.
func TestTwoFiles(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/corpus/valid/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	orders, err := os.ReadFile("../../testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range append(paths, "../../testdata/orders.parquet") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openFile(path, bytes.NewReader(b), int64(len(b)), Limits{}); errors.Is(err, errTwoFiles) {
			t.Errorf("%s: %v", path, err)
		} else if err != nil {
			continue // not supported
		}
		for _, first := range [][]byte{b, orders} {
			both := slices.Concat(first, b)
			if _, err := openFile(path, bytes.NewReader(both), int64(len(both)), Limits{}); !errors.Is(err, errTwoFiles) {
				t.Errorf("%s, behind %d bytes of another: %v", path, len(first), err)
			}
		}
		seen++
	}
	if seen < 10 {
		t.Errorf("only %d files", seen)
	}
}
