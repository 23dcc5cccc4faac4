package main

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
)

// machine is where a result was measured; it holds nowhere else.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

func thisMachine() machine {
	return machine{
		CPU:    fieldOf("/proc/cpuinfo", "model name"),
		Cores:  runtime.NumCPU(),
		Memory: fieldOf("/proc/meminfo", "MemTotal"),
		Kernel: said("uname", "-sr"),
		Go:     said("go", "env", "GOVERSION"),
	}
}

// slug is the processor's name as a folder.
func (m machine) slug() string {
	return strings.Trim(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(m.CPU, "-"), "-")
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
