// Package device is what the benches of the device layer have in common: the
// device opened, times taken in rounds, and reports with the facts that are
// needed to measure the same again.
//
// Times are compared, not trusted: within a round every case runs once, so that
// whatever else the machine does falls on all alike, and the figure is the
// median of the rounds.
package device

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Rig is an open device, locked to the goroutine that opened it.
type Rig struct {
	Thread  *cuda.Thread
	Setting Setting

	// How long the driver took to be loaded and initialised, and to make the context.
	Init, Context time.Duration

	context *cuda.Context
}

// Open opens device 0.
func Open() (*Rig, error) {
	start := time.Now()
	driver, err := cuda.Open()
	if err != nil {
		return nil, err
	}
	r := &Rig{Init: time.Since(start)}
	start = time.Now()
	if r.context, err = driver.Context(0); err != nil {
		return nil, err
	}
	r.Context = time.Since(start)
	if r.Thread, err = r.context.Lock(); err != nil {
		return nil, errors.Join(err, r.context.Close())
	}
	if r.Setting, err = settingOf(driver); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close unlocks the thread and lets the device go. It fails if the bench left
// something open.
func (r *Rig) Close() error {
	r.Thread.Unlock()
	return r.context.Close()
}

// Main is the main function of a bench: it ends the process with status 1 if
// the bench fails.
func Main(bench func() error) {
	if err := bench(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0][strings.LastIndexByte(os.Args[0], '/')+1:], err)
		os.Exit(1)
	}
}
