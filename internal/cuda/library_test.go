package cuda_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// The forms in which there is no driver, each with its own words.
func TestNoLibrary(t *testing.T) {
	text := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(text, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"/nonexistent/libcuda.so.1": "open /nonexistent/libcuda.so.1: ",
		text:                        "open " + text + ": ",
		"libm.so.6":                 "it has no function cuDriverGetVersion",
	} {
		driver, err := cuda.OpenLibrary(name)
		if driver != nil {
			t.Errorf("%s is a driver", name)
		}
		wantClasses(t, err, cuda.ErrNoDriver)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
		if strings.HasSuffix(err.Error(), ": ") {
			t.Errorf("%q does not say why", err)
		}
	}
}

// A failure is not kept, and a start in the background says the same.
func TestOpenAgain(t *testing.T) {
	if _, err := cuda.Open(); err == nil {
		t.Skip("there is a driver")
	}
	for range 2 {
		t.Setenv("GAGG_CUDA_LIBRARY", "/nonexistent/libcuda.so.1")
		_, err := cuda.Open()
		wantClasses(t, err, cuda.ErrNoDriver)
	}
	if r := cuda.Describe(); r.Err == nil || len(r.Devices) != 0 || r.Library != "/nonexistent/libcuda.so.1" {
		t.Errorf("%+v", r)
	}
}

// Both builds: the usual one links the C library and nothing of NVIDIA's, the
// one without GPU links nothing at all.
func TestBuilds(t *testing.T) {
	t.Parallel() // it waits for the linker
	if testing.Short() {
		t.Skip("links two programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go on this machine")
	}
	for _, c := range []struct {
		tags   string
		static bool
	}{{"", false}, {"nogpu", true}} {
		program := filepath.Join(t.TempDir(), "gagg")
		build := bounded.Command(t, "go", "build", "-tags", c.tags, "-o", program, "../../cmd/gagg")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build -tags %q: %v\n%s", c.tags, err, output)
		}
		libraries := needed(t, program)
		if static := len(libraries) == 0; static != c.static {
			t.Errorf("with -tags %q the program needs %v", c.tags, libraries)
		}
		for _, l := range libraries {
			if strings.Contains(l, "cuda") || strings.Contains(l, "nvidia") {
				t.Errorf("the program does not start without %s", l)
			}
		}
	}
}
