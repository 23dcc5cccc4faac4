package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// asCommand is an environment that makes the test binary be gagg: tests that
// look at a process (its signals, pipes and peak memory) start themselves with
// it. Of the test's own it has what the race detector is told, and which device there is.
var asCommand = []string{"GAGG_TEST_AS_COMMAND=1", "GORACE=" + os.Getenv("GORACE"), "GAGG_CUDA_LIBRARY=" + os.Getenv("GAGG_CUDA_LIBRARY")}

func TestMain(m *testing.M) {
	if os.Getenv("GAGG_TEST_AS_COMMAND") == "1" {
		main()
	}
	testscript.Main(m, map[string]func(){"gagg": main})
}
