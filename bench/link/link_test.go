package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The peer prints the figures that this program has, by the same names.
func TestPeerHasTheSameFigures(t *testing.T) {
	source, err := os.ReadFile("link.cu")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, name := range full.names() {
		kind, _, sized := strings.Cut(name, "/"+regexp.MustCompile(`\d+$`).FindString(name))
		if !sized || !strings.ContainsAny(name, "0123456789") {
			kind = name
		}
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range slices.Compact(kinds) {
		if !regexp.MustCompile(`"` + kind + `[" /]`).Match(source) {
			t.Errorf("link.cu does not print %s", kind)
		}
	}
}

// A peer is told the amounts, and its lines become figures.
func TestAskPeer(t *testing.T) {
	script := filepath.Join(t.TempDir(), "peer")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho launch/issue $2\necho pinned/in/$6 $4\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := report{amounts: small}
	round, err := r.askPeer(script)
	if err != nil {
		t.Fatal(err)
	}
	if round["launch/issue"] != 20 || round["pinned/in/1048576"] != 1<<20 {
		t.Errorf("%v", round)
	}
	for _, text := range []string{"exit 3", "echo nonsense"} {
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if round, err := r.askPeer(script); err == nil {
			t.Errorf("%s: %v", text, round)
		}
	}
}

// Without a peer its columns are empty and the marks that need it say so.
func TestReport(t *testing.T) {
	r := report{amounts: small, Ours: figures{"launch/issue": 4, "pinned/in/1048576": 49}}
	var out strings.Builder
	if err := r.publish(&out, ""); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "not measured"); got != 3 {
		t.Errorf("%d marks are not measured, want 3:\n%s", got, out.String())
	}
	r.Peer = figures{"pinned/in/1048576": 50}
	out.Reset()
	if err := r.publish(&out, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| pinned in 1.0 MiB | GB/s | 49 | 50 | 0.980 |", "≥ 98 %  98 "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
