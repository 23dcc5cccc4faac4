package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// asCommand is an environment that makes the test binary be gagg: tests that look at a process (its
// signals, pipes and peak memory) start themselves with it. From the test's own environment it has
// the options of the race detector, and the driver library.
var asCommand = []string{"GAGG_TEST_AS_COMMAND=1", "GORACE=" + os.Getenv("GORACE"), "GAGG_CUDA_LIBRARY=" + os.Getenv("GAGG_CUDA_LIBRARY")}

func TestMain(m *testing.M) {
	if os.Getenv("GAGG_TEST_AS_COMMAND") == "1" {
		if path := os.Getenv(peakFile); path != "" {
			runForPeak(path)
		}
		main()
	}
	heedSignals()
	testscript.Main(m, map[string]func(){"gagg": main})
}

// peakFile names the file to which a test binary that is gagg writes the peak of its resident
// size, however it ends.
const peakFile = "GAGG_TEST_PEAK"

// runForPeak is main, but tells the peak.
func runForPeak(path string) {
	processEnds = true
	status := run(withSignals(context.Background()), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	if err := os.WriteFile(path, strconv.AppendInt(nil, peakResident(systemFiles()), 10), 0o600); err != nil {
		panic(err)
	}
	os.Exit(status)
}

// heedSignals has the processes that tests start begin with the signals as a
// terminal leaves them. What this process ignores (nohup, a background job)
// they would begin to ignore as well; what it handles they do not. It takes
// no notice itself, as before.
func heedSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// gaggCommand is gagg as a process of its own.
func gaggCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := bounded.Command(t, os.Args[0], args...)
	c.Env = asCommand
	return c
}

// The driver makes as many hardware queues as the environment says, and two otherwise.
func TestFewQueues(t *testing.T) {
	const variable = "CUDA_DEVICE_MAX_CONNECTIONS"
	for given, want := range map[string]string{"8": "8", "": "", "none": "2"} {
		t.Setenv(variable, given)
		if given == "none" {
			os.Unsetenv(variable)
		}
		fewQueues()
		if got := os.Getenv(variable); got != want {
			t.Errorf("of %q: %q, want %q", given, got, want)
		}
	}
}
