package parquetio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/filepool"
)

// UsageError is a mistake in how the inputs were named, not in the inputs.
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

// maxErrorsTold is how many errors a line names: 50,000 files that are no
// Parquet are one mistake.
const maxErrorsTold = 32

// errorList is several errors on one line. errors.Is and errors.As look into
// all of them.
type errorList []error

func (l errorList) Error() string {
	var text []string
	for _, err := range l[:min(len(l), maxErrorsTold)] {
		text = append(text, err.Error())
	}
	if more := len(l) - len(text); more > 0 {
		text = append(text, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(text, "; ")
}

func (l errorList) Unwrap() []error { return l }

// joinErrors makes one error of those in errs that are not nil.
func joinErrors(errs []error) error {
	var list errorList
	for _, err := range errs {
		if err != nil {
			list = append(list, err)
		}
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return list
}

// pathError names the file of an error of the operating system once.
func pathError(p string, err error) error {
	return &Error{File: p, RowGroup: -1, Err: filepool.WithoutPath(err)}
}

// listing collects the files of all inputs in order. A file is read twice
// only if the inputs name its path twice: a file that a folder or glob finds is
// left out if it is already there.
type listing struct {
	files []Input         // each one a single file or a reader
	named map[string]bool // by absolute path: true when an input named the file itself
	mem   *account        // that it is drawn from, with what else each file takes

	pruning *Pruning // nil: all folders are looked into
}

// fileBytes is the memory of an open file in a listing and a dataset, without its path and its
// footer.
const fileBytes = 2*int64(unsafe.Sizeof(Input{})) + int64(unsafe.Sizeof(dataFile{})+unsafe.Sizeof(filepool.Source{})+unsafe.Sizeof(file{})) +
	namedBytes + statBytes + smallBytes

const (
	namedBytes = 80  // an entry of listing.named
	statBytes  = 320 // an fs.FileInfo
	// what is rounded up in the small parts of a decoded footer, and in lists that grow
	smallBytes = 256
)

func (l *listing) add(p string, named bool) error {
	if err := l.mem.draw(fileBytes+2*int64(len(p)), "a list of files"); err != nil {
		return err
	}
	key := p
	if abs, err := filepath.Abs(p); err == nil {
		key = abs
	}
	before, there := l.named[key]
	if !there || before && named {
		l.files = append(l.files, Input{Path: p, Name: p})
	}
	l.named[key] = before || named
	return nil
}

func (l *listing) addAll(paths []string) error {
	for _, p := range paths {
		if err := l.add(p, false); err != nil {
			return err
		}
	}
	return nil
}

// listInputs turns paths, folders and globs into files, in the order of the
// inputs and by the bytes of the path within a folder or glob. The error
// names every input that gives nothing. Memory for files is drawn from mem.
func listInputs(ctx context.Context, inputs []Input, mem *account, pruning *Pruning) ([]Input, error) {
	files, paths, err := listOnce(ctx, inputs, mem, pruning)
	// the caller has left out files that are not needed
	if pruning == nil || len(paths) < len(files) {
		return files, err
	}
	kept, ok := pruning.finish(paths, err)
	if !ok {
		pruning.Off()
		files, paths, err = listOnce(ctx, inputs, mem, pruning)
		kept, _ = pruning.finish(paths, err)
	}
	if err != nil {
		return nil, err
	}
	chosen := make([]Input, len(kept))
	for i, k := range kept {
		chosen[i] = files[k]
	}
	return chosen, nil
}

// listOnce is listInputs without what Pruning does at the end; paths are those of the files that
// are no readers.
func listOnce(ctx context.Context, inputs []Input, mem *account, pruning *Pruning) (files []Input, paths []string, err error) {
	l := listing{named: map[string]bool{}, mem: mem, pruning: pruning}
	errs := make([]error, 0, len(inputs))
	for _, in := range inputs {
		if in.Reader != nil {
			l.files = append(l.files, in)
			continue
		}
		errs = append(errs, l.addPath(ctx, in.Path))
	}
	for _, f := range l.files {
		if f.Reader == nil {
			paths = append(paths, f.Path)
		}
	}
	return l.files, paths, joinErrors(errs)
}

// List tells which files Open would read for these inputs.
func List(ctx context.Context, paths []string) ([]string, error) {
	inputs := make([]Input, len(paths))
	for i, p := range paths {
		inputs[i].Path = p
	}
	found, err := listInputs(ctx, inputs, &account{}, nil)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(found))
	for i, in := range found {
		files[i] = in.Path
	}
	return files, nil
}

// isURL reports whether a path begins with a scheme.
func isURL(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return ok && scheme != "" && strings.ContainsRune(letters, rune(scheme[0])) && strings.Trim(scheme, letters+"0123456789+.-") == ""
}

func (l *listing) addPath(ctx context.Context, in string) error {
	if in == "" {
		return &UsageError{"an input path is empty"}
	}
	info, err := os.Stat(in)
	switch {
	case err == nil && info.IsDir():
		return l.addFolder(ctx, in)
	case err == nil && !info.Mode().IsRegular():
		return &Error{File: in, RowGroup: -1, Err: filepool.ErrNotRegular}
	case err == nil:
		return l.add(in, true)
	case isURL(in):
		return &UsageError{fmt.Sprintf("cannot read %s: of URLs, http, https, s3, gs and file are supported", in)}
	case isGlob(in) && errors.Is(err, fs.ErrNotExist):
		return l.addGlob(ctx, in)
	}
	return pathError(in, err)
}

// addFolder adds all Parquet files below a folder; where there are none, those of Arrow IPC.
func (l *listing) addFolder(ctx context.Context, dir string) error {
	files, err := filesBelow(ctx, dir, hasParquetName, l.mem, l.pruning)
	if folders, _ := l.pruning.Counts(); err == nil && len(files) == 0 && folders == 0 {
		files, err = filesBelow(ctx, dir, hasArrowName, l.mem, nil)
	}
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return &Error{File: dir, RowGroup: -1, Err: errors.New("no Parquet files (*.parquet, *.parq, *.pq) in this folder, nor of Arrow IPC (*.arrow, *.arrows, *.feather)")}
	}
	return l.addAll(files)
}

// TableFormat is the format of tables whose metadata a path is of; "": of none that is known. Their
// folders have files that are no longer of the table.
func TableFormat(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		switch {
		case part == "_delta_log":
			return "Delta"
		case part == "metadata" && i == len(parts)-2 && strings.HasSuffix(parts[i+1], ".metadata.json"):
			return "Iceberg"
		}
	}
	return ""
}

// TableError says that a folder cannot be read as one of files.
func TableError(format string) error {
	return fmt.Errorf("%s table, or a folder with one, whose files are not all of the table: name the folder of the table alone", WithArticle(format))
}

// WithArticle is the name of a format of tables behind its article.
func WithArticle(format string) string {
	if strings.HasPrefix(format, "I") {
		return "an " + format
	}
	return "a " + format
}

func filesBelow(ctx context.Context, dir string, named func(path string) bool, mem *account, pruning *Pruning) ([]string, error) {
	table := ""
	found := func(rel string) {
		if kind := TableFormat(dir + "/" + rel); kind != "" {
			table = kind
		}
	}
	w := walk{ctx: ctx, mem: mem, pruning: pruning}
	w.file = func(rel string) bool {
		found(rel)
		return !isHidden(filepath.Base(rel)) && named(rel)
	}
	w.enter = func(rel string) bool {
		found(rel)
		return !isHidden(filepath.Base(rel))
	}
	files, err := w.walkBelow(dir)
	if err == nil && table != "" {
		err = pathError(dir, TableError(table))
	}
	return files, err
}

func hasParquetName(p string) bool {
	switch strings.ToLower(filepath.Ext(p)) {
	case ".parquet", ".parq", ".pq":
		return true
	}
	return false
}

// HasParquetName reports whether a file in a folder is taken to be Parquet.
func HasParquetName(path string) bool {
	return !isHidden(filepath.Base(path)) && hasParquetName(path)
}

// ListStates tells which files a folder has that may hold states: *.state and those of Arrow IPC;
// where there are none, what List says of it.
func ListStates(ctx context.Context, dir string) ([]string, error) {
	files, err := filesBelow(ctx, dir, HasStateName, &account{}, nil)
	if err != nil || len(files) == 0 {
		return List(ctx, []string{dir})
	}
	rows, err := filesBelow(ctx, dir, hasParquetName, &account{}, nil)
	if err == nil && len(rows) > 0 {
		return nil, &UsageError{fmt.Sprintf("%s has states, %s, and Parquet files, %s: name those that are meant", dir, files[0], rows[0])}
	}
	return files, err
}

// HasStateName reports whether a file in a folder is taken to hold states where states are wanted.
func HasStateName(path string) bool {
	return strings.ToLower(filepath.Ext(path)) == ".state" || hasArrowName(path)
}

// hasArrowName is hasParquetName for Arrow IPC, which others read.
func hasArrowName(p string) bool {
	switch strings.ToLower(filepath.Ext(p)) {
	case ".arrow", ".arrows", ".feather", ".ipc":
		return true
	}
	return false
}

// addGlob adds the files that a pattern matches, and all Parquet files below
// the folders that it matches.
func (l *listing) addGlob(ctx context.Context, pattern string) error {
	g, err := newGlob(pattern)
	if err != nil {
		return err
	}
	files, dirs, err := g.find(ctx, l.mem, l.pruning)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		below, err := filesBelow(ctx, d, hasParquetName, l.mem, l.pruning)
		if err != nil {
			return err
		}
		files = append(files, below...)
	}
	if len(files) == 0 {
		return &Error{File: pattern, RowGroup: -1, Err: errors.New("no file matches the pattern")}
	}
	return l.addAll(sortedUnique(files))
}
