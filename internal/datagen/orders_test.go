package datagen_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/gagg-dev/gagg/internal/datagen"
)

// The bundled file is what its generator makes.
func TestOrders(t *testing.T) {
	var out bytes.Buffer
	if err := datagen.WriteOrders(&out); err != nil {
		t.Fatal(err)
	}
	bundled, err := os.ReadFile("../../testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), bundled) {
		t.Error("testdata/orders.parquet differs; run: go run ./bench/orders testdata/orders.parquet")
	}
}
