package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// F67: a device that was asked for and fails ends the command with 6, one line that names it, and
// no file.
func TestDeviceFails(t *testing.T) {
	gputest.Need(t, 1)
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	for _, call := range []string{"cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2"} {
		e.Fault(call, 1, 719, false)
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), []string{"--device", "gpu", "-k", "price", "-o", out, "../../testdata/orders.parquet"}, nil, nil, &stdout, &stderr)
		checkStatus(t, status, statusDevice)
		checkOneLine(t, stderr.String())
		if !strings.Contains(stderr.String(), "device 0: ") {
			t.Errorf("%s fails: %q", call, stderr.String())
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s fails: there is an output file", call)
		}
		e.Reset()
	}
}
