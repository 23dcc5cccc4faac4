package parquetio

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Digest is a hash of the names of all files, in order, with those of their folders that are
// columns, and of their footers, which tell where each chunk is and, as most writers write them,
// which least and greatest values it has. They are read once more.
func (d *Dataset) Digest() (string, error) {
	h := sha256.New()
	for _, f := range d.files {
		h.Write(fmt.Appendf(nil, "%q %d\n", keptPath(f.name), f.size))
		if _, err := io.Copy(h, io.NewSectionReader(f.src, f.end, f.size-f.end)); err != nil {
			return "", pathError(f.name, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// keptPath is the part of a path that belongs to the data: the name of the file, and folders such
// as year=2024.
func keptPath(path string) string {
	var kept []string
	parts := strings.Split(filepath.ToSlash(path), "/")
	for i, part := range parts {
		if i == len(parts)-1 || strings.Contains(part, "=") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "/")
}
