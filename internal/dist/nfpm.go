package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// nfpm is what the tool is told of a package (https://nfpm.goreleaser.com/docs/configuration/).
type nfpm struct {
	Name        string        `json:"name"`
	Arch        string        `json:"arch"`
	Platform    string        `json:"platform"`
	Version     string        `json:"version"`
	Release     string        `json:"release"` // of the package, by whom packages the version
	Section     string        `json:"section"`
	Priority    string        `json:"priority"`
	Maintainer  string        `json:"maintainer"`
	Description string        `json:"description"`
	Homepage    string        `json:"homepage"`
	License     string        `json:"license"`
	Depends     []string      `json:"depends"`
	MTime       string        `json:"mtime"`
	Contents    []nfpmContent `json:"contents"`
	RPM         nfpmRPM       `json:"rpm"`
	Deb         nfpmDeb       `json:"deb"`
}

type nfpmContent struct {
	Src  string       `json:"src"`
	Dst  string       `json:"dst"`
	Info nfpmFileInfo `json:"file_info"`
}

type nfpmFileInfo struct {
	Mode  int64  `json:"mode"`
	MTime string `json:"mtime"`
}

type nfpmRPM struct {
	Summary   string `json:"summary"`
	BuildHost string `json:"buildhost"`
}

type nfpmDeb struct {
	Compression string `json:"compression"`
}

// description of the package: a line, and then what it is.
const description = `groups and aggregates Parquet files, on the CPU and on GPUs
gagg answers SELECT keys, aggregates FROM files WHERE ... GROUP BY keys
over Parquet and Arrow files, within a memory limit, and on an NVIDIA GPU
where there is one and that is faster.`

const maintainer = "the gagg authors <gagg@users.noreply.github.com>"

// debianChangelog is the changelog of the package, which has one entry.
func (r *release) debianChangelog() []byte {
	return fmt.Appendf(nil, "gagg (%s-1) unstable; urgency=medium\n\n  * This version; see changelog.gz.\n\n -- %s  %s\n",
		strings.Replace(r.version, "-", "~", 1), maintainer, r.when.Format(time.RFC1123Z))
}

// copyright is what Debian wants to know of a package.
const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gagg
Source: https://github.com/gagg-dev/gagg

Files: *
Copyright: 2026 the gagg authors
License: Apache-2.0
 The text is in /usr/share/common-licenses/Apache-2.0.
`

// pack makes the package of a release for a packager: deb or rpm. It needs the system's C library,
// by which the driver of GPUs is opened.
func (r *release) pack(packager, scratch, into string) error {
	places := map[string]string{
		"gagg":                  "/usr/bin/gagg",
		"gagg.1":                "/usr/share/man/man1/gagg.1.gz",
		"completions/gagg.bash": "/usr/share/bash-completion/completions/gagg",
		"completions/gagg.fish": "/usr/share/fish/vendor_completions.d/gagg.fish",
		"completions/_gagg":     "/usr/share/zsh/vendor-completions/_gagg",
		"README.md":             "/usr/share/doc/gagg/README.md",
		"CHANGELOG.md":          "/usr/share/doc/gagg/changelog.gz",
		"changelog.Debian":      "/usr/share/doc/gagg/changelog.Debian.gz",
		"copyright":             "/usr/share/doc/gagg/copyright",
	}
	library := "libc6"
	if packager == "rpm" {
		library = "glibc"
		places["completions/_gagg"] = "/usr/share/zsh/site-functions/_gagg"
		places["LICENSE"] = "/usr/share/licenses/gagg/LICENSE"
		places["CHANGELOG.md"] = "/usr/share/doc/gagg/CHANGELOG.md"
		delete(places, "copyright")
		delete(places, "changelog.Debian")
	}
	when := r.when.Format(time.RFC3339)
	config := nfpm{
		Name: "gagg", Arch: r.machine, Platform: r.system, Version: r.version, Release: "1", Section: "utils", Priority: "optional",
		Maintainer: maintainer, Description: description, Homepage: "https://github.com/gagg-dev/gagg",
		License: "Apache-2.0", Depends: []string{library}, MTime: when,
		RPM: nfpmRPM{Summary: strings.SplitN(description, "\n", 2)[0], BuildHost: "localhost"}, Deb: nfpmDeb{Compression: "xz"},
	}
	debian := []file{{"copyright", 0o644, []byte(copyright)}, {"changelog.Debian", 0o644, r.debianChangelog()}}
	for _, f := range slices.Concat(r.texts, []file{r.program}, debian) {
		place := places[f.name]
		if place == "" {
			continue
		}
		if strings.HasSuffix(place, ".gz") {
			f.data = compressed(f.data)
		}
		at := filepath.Join(scratch, packager, r.machine, f.name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, f.data, 0o644); err != nil {
			return err
		}
		config.Contents = append(config.Contents, nfpmContent{at, place, nfpmFileInfo{f.mode, when}})
	}
	text, err := json.Marshal(config) // which is YAML too
	if err != nil {
		return err
	}
	at := filepath.Join(scratch, packager+"-"+r.machine+".yaml")
	if err := os.WriteFile(at, text, 0o600); err != nil {
		return err
	}
	c := exec.Command("go", "tool", "-modfile=go.tools.mod", "nfpm", "package", "--config", at, "--packager", packager, "--target", into)
	c.Env = append(os.Environ(), fmt.Sprint("SOURCE_DATE_EPOCH=", r.when.Unix()))
	if told, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("nfpm: %w: %s", err, told)
	}
	return nil
}

// compressed is text as gzip -9n has it.
func compressed(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
	_, _ = z.Write(text)                                  // to memory
	_ = z.Close()
	return b.Bytes()
}
