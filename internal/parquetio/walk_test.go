package parquetio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What the kernel makes up is refused at once, also where a glob or a link leads there.
func TestListMadeUp(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	dir := t.TempDir()
	if err := os.Symlink("/proc/self", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{"/proc", "/proc/**/*.parquet", "/proc/self/fd", dir} {
		_, err := List(t.Context(), []string{in})
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "a folder that the kernel makes up") {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// 2^40 paths to 40 folders, through links that make no loop, are an error soon.
func TestListCrossingLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	for i := range 41 {
		if err := os.Mkdir(at(i), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			if i == 0 {
				break
			}
			if err := os.Symlink(at(i-1), filepath.Join(at(i), name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err := List(t.Context(), []string{at(40)})
	if !errors.Is(err, errManyLinks) {
		t.Errorf("%v", err)
	}
}

// A walk that has failed ends, and its error is short; so is that of many bad files.
func TestListManyErrors(t *testing.T) {
	dir := t.TempDir()
	for i := range 2000 {
		if err := os.Symlink(dir, filepath.Join(dir, fmt.Sprintf("loop-%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := List(t.Context(), []string{dir}); err == nil || strings.Count(err.Error(), "symbolic link back") != maxWalkErrors {
		t.Errorf("%v", err)
	}
	var names []string
	for i := range 2000 {
		names = append(names, filepath.Join(dir, fmt.Sprintf("missing-%d.parquet", i)))
	}
	_, err := List(t.Context(), names)
	if err == nil || !strings.HasSuffix(err.Error(), "; and 1968 more") || strings.Count(err.Error(), "missing-") != maxErrorsTold {
		t.Errorf("%v", err)
	}
}

// A listing ends with its context, in the middle of a large folder too.
func TestListCancelledInFolder(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 * walkEntries {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.parquet", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	looked := 0
	w := walk{ctx: ctx, mem: &account{}, enter: func(string) bool { return true }, file: func(string) bool {
		looked++
		cancel()
		return true
	}}
	if _, err := w.walkBelow(dir); !errors.Is(err, context.Canceled) || looked > walkEntries {
		t.Errorf("%v after %d files", err, looked)
	}
}
