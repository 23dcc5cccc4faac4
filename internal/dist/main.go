// Command dist makes what a release has, of the checkout in which it runs:
//
//	go run ./internal/dist -o build/dist
//
// For each platform that is an archive of the program, the manual page, the completion scripts, the
// licence and the changelog, and the list of the modules in the program (SPDX 2.3); for Linux
// packages of the same for Debian and its kin and for Fedora and its kin (nfpm, of go.tools.mod);
// for all of them the checksums.
//
// REPRODUCIBLE: the same commit, Go and tools make the same bytes, in whatever folder, by whomever
// and when. The program is built without paths, with the settings that change code named here;
// archives have their files by name, with one owner and the time of the commit
// (SOURCE_DATE_EPOCH, if that is set); nothing else of the machine goes in. `make dist-check`
// proves it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	into := flag.String("o", "build/dist", "the `folder` for the files; what is in it is removed")
	flag.Parse()
	if err := dist(*into); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// platforms are those that a release has. With tags nogpu the driver of GPUs is left out.
var platforms = []platform{
	{system: "linux", machine: "amd64"},
	{system: "linux", machine: "arm64"},
	{system: "darwin", machine: "arm64", tags: "nogpu"},
}

type platform struct {
	system, machine, tags string
}

func dist(into string) error {
	when, err := commitTime()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "gagg-dist")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	texts, err := gatherTexts(scratch)
	if err != nil {
		return err
	}
	var releases []*release
	// all of them before anything is written, which would change the checkout
	for _, p := range platforms {
		r, err := build(p, scratch)
		if err != nil {
			return err
		}
		r.texts, r.when = texts, when
		releases = append(releases, r)
	}
	if err := errors.Join(os.RemoveAll(into), os.MkdirAll(into, 0o755)); err != nil {
		return err
	}
	for _, r := range releases {
		if err := r.write(into); err != nil {
			return err
		}
		if r.system != "linux" {
			continue
		}
		for _, packager := range []string{"deb", "rpm"} {
			if err := r.pack(packager, scratch, into); err != nil {
				return err
			}
		}
	}
	return writeChecksums(into)
}

// commitTime is SOURCE_DATE_EPOCH, else the time of the last commit.
func commitTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the last commit: %w; set SOURCE_DATE_EPOCH where there is no git", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// file is one of an archive or a package.
type file struct {
	name string // in the folder of an archive
	mode int64
	data []byte
}

// gatherTexts are the files that all platforms have. The program writes some itself.
func gatherTexts(scratch string) (texts []file, err error) {
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, file{name, 0o644, data})
	}
	here := filepath.Join(scratch, "gagg-here")
	if err := compile(here, platform{tags: "nogpu"}); err != nil {
		return nil, err
	}
	for _, made := range []struct{ name, flag string }{
		{"completions/_gagg", "--completion=zsh"},
		{"completions/gagg.bash", "--completion=bash"},
		{"completions/gagg.fish", "--completion=fish"},
		{"gagg.1", "--man"},
	} {
		c := exec.Command(here, made.flag)
		c.Env = []string{} // of the variables of flags too
		data, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("gagg %s: %w", made.flag, err)
		}
		texts = append(texts, file{made.name, 0o644, data})
	}
	return texts, nil
}

// compile builds the program. What the environment may say about code is said here instead.
func compile(path string, p platform) error {
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w -buildid=", "-tags="+p.tags, "-o", path, "./cmd/gagg")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off",
		"GOOS="+p.system, "GOARCH="+p.machine)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("go build for %s/%s: %w", p.system, p.machine, err)
	}
	return nil
}
