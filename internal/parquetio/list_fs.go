package parquetio

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// ListFS tells which files of fsys paths, folders and globs stand for, by the rules of List.
func ListFS(fsys fs.FS, paths []string) (files []string, err error) {
	named := map[string]bool{} // true: a path named the file itself
	for _, p := range paths {
		found, itself, err := findFS(fsys, p)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			before, there := named[f]
			if !there || before && itself {
				files = append(files, f)
			}
			named[f] = before || itself
		}
	}
	return files, nil
}

// findFS is the files of one path; itself: it is one.
func findFS(fsys fs.FS, p string) (files []string, itself bool, err error) {
	if p == "" {
		return nil, false, &UsageError{"an input path is empty"}
	}
	p = path.Clean(p)
	info, err := fs.Stat(fsys, p)
	switch {
	case err == nil && info.IsDir():
		if files, err = belowFS(fsys, p, hasParquetName); err == nil && len(files) == 0 {
			files, err = belowFS(fsys, p, hasArrowName)
		}
		if err == nil && len(files) == 0 {
			err = errors.New("no Parquet files (*.parquet, *.parq, *.pq) in this folder, nor of Arrow IPC (*.arrow, *.arrows, *.feather)")
		}
	case err == nil:
		return []string{p}, true, nil
	case isGlob(p) && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid)):
		if files, err = globFS(fsys, p); err == nil && len(files) == 0 {
			err = errors.New("no file matches the pattern")
		}
	}
	var usage *UsageError
	if err != nil && !errors.As(err, &usage) {
		err = pathError(p, err)
	}
	return files, false, err
}

// belowFS is the files below a folder whose names fit.
func belowFS(fsys fs.FS, dir string, fits func(path string) bool) (files []string, err error) {
	err = fs.WalkDir(fsys, dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != dir && isHidden(e.Name()):
			return skipped(e)
		case tooDeep(name):
			return fmt.Errorf("folders are nested more than %d levels deep", maxWalkDepth)
		case !e.IsDir() && fits(name):
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

func tooDeep(name string) bool { return strings.Count(name, "/") > maxWalkDepth }

// skipped passes over an entry.
func skipped(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// globFS is the files that a pattern matches, and those of Parquet below folders that it matches.
func globFS(fsys fs.FS, pattern string) (files []string, err error) {
	g, err := newGlob(pattern)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(fsys, g.base, func(name string, e fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(name, g.base), "/")
		if g.base == "." {
			rel = name
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == g.base:
			return fs.SkipAll
		case err != nil:
			return err
		case name == g.base:
			return nil
		case e.IsDir() && !g.tree && g.match(rel):
			below, err := belowFS(fsys, name, hasParquetName)
			files = append(files, below...)
			return err
		case e.IsDir() && !g.leads(rel):
			return fs.SkipDir
		case !e.IsDir() && g.match(rel) && (!g.tree || hasParquetName(rel)):
			files = append(files, name)
		}
		return nil
	})
	return sortedUnique(files), err
}
