package main

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// machine is where a result was measured; it holds nowhere else.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	GPU    string `json:"gpu,omitempty"` // where it is measured too
	Driver string `json:"driver,omitempty"`
}

func thisMachine() machine {
	return machine{
		CPU:    fieldOf("/proc/cpuinfo", "model name"),
		Cores:  runtime.NumCPU(),
		Memory: fieldOf("/proc/meminfo", "MemTotal"),
		Kernel: said("uname", "-sr"),
		Go:     runtime.Version(),
	}
}

// addGPU asks for the first GPU.
func (m *machine) addGPU() {
	first, _, _ := strings.Cut(said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"), "\n")
	m.GPU, m.Driver, _ = strings.Cut(first, ", ")
}

// revision is the commit that this program was built from, gagg's beside it, or else the one that
// is checked out.
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	return said("git", "describe", "--always", "--dirty")
}

// slug is the name of the GPU, or else of the processor, as a folder.
func (m machine) slug() string {
	name := m.CPU
	if m.GPU != "" {
		name = m.GPU
	}
	return strings.Trim(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(name, "-"), "-")
}

// fieldOf is the first value of a "name : value" line of a file of /proc.
func fieldOf(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// said is what a command prints.
func said(command string, args ...string) string {
	out, err := exec.Command(command, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
