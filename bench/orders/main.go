// Command orders writes the bundled example of the README:
//
//	go run ./bench/orders testdata/orders.parquet
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/gagg-dev/gagg/internal/datagen"
)

func main() {
	var out bytes.Buffer
	err := datagen.WriteOrders(&out)
	if err == nil && len(os.Args) != 2 {
		err = fmt.Errorf("want one argument: the file to write")
	}
	if err == nil {
		err = os.WriteFile(os.Args[1], out.Bytes(), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}
