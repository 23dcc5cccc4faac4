package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// emit writes a file unless it is so already; of a check, it tells of the difference.
func (g *generator) emit(path string, content []byte) error {
	g.made[path] = true
	file := filepath.Join(g.root, path)
	old, err := os.ReadFile(file)
	if err == nil && bytes.Equal(old, content) {
		return nil
	}
	g.tell(path)
	if g.check {
		g.differ++
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o666)
}

// tell writes a line of the report. A report that nobody reads any more is no
// reason to stop.
func (g *generator) tell(line string) { _, _ = fmt.Fprintln(g.report, line) }

// removeStale removes generated files whose source is gone.
func (g *generator) removeStale() error {
	for _, f := range folders {
		for _, pattern := range []string{"*_gen.go", "ptx/*.ptx", "ptx/*.code"} {
			files, err := filepath.Glob(filepath.Join(g.root, f.dir, pattern))
			if err != nil {
				return err
			}
			for _, file := range files {
				path, err := filepath.Rel(g.root, file)
				if err != nil || g.made[filepath.ToSlash(path)] {
					continue
				}
				g.tell(filepath.ToSlash(path) + " is stale")
				if g.check {
					g.differ++
				} else if err := os.Remove(file); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
