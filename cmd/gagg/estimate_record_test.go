package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// recordTo is where the recording of a run goes that testdata/estimate may keep.
var recordTo = flag.String("record", "", "record the counters of the run that the arguments ask for in this file")

// TestRecordEstimate runs gagg with the arguments of the test binary and records once a second what
// the estimator sees. For example
//
//	go test ./cmd/gagg -run TestRecordEstimate -record FILE -args -k x -a 'count(*)' -o OUT IN
//
// The first line of FILE is the command, the second one what the estimator knows beforehand, the
// last one how long the run took.
func TestRecordEstimate(t *testing.T) {
	if *recordTo == "" {
		t.Skip("-record is not given")
	}
	args := append([]string{"--progress=always"}, flag.Args()...)
	c := newCommand(os.Environ(), strings.NewReader(""), io.Discard, os.Stderr)
	s, flags, err := parseSettings(args, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	c.settings = *s
	ended := make(chan error, 1)
	go func() { ended <- c.do(context.Background(), flags) }()
	var to bytes.Buffer
	fmt.Fprintf(&to, "gagg %s\n", strings.Join(shortPaths(flag.Args()), " "))
	var b *bar
	for second := time.NewTicker(time.Second); ; {
		select {
		case err = <-ended:
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&to, "total %.1f\n", time.Since(b.since).Seconds())
			if err := os.WriteFile(*recordTo, to.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		case <-second.C:
		}
		if b == nil {
			c.mu.Lock()
			b = c.bar
			c.mu.Unlock()
			if b == nil {
				continue
			}
			fmt.Fprintf(&to, "threads %g ordered %t most %d keep %d\n", b.after.threads, b.after.ordered, b.after.most, b.after.keep)
			fmt.Fprintln(&to, "seconds ran waited output bytes of groups spilled merged partitions put-out write")
		}
		b.mu.Lock()
		p, has, write := b.now, workedSoFar(), b.after.write
		b.mu.Unlock()
		fmt.Fprintf(&to, "%.1f %.1f %.1f %t %d %d %d %d %d %d %d %.3g\n", time.Since(b.since).Seconds(), has.ran.Seconds(), has.waited.Seconds(),
			p.Phase == "output", p.BytesDone, p.BytesTotal, p.GroupsTotal, p.BytesSpilled, p.PartitionsMerged, p.Partitions, p.Groups, write)
	}
}

// shortPaths is args without the folders of files.
func shortPaths(args []string) []string {
	short := make([]string, len(args))
	for i, a := range args {
		if filepath.IsAbs(a) {
			a = filepath.Base(a)
		}
		if strings.ContainsAny(a, " '") {
			a = strconv.Quote(a)
		}
		short[i] = a
	}
	return short
}
