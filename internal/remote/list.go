package remote

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
)

// This file lists buckets. A page of an answer has up to 1000 keys, in their order. A flat listing
// has all keys below a prefix, one page after another. Where that takes more than a page, and
// folders may be left out, the folders at hand are asked for, which is a page for each 1000 of
// them, and those that are wanted are listed on their own, each in the same way:
//
//	t/  ── flat ──▶ t/year=2019/01.parquet … t/year=2019/99.parquet, and there is more
//	    ── folders ──▶ year=2019/ year=2020/ … year=2024/, of which year=2024/ is wanted
//	t/year=2024/  ── flat ──▶ all of it
//
// The number of pages that the flat listing has yet to read is estimated from the number of folders
// on its pages so far: it goes on where that is less than one page for each wanted folder. Where
// folders have few keys, listing the folders costs as much as listing the keys, and is not done.

// Folders rules out folders while a bucket is listed. Paths are whole ones, with scheme and bucket.
type Folders interface {
	// Helps reports whether folders that an object in a folder is in may be left out.
	Helps(folder, object string) bool
	// Enter tells which of the folders of these names in a folder, which ends with a slash, are
	// looked into; names are all that are in it. Calls do not overlap.
	Enter(folder string, names []string) []bool
}

// List finds the keys in a store that a pattern matches, or that are below a folder and wanted;
// sorted. A path that is no pattern and no folder (which ends with a slash) is itself. Folders are
// left out as folders says; nil: none is. wanted is also asked of folders that are not looked into,
// with a slash at their ends.
func (c *Client) List(ctx context.Context, at string, wanted func(key string) bool, folders Folders) (found []string, err error) {
	p, _ := c.place(at)
	folder := p.key == "" || strings.HasSuffix(p.key, "/")
	wild := strings.IndexAny(p.key, "*?[{")
	l := &lister{c: c, p: &p, at: at, folders: folders, wanted: wanted}
	prefix := p.key
	switch {
	case p.bucket == "":
		return nil, errors.New("names no bucket")
	case wild >= 0:
		if !doublestar.ValidatePattern(p.key) {
			return nil, errors.New("not a valid pattern (an unclosed [ or {)")
		}
		prefix = p.key[:wild]
		l.wanted = func(key string) bool { return doublestar.MatchUnvalidated(p.key, key) }
		l.parts = leadingParts(p.key)
		if at := strings.Count(prefix, "/"); at < len(l.parts) && l.parts[at] == prefix[strings.LastIndexByte(prefix, '/')+1:]+"*" {
			l.parts[at] = "*" // the prefix says so
		}
	case !folder:
		return []string{at}, nil
	}
	l.start = strings.TrimSuffix(at, p.key)
	if p.key == "" && !strings.HasSuffix(at, "/") {
		l.start += "/"
	}
	if err := l.below(ctx, prefix); err != nil {
		return nil, err
	}
	slices.Sort(l.found)
	// of a folder that was left in the middle some keys were taken before
	return slices.Compact(l.found), nil
}

// lister is a listing under way.
type lister struct {
	c       *Client
	p       *place
	at      string // the listed path, as it was named
	start   string // of paths, in front of keys
	folders Folders
	wanted  func(key string) bool
	parts   []string // of a pattern, each for one folder; deeper ones may be any

	mu    sync.Mutex
	found []string
}

// leadingParts are the parts of a pattern that match one folder name each. Alternatives may span a
// slash, and ** spans folders.
func leadingParts(pattern string) (lead []string) {
	parts := strings.Split(pattern, "/")
	for _, part := range parts[:len(parts)-1] {
		if strings.ContainsAny(part, "{}") || strings.Contains(part, "**") || !doublestar.ValidatePattern(part) {
			break
		}
		lead = append(lead, part)
	}
	return lead
}

// leads reports whether a pattern may match files below a folder.
func (l *lister) leads(folder string) bool {
	for i, name := range strings.Split(strings.TrimSuffix(folder, "/"), "/") {
		if i < len(l.parts) && !doublestar.MatchUnvalidated(l.parts[i], name) {
			return false
		}
	}
	return true
}

// addKeys adds the wanted keys of a page.
func (l *lister) addKeys(page *listing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range page.Contents {
		if l.wanted(o.Key) && !strings.HasSuffix(o.Key, "/") {
			l.found = append(l.found, l.start+o.Key)
			l.c.noteSize(l.start+o.Key, o.Size)
		}
	}
}

// noteSize keeps the size of an object for when it is opened.
func (c *Client) noteSize(at string, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed[at] = size
}

// below lists what begins with a prefix.
func (l *lister) below(ctx context.Context, prefix string) error {
	token, keys := "", 0
	var inside *folders
	touched := map[string]bool{} // folders below the prefix that pages had
	for pages := 1; ; pages++ {
		page, err := l.page(ctx, prefix, "", token)
		if err != nil {
			return err
		}
		l.addKeys(page)
		if !page.IsTruncated {
			return nil
		}
		last := ""
		keys += len(page.Contents)
		for _, o := range page.Contents {
			if last = folderOf(o.Key, prefix); last != "" {
				touched[last] = true
			}
		}
		if inside == nil && last != "" && len(touched)*fewKeys <= keys && l.helps(prefix, page.Contents[len(page.Contents)-1].Key, last) {
			if inside, err = l.inside(ctx, prefix); err != nil {
				return err
			}
		}
		if last != "" && inside.fewer(last, pages, len(touched)) {
			l.addKeys(inside.between(last))
			return l.all(ctx, inside.wantedFrom(last))
		}
		token = page.NextContinuationToken
	}
}

// fewKeys is how many keys a folder has in the middle for which it is worth to ask for folders:
// each of them takes as much of a page as a key.
const fewKeys = 4

// folderOf is the folder of a key below a prefix, as a key with a slash at its end; "": it is in
// none.
func folderOf(key, prefix string) string {
	if i := strings.IndexByte(key[len(prefix):], '/'); i >= 0 {
		return key[:len(prefix)+i+1]
	}
	return ""
}

// helps reports whether folders below a prefix may be left out where a key is, in a folder.
func (l *lister) helps(prefix, key, folder string) bool {
	if n := strings.Count(folder, "/"); n <= len(l.parts) && slices.ContainsFunc(l.parts[n-1:], func(part string) bool { return part != "*" }) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.folders != nil && l.folders.Helps(l.start+prefix[:strings.LastIndexByte(prefix, '/')+1], l.start+key)
}

// folders is what lies in one place.
type folders struct {
	all   []string // as keys, with slashes at their ends
	enter []bool   // by folder: it is wanted
	keys  []listed // in none of them
}

// inside asks for the folders below a prefix.
func (l *lister) inside(ctx context.Context, prefix string) (*folders, error) {
	f := &folders{}
	for token := ""; ; {
		page, err := l.page(ctx, prefix, "/", token)
		if err != nil {
			return nil, err
		}
		for _, p := range page.CommonPrefixes {
			f.all = append(f.all, p.Prefix)
		}
		f.keys = append(f.keys, page.Contents...)
		if token = page.NextContinuationToken; !page.IsTruncated {
			f.enter = l.enter(f.all)
			return f, nil
		}
	}
}

// deepPages is how many pages a folder of those that are all wanted has to have, for its own
// folders to be asked for: a page of its keys, one of its folders and one of a folder there are the
// least that this takes.
const deepPages = 3

// fewer reports whether listing the wanted folders one by one takes fewer requests than the pages
// that are left. It estimates these by the number of folders that the pages so far have touched.
func (f *folders) fewer(last string, pages, touched int) bool {
	if f == nil {
		return false
	}
	wanted, ahead := len(f.wantedFrom(last)), 0
	for _, folder := range f.all {
		if folder >= last {
			ahead++
		}
	}
	if wanted == ahead {
		return touched*deepPages <= pages
	}
	return touched <= pages || wanted*touched < ahead*pages
}

// wantedFrom is the folders that are wanted, from last on.
func (f *folders) wantedFrom(last string) (wanted []string) {
	for i, folder := range f.all {
		if f.enter[i] && folder >= last {
			wanted = append(wanted, folder)
		}
	}
	return wanted
}

// between is the keys in no folder that come after last.
func (f *folders) between(last string) *listing {
	i := slices.IndexFunc(f.keys, func(o listed) bool { return o.Key > last })
	if i < 0 {
		i = len(f.keys)
	}
	return &listing{Contents: f.keys[i:]}
}

// enter tells which of all folders in one place are looked into.
func (l *lister) enter(all []string) []bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	enter := make([]bool, len(all))
	names := make([]string, len(all))
	above := 0
	for i, folder := range all {
		above = strings.LastIndexByte(folder[:len(folder)-1], '/') + 1
		enter[i], names[i] = l.leads(folder), folder[above:len(folder)-1]
	}
	if l.folders != nil && len(all) > 0 {
		for i, is := range l.folders.Enter(l.start+all[0][:above], names) {
			enter[i] = enter[i] && is
		}
	}
	for i, folder := range all {
		if !enter[i] {
			l.wanted(folder)
		}
	}
	return enter
}

// all lists the files below several folders, some folders at a time.
func (l *lister) all(ctx context.Context, folders []string) error {
	errs := make([]error, len(folders))
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(len(folders), inFlight) {
		wait.Go(func() {
			for i := range next {
				errs[i] = l.below(ctx, folders[i])
			}
		})
	}
	for i := range folders {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// listing is a page of an answer to ListObjectsV2.
type listing struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	Contents              []listed
	CommonPrefixes        []struct{ Prefix string }
	IsTruncated           bool
	NextContinuationToken string
}

type listed struct {
	Key  string
	Size int64
}

// maxListing bounds a page: 1000 keys, of 1 KiB each, three times that in XML.
const maxListing = 16 << 20

// page asks for a page, of keys, or of keys and folders up to a delimiter.
func (l *lister) page(ctx context.Context, prefix, delimiter, token string) (page *listing, err error) {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	if delimiter != "" {
		query.Set("delimiter", delimiter)
	}
	if token != "" {
		query.Set("continuation-token", token)
	}
	u, err := l.p.url("")
	if err != nil {
		return nil, err
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	err = l.c.again(ctx, func() error {
		ctx, cancel := context.WithCancelCause(ctx)
		r, err := l.p.get(ctx, u)
		if err == nil {
			err = l.p.sign(r)
		}
		if err != nil {
			cancel(nil)
			return err
		}
		a, err := l.c.do(r, l.at, cancel)
		if err != nil {
			return err
		}
		defer func() { _ = a.Close() }() // all that counts was read
		page = new(listing)
		text, err := io.ReadAll(io.LimitReader(a, maxListing))
		if err == nil && (xml.Unmarshal(text, page) != nil || !page.sound(prefix, delimiter, token)) {
			err = fmt.Errorf("%w: a listing", errAnswer)
		}
		return err
	})
	return page, err
}

// sound reports whether a page is of the requested folder.
func (p *listing) sound(prefix, delimiter, token string) bool {
	for _, o := range p.Contents {
		if !strings.HasPrefix(o.Key, prefix) {
			return false
		}
	}
	for _, f := range p.CommonPrefixes {
		if delimiter == "" || len(f.Prefix) <= len(prefix) || !strings.HasPrefix(f.Prefix, prefix) || !strings.HasSuffix(f.Prefix, delimiter) {
			return false
		}
	}
	return !p.IsTruncated || p.NextContinuationToken != token && len(p.Contents)+len(p.CommonPrefixes) > 0
}
