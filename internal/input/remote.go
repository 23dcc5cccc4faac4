package input

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/remote"
)

// isHTTP reports whether a path is a URL that is asked for by HTTP.
func isHTTP(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// localPath is a path without file://.
func localPath(path string) (string, error) {
	const scheme = "file://"
	if len(path) < len(scheme) || !strings.EqualFold(path[:len(scheme)], scheme) {
		return path, nil
	}
	host, rest, _ := strings.Cut(path[len(scheme):], "/")
	if host != "" && !strings.EqualFold(host, "localhost") {
		return "", usagef("%s: the file of another host cannot be read: file:///PATH is one of this host", path)
	}
	local, err := url.PathUnescape("/" + rest)
	if err != nil {
		return "", usagef("%s: %v", path, err)
	}
	return local, nil
}

// web is the inputs that are on servers.
type web struct {
	ctx  context.Context
	o    Options
	from budget.Lender

	states bool // folders are asked for files of states, too

	mu      sync.Mutex
	objects []*remote.Object
}

// open opens an object. Of a server that knows no ranges it goes to the temp folder.
func (w *web) open(at string) (in parquetio.Input, err error) {
	name := remote.Name(at)
	switch {
	case w.o.Remote == nil:
		return in, usagef("%s: no server can be asked here", name)
	case isHTTP(at) && strings.ContainsAny(name, "*{"):
		return in, usagef("%s: a server of HTTP does not list files: name each of them", name)
	}
	in = parquetio.Input{Name: name, Path: hivePath(at)}
	f := w.o.Temp.Spooled(at)
	if f == nil {
		object, whole, err := w.o.Remote.Open(w.ctx, at, w.from)
		switch {
		case w.ctx.Err() != nil:
			return in, context.Cause(w.ctx)
		case err != nil:
			return in, &Error{fmt.Errorf("%s: %w", name, err)}
		case object != nil:
			w.mu.Lock()
			defer w.mu.Unlock()
			w.objects = append(w.objects, object)
			in.Reader, in.Size = object, object.Size()
			return in, nil
		}
		defer func() { _ = whole.Close() }() // all that counts was read
		if f, err = w.o.Temp.Spool(w.ctx, at, name, whole, w.from); err != nil {
			return in, err
		}
	}
	in.Reader, in.Size = f, f.Size()
	return in, nil
}

// list finds the objects in stores that patterns and folders stand for, less those that are pruned.
func (w *web) list(paths []string, pruning *parquetio.Pruning) (found []string, err error) {
	if found, err = w.listAll(paths, pruning); err != nil || pruning == nil || fileSource(paths).far(w) == 0 {
		return found, err
	}
	if len(found) == 0 {
		if found, err = w.columnsOf(paths, pruning); err != nil {
			return nil, err
		}
	}
	kept, ok := pruning.Finish(hivePaths(found))
	if !ok || len(found) == 0 {
		pruning.Off()
		if found, err = w.listAll(paths, pruning); err != nil {
			return nil, err
		}
		kept, _ = pruning.Finish(hivePaths(found))
	}
	chosen := make([]string, len(kept))
	for i, k := range kept {
		chosen[i] = found[k]
	}
	return chosen, nil
}

// columnsOf is a file out of the folders that were not looked into, for its columns: no other is
// left.
func (w *web) columnsOf(paths []string, pruning *parquetio.Pruning) (found []string, err error) {
	for _, folder := range pruning.Skipped() {
		if slices.ContainsFunc(paths, isPattern) {
			break // it may have none that matches
		}
		if found, err = w.listOne(folder+"/", nil); err != nil || len(found) > 0 {
			return found[:min(len(found), 1)], err
		}
	}
	return nil, nil
}

func isPattern(path string) bool { return strings.ContainsAny(path, "*?[{") }

// listAll is list without what is done at its end.
func (w *web) listAll(paths []string, pruning *parquetio.Pruning) (found []string, err error) {
	for _, p := range paths {
		if !w.o.Remote.Stores(p) {
			found = append(found, p)
			continue
		}
		before, _ := pruning.Counts()
		keys, err := w.listOne(p, pruning)
		if after, _ := pruning.Counts(); err == nil && len(keys) == 0 && after == before {
			err = &Error{fmt.Errorf("%s: no object matches the pattern, or is a Parquet file in the folder", p)}
		}
		if err != nil {
			return nil, err
		}
		found = append(found, keys...)
	}
	return found, nil
}

// listOne finds the objects that one path in a store stands for.
func (w *web) listOne(path string, pruning *parquetio.Pruning) (keys []string, err error) {
	var folders remote.Folders
	if pruning != nil {
		folders = pruning
	}
	table := ""
	keys, err = w.o.Remote.List(w.ctx, path, func(key string) bool {
		if kind := parquetio.TableFormat(key); kind != "" {
			table = kind
		}
		return parquetio.HasParquetName(key) || w.states && parquetio.HasStateName(key)
	}, folders)
	if at := slices.IndexFunc(keys, parquetio.HasParquetName); w.states && err == nil && at >= 0 && !isPattern(path) {
		if other := slices.IndexFunc(keys, parquetio.HasStateName); other >= 0 {
			return nil, usagef("%s has states, %s, and Parquet files, %s: name those that are meant", path, keys[other], keys[at])
		}
	}
	if err == nil && table != "" {
		err = parquetio.TableError(table)
	}
	switch {
	case w.ctx.Err() != nil:
		return nil, context.Cause(w.ctx)
	case err != nil:
		return nil, &Error{fmt.Errorf("%s: %w", path, err)}
	}
	return keys, nil
}

// hivePaths are the paths of URLs, whose folders may be columns.
func hivePaths(all []string) []string {
	paths := make([]string, len(all))
	for i, at := range all {
		paths[i] = hivePath(at)
	}
	return paths
}

// hivePath is the path of a URL, whose folders may be columns.
func hivePath(at string) string {
	if !isHTTP(at) {
		return at
	}
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return u.EscapedPath()
}

// rest ends the use of the objects.
func (w *web) rest() {
	for _, o := range w.objects {
		o.Rest()
	}
}

// remoteInput is an input with objects on servers.
type remoteInput struct {
	Input
	web *web
}

// Close closes the input and ends the use of its objects.
func (r *remoteInput) Close() error {
	err := r.Input.Close()
	r.web.rest()
	return err
}
