package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]size{
		"4GB":    {bytes: 4e9},
		"4GiB":   {bytes: 4 << 30},
		"500 MB": {bytes: 5e8},
		"123":    {bytes: 123},
		"60%":    {percent: 60},
		"0.5%":   {percent: 0.5},
	} {
		var got size
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "4Q", "1e99", "9EiB", "0%", "101%", "-5%", "NaN%", "%", "6 0%", "60%%"} {
		var got size
		if err := got.Set(text); err == nil {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
}

// Every flag has a usage text and a variable; every variable that is
// documented reaches its flag.
func TestEnvironmentReachesFlags(t *testing.T) {
	s, _, err := parseSettings([]string{"-k", "a", "x.parquet"}, []string{
		"GAGG_MEMORY_LIMIT=1GiB", "GAGG_ORDER_BY=a,b", "GAGG_UNION_BY_NAME=true", "GAGG_BY=b", "GAGG_LIMIT=0",
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.memory.bytes != 1<<30 || len(s.orderBy) != 1 || !s.unionByName || s.by[0] != "a" || !s.limited {
		t.Errorf("%+v", s)
	}
}

// FuzzFlags: whatever the command line, settings come out or one mistake of
// a known kind.
func FuzzFlags(f *testing.F) {
	for _, seed := range []string{
		"-k\na\nx", "-a\nsum(v1)\n--limit\n3\nx", "--explain=json\nx", "-j4\nx", "--memory-limit\n60%\nx",
		"-qv\nx", "--progress=\nx", "--\n-k", "-o\n\nx", "--device\n0,1\nx", "-\n-", "--stats=\nx", "--help", "--devices=json",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s, _, err := parseSettings(strings.Split(line, "\n"), nil)
		if err == nil {
			if !s.help && !s.version && !s.manual && s.completion == "" && !s.typed["example"] && s.devices == "" && len(s.inputs) == 0 {
				t.Errorf("no input, and no mistake: %+v", s)
			}
			return
		}
		if !errors.Is(err, gagg.ErrUsage) && !errors.Is(err, gagg.ErrDevice) {
			t.Errorf("%v is of no known kind", err)
		}
		if shown := oneLine(err.Error()); strings.ContainsAny(shown, "\n\x1b") {
			t.Errorf("%q is not one line", shown)
		}
	})
}
