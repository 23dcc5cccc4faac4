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
// How many pages the flat listing would go on for is told by how many folders its first pages had:
// it goes on where that is less than one for each wanted folder. Where folders have few keys the
// question for them costs as much as the keys, and is not put.

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
	return slices.Compact(l.found), nil // of a folder that was left in the middle some keys were taken before
}

// lister is a listing under way.
type lister struct {
	c       *Client
	p       *place
	at      string // what is listed, as it was named
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

// leads reports whether a pattern may match what is below a folder.
func (l *lister) leads(folder string) bool {
	for i, name := range strings.Split(strings.TrimSuffix(folder, "/"), "/") {
		if i < len(l.parts) && !doublestar.MatchUnvalidated(l.parts[i], name) {
			return false
		}
	}
	return true
}

// take keeps the wanted keys of a page.
func (l *lister) take(page *listing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range page.Contents {
		if l.wanted(o.Key) && !strings.HasSuffix(o.Key, "/") {
			l.found = append(l.found, l.start+o.Key)
		}
	}
}

// below lists what begins with a prefix.
func (l *lister) below(ctx context.Context, prefix string) error {
	token, asked, keys := "", false, 0
	touched := map[string]bool{} // folders below the prefix that pages had
	for pages := 1; ; pages++ {
		page, err := l.page(ctx, prefix, "", token)
		if err != nil {
			return err
		}
		l.take(page)
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
		if last != "" && !asked && len(touched)*fewKeys <= keys && l.helps(prefix, page.Contents[len(page.Contents)-1].Key, last) {
			asked = true
			if rest, fewer, err := l.inside(ctx, prefix, last, pages, len(touched)); err != nil || fewer {
				return errors.Join(err, l.all(ctx, rest))
			}
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

// inside asks for the folders below a prefix, from a last one on that so many pages have reached
// together with others. fewer: those that are wanted take fewer requests than the other pages
// would, and what lies between them was taken.
func (l *lister) inside(ctx context.Context, prefix, last string, pages, touched int) (wanted []string, fewer bool, err error) {
	var all []string
	var between listing
	for token := ""; ; {
		page, err := l.page(ctx, prefix, "/", token)
		if err != nil {
			return nil, false, err
		}
		for _, f := range page.CommonPrefixes {
			all = append(all, f.Prefix)
		}
		for _, o := range page.Contents {
			if o.Key > last {
				between.Contents = append(between.Contents, o)
			}
		}
		if token = page.NextContinuationToken; !page.IsTruncated {
			break
		}
	}
	enter, ahead := l.enter(all), 0
	for i, folder := range all {
		if folder < last {
			continue
		}
		if ahead++; enter[i] {
			wanted = append(wanted, folder)
		}
	}
	if touched > pages && len(wanted)*touched >= ahead*pages {
		return nil, false, nil
	}
	l.take(&between)
	return wanted, true, nil
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

// all lists what is below several folders, some at a time.
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

type listed struct{ Key string }

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

// sound reports whether a page is one of what was asked for.
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
