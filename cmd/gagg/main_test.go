package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// asCommand makes the test binary be gagg: tests that look at a process (its
// signals, pipes and peak memory) start themselves with it.
const asCommand = "GAGG_TEST_AS_COMMAND=1"

func TestMain(m *testing.M) {
	if os.Getenv("GAGG_TEST_AS_COMMAND") == "1" {
		main()
	}
	testscript.Main(m, map[string]func(){"gagg": main})
}
