package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/gagg-dev/gagg/internal/kernels/image"
)

// manifest is what the PTX and the machine code of a folder were made from: one line a file, in
// order.
//
//	pages.code=<hash> ptx=<hash> ptxas=<version>
//	pages.ptx=<hash> flags=<hash> clang=<version> internal/kernels/pages.cu=<hash> …
type manifest map[string]string // name of the file → its line

const manifestHead = "# Written by go generate ./internal/kernels, compared with the files by go test ./internal/kernels/gen.\n"

// manifestLine describes one PTX file. inputs are paths from the root.
func manifestLine(root, name string, ptx []byte, version string, inputs []string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s=%s flags=%s clang=%s", name, image.Fingerprint(ptx), flagsHash(), version)
	for _, input := range inputs {
		content, err := os.ReadFile(filepath.Join(root, input))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, " %s=%s", input, image.Fingerprint(content))
	}
	return b.String(), nil
}

// flagsHash is the fingerprint of the compiler's flags.
func flagsHash() string { return image.Fingerprint([]byte(strings.Join(deviceFlags, " "))) }

// readManifest reads a folder's manifest; one that does not exist is empty.
func readManifest(root string, f folder) (manifest, error) {
	text, err := os.ReadFile(filepath.Join(root, f.file("ptx/MANIFEST")))
	if os.IsNotExist(err) {
		return manifest{}, nil
	}
	m := manifest{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			name, _, _ := strings.Cut(line, "=")
			m[name] = line
		}
	}
	return m, err
}

// bytes is the manifest as a file.
func (m manifest) bytes() []byte {
	var b strings.Builder
	b.WriteString(manifestHead)
	for _, name := range sortedKeys(m) {
		b.WriteString(m[name] + "\n")
	}
	return []byte(b.String())
}

// facts splits a line into its keys and values.
func facts(line string) map[string]string {
	all := map[string]string{}
	for word := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(word, "=")
		all[key] = value
	}
	return all
}

// keepOnly forgets the files that are not among names.
func (m manifest) keepOnly(names map[string]bool) {
	maps.DeleteFunc(m, func(name, _ string) bool { return !names[name] })
}
