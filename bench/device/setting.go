package device

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Setting is what has to be known to measure the same again.
type Setting struct {
	GPU        string `json:"gpu"`
	CUDA       string `json:"cuda"`   // the version of CUDA that the driver speaks
	Driver     string `json:"driver"` // the driver's own version, where it tells
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	Go         string `json:"go"`
	Commit     string `json:"commit"`
	Command    string `json:"command"`
	Date       string `json:"date"`
	Repetition string `json:"repetition"` // how a figure came about
}

func settingOf(driver *cuda.Driver) (Setting, error) {
	devices, err := driver.Devices()
	if err != nil {
		return Setting{}, err
	}
	version := driver.Version()
	return Setting{
		GPU:  devices[0].Name,
		CUDA: fmt.Sprintf("%d.%d", version/1000, version%1000/10), Driver: driverVersion(),
		CPU: processor(), Cores: runtime.NumCPU(), Go: runtime.Version(), Commit: commit(),
		Command: strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " "),
		Date:    time.Now().UTC().Format(time.DateOnly),
	}, nil
}

// driverVersion is what the kernel module or nvidia-smi says; "unknown" without
// them, as on the emulator.
func driverVersion() string {
	if text, err := os.ReadFile("/proc/driver/nvidia/version"); err == nil {
		if m := regexp.MustCompile(`\b\d{3}\.\d+(\.\d+)?\b`).FindString(string(text)); m != "" {
			return m
		}
	}
	out, err := exec.Command("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").Output()
	if version, _, _ := strings.Cut(string(out), "\n"); err == nil && version != "" {
		return version
	}
	return "unknown"
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // without it the processor is unknown
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// commit is what the program was built from.
func commit() string {
	revision, dirty := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value[:min(len(s.Value), 12)]
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "-dirty"
			}
		}
	}
	return revision + dirty
}

// String is the setting in lines of a report.
func (s *Setting) String() string {
	return fmt.Sprintf("%s, CUDA %s, driver %s; %s, %d cores; %s, commit %s, %s\n%s; `%s`",
		s.GPU, s.CUDA, s.Driver, s.CPU, s.Cores, s.Go, s.Commit, s.Date, s.Repetition, s.Command)
}

// Save writes a result file below dir, in a folder named after the device, and
// returns its path. Nothing is written if dir is empty.
func (s *Setting) Save(dir, name string, content []byte) (path string, err error) {
	if dir == "" {
		return "", nil
	}
	slug := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(s.GPU, "-"), "-")
	path = filepath.Join(dir, slug, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, content, 0o644)
}

// SaveAll saves files by their names, in order, and tells w where they are.
func (s *Setting) SaveAll(w io.Writer, dir string, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path, err := s.Save(dir, name, files[name])
		if err != nil {
			return err
		}
		if path != "" {
			fmt.Fprintln(w, "result file:", path)
		}
	}
	return nil
}

// JSON is v as a text file.
func JSON(v any) []byte {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		panic(err) // numbers and texts: a fault of the bench
	}
	return append(text, '\n')
}
