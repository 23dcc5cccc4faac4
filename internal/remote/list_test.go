package remote

import (
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// pageKeys is how many keys and folders a page of the tests' bucket has.
const pageKeys = 10

// keysServer is a bucket b of keys, sorted, that can only be listed.
func keysServer(t *testing.T, keys *[]string) (c *Client, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		q := r.URL.Query()
		prefix, after, delimiter := q.Get("prefix"), q.Get("continuation-token"), q.Get("delimiter")
		page, done := listing{}, ""
		for _, k := range *keys {
			if !strings.HasPrefix(k, prefix) {
				continue
			}
			name, folder := k, false
			if i := strings.Index(strings.TrimPrefix(k, prefix), "/"); i >= 0 && delimiter != "" {
				name, folder = k[:len(prefix)+i+1], true
			}
			if name <= after || name == done {
				continue
			}
			if page.IsTruncated = len(page.Contents)+len(page.CommonPrefixes) == pageKeys; page.IsTruncated {
				break
			}
			if done = name; !folder {
				page.Contents = append(page.Contents, listed{Key: k})
			} else {
				page.CommonPrefixes = append(page.CommonPrefixes, struct{ Prefix string }{name})
			}
			page.NextContinuationToken = name
		}
		_ = xml.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(s.Close)
	c = New(Config{Attempts: 1, Stores: map[string]Store{"s3": {Endpoint: s.URL}}})
	t.Cleanup(c.Close)
	return c, asked
}

// without leaves out folders that have a name.
type without struct {
	names []string
	asked map[string]bool
}

func (w *without) Helps(folder, object string) bool {
	below := strings.TrimPrefix(object, folder)
	return slices.ContainsFunc(w.names, func(name string) bool {
		key, _, _ := strings.Cut(name, "=")
		return strings.Contains(below, key) // and a folder of another value is named so
	})
}

func (w *without) Enter(folder string, names []string) []bool {
	enter := make([]bool, len(names))
	for i, name := range names {
		enter[i] = !slices.Contains(w.names, name)
		if w.asked[folder+name] {
			panic(folder + name + " is asked for twice")
		}
		w.asked[folder+name] = true
	}
	return enter
}

func (w *without) has(at string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(at), "/"), func(part string) bool { return slices.Contains(w.names, part) })
}

// Folders that are left out are not listed where that takes fewer requests than listing everything.
func TestListFolders(t *testing.T) {
	var keys []string
	c, asked := keysServer(t, &keys)
	years := func(n, months, files int) (names []string) {
		keys = nil
		for y := range n {
			for m := range months {
				for f := range files {
					keys = append(keys, fmt.Sprintf("t/year=%d/month=%02d/%03d.parquet", 2000+y, m, f))
				}
			}
			names = append(names, fmt.Sprintf("year=%d", 2000+y))
		}
		return names
	}
	for _, test := range []struct {
		name                 string
		years, months, files int
		without              func(years []string) []string
		flat, most           int64 // requests
	}{
		{"one page", 2, 1, 5, func(y []string) []string { return y[:1] }, 1, 1},
		{"the last of many years", 9, 12, 10, func(y []string) []string { return y[:8] }, 108, 1 + 1 + 12},
		{"the first of many years", 9, 12, 10, func(y []string) []string { return y[1:] }, 108, 1 + 1 + 12 + 1},
		{"one month of each year", 9, 10, 20, func([]string) []string {
			return []string{"month=00", "month=01", "month=02", "month=04", "month=05", "month=06", "month=07", "month=08", "month=09"}
		}, 180, 3 + 1 + 9*(1+1+2)},
		{"months of a file", 5, 40, 1, func(y []string) []string { return []string{"month=03"} }, 20, 3 + 1 + 5*4},
		{"small years, all but one", 60, 1, 5, func(y []string) []string { return y[1:] }, 30, 1 + 6 + 1},
		{"small years, a few less", 60, 1, 5, func(y []string) []string { return y[:3] }, 30, 30 + 6},
		{"none", 9, 12, 10, func([]string) []string { return nil }, 108, 108 + 1 + 9*2},
	} {
		w := &without{names: test.without(years(test.years, test.months, test.files)), asked: map[string]bool{}}
		asked.Store(0)
		all, err := c.List(t.Context(), "s3://b/t/", func(string) bool { return true }, nil)
		if err != nil || len(all) != len(keys) || asked.Load() != test.flat {
			t.Errorf("%s: %d keys of %d in %d requests, want %d; %v", test.name, len(all), len(keys), asked.Load(), test.flat, err)
		}
		asked.Store(0)
		got, err := c.List(t.Context(), "s3://b/t/", func(string) bool { return true }, w)
		got = slices.DeleteFunc(got, w.has) // a flat listing leaves that to the caller
		want := slices.DeleteFunc(all, w.has)
		if err != nil || !slices.Equal(got, want) || asked.Load() > test.most {
			t.Errorf("%s: %d keys, want %d, in %d requests, want %d at most; %v", test.name, len(got), len(want), asked.Load(), test.most, err)
		}
	}
}

// Whatever lies in a bucket, all keys are found that a pattern matches and no folder leaves out.
func TestListRandom(t *testing.T) {
	var keys []string
	c, _ := keysServer(t, &keys)
	names := []string{"a=1", "a=2", "a=10", "b=x", "b=y", "plain", "z.parquet", "a=1.parquet", "00", "é=ü"}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		keys = nil
		for range 1 + rng.IntN(200) {
			key := "t"
			for range 1 + rng.IntN(4) {
				key += "/" + names[rng.IntN(len(names))]
			}
			for range 1 + rng.IntN(20) {
				keys = append(keys, fmt.Sprintf("%s/%d", key, rng.IntN(40)), key+"/")
			}
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		w := &without{names: names[:rng.IntN(4)], asked: map[string]bool{}}
		pattern := []string{"t/", "", "t/a=1/", "t/*/*", "t/a=*/**", "t/a=?/b=x/[0-3]*", "t/{a=1,a=2}/*", "t/*/b=*/1*", "t/**/3"}[rng.IntN(9)]
		got, err := c.List(t.Context(), "s3://b/"+pattern, func(string) bool { return true }, w)
		got = slices.DeleteFunc(got, w.has)
		var want []string
		for _, k := range keys {
			fits := strings.HasPrefix(k, pattern)
			if strings.ContainsAny(pattern, "*?[{") {
				fits = doublestar.MatchUnvalidated(pattern, k)
			}
			if fits && !w.has(k) && !strings.HasSuffix(k, "/") {
				want = append(want, "s3://b/"+k)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("seed %d, %s without %q: %d keys, want %d; %v", seed, pattern, w.names, len(got), len(want), err)
		}
	}
}
