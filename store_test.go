package gagg_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
)

// bucket is a server with the interface of S3 that has one bucket, and checks signatures as the
// format says, by itself.
type bucket struct {
	*httptest.Server
	name   string
	keys   []string // sorted
	file   []byte   // of all of them
	secret string   // "": nobody signs

	mu          sync.Mutex
	lists, gets int
	refused     []string
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if why := b.check(r); why != "" {
		b.refused = append(b.refused, why)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	key, ok := strings.CutPrefix(r.URL.Path, "/"+b.name+"/")
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case key == "" && r.URL.Query().Get("list-type") == "2":
		b.lists++
		b.list(w, r.URL.Query().Get("prefix"), r.URL.Query().Get("continuation-token"))
	case slices.Contains(b.keys, key):
		b.gets++
		w.Header().Set("ETag", `"x"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b.file))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (b *bucket) list(w http.ResponseWriter, prefix, after string) {
	type object struct {
		Key  string
		Size int
	}
	page := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []object
		IsTruncated           bool
		NextContinuationToken string
	}{}
	for _, k := range b.keys {
		if k <= after || !strings.HasPrefix(k, prefix) {
			continue
		}
		if page.IsTruncated = len(page.Contents) == 1000; page.IsTruncated {
			break
		}
		page.Contents = append(page.Contents, object{k, len(b.file)})
		page.NextContinuationToken = k
	}
	_ = xml.NewEncoder(w).Encode(page)
}

// check says why a request is refused; "": it is not.
func (b *bucket) check(r *http.Request) string {
	got := r.Header.Get("Authorization")
	if b.secret == "" {
		if got != "" {
			return "signed"
		}
		return ""
	}
	_, signature, _ := strings.Cut(got, "Signature=")
	_, names, _ := strings.Cut(got, "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	_, scope, _ := strings.Cut(got, "Credential=me/")
	scope, _, _ = strings.Cut(scope, ",")
	var path, headers strings.Builder
	for _, c := range []byte(r.URL.Path) {
		if strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/", c) >= 0 {
			path.WriteByte(c)
		} else {
			fmt.Fprintf(&path, "%%%02X", c)
		}
	}
	for name := range strings.SplitSeq(names, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, value)
	}
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	hash := func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }
	canonical := strings.Join([]string{"GET", path.String(), query, headers.String(), names, hash("")}, "\n")
	key := []byte("AWS4" + b.secret)
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	want := hex.EncodeToString(mac(key, strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), scope, hash(canonical)}, "\n")))
	if signature != want || !strings.HasSuffix(scope, "/mars-1/s3/aws4_request") {
		return fmt.Sprintf("%s: signature %s of %q, want %s", r.URL, signature, scope, want)
	}
	return ""
}

// Objects in a bucket are read by key, folder and glob, with any characters in their names; folders
// named key=value are columns; 100,000 keys are listed in 100 requests, and a longer beginning of a
// pattern lists less. Of a folder two more requests ask whether it is a table.
func TestStores(t *testing.T) {
	whole, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	b := &bucket{name: "things", file: whole, secret: "very secret"}
	for i := range 100_000 {
		b.keys = append(b.keys, fmt.Sprintf("logs/%06d.txt", i))
	}
	b.keys = append(b.keys, "logs/year=2023/a.parquet", "logs/year=2024/b c+d ü.parquet", "logs/year=2024/_hidden.parquet", "logs/year=2024/notes.txt")
	slices.Sort(b.keys)
	b.Server = httptest.NewServer(b)
	defer b.Close()
	store := gagg.Store{Endpoint: b.URL, Region: "mars-1", AccessKey: "me", SecretKey: b.secret}
	count := func(path string, store gagg.Store, by ...string) (string, error) {
		b.lists, b.gets = 0, 0
		lines, err := answer(t, gagg.Query{From: gagg.Files(path), By: by, Aggs: exprs("count(*)"), OrderBy: by},
			gagg.Options{Stores: map[string]gagg.Store{"s3": store}})
		return strings.Join(lines, ";"), err
	}
	for _, test := range []struct {
		path        string
		by          []string
		want        string
		lists, gets int
	}{
		{"s3://things/logs/year=2023/a.parquet", nil, "12000", 0, 1},
		{"s3://things/logs/year=2024/b c+d ü.parquet", []string{"year"}, "2024|12000", 0, 1},
		{"s3://things/logs/year=*/*.parquet", []string{"year"}, "2023|12000;2024|24000", 1, 3},
		{"s3://things/logs/**/[ab]*.parquet", []string{"year"}, "2023|12000;2024|12000", 101, 2},
		{"s3://things/logs/year=2024/", nil, "12000", 3, 1},
		{"s3://things/", []string{"year"}, "2023|12000;2024|12000", 103, 2},
		{"S3://things", nil, "24000", 103, 2},
	} {
		got, err := count(test.path, store, test.by...)
		if err != nil || got != test.want || b.lists != test.lists || b.gets != test.gets {
			t.Errorf("%s: %s after %d lists and %d reads, want %s, %d and %d; %v; %q", test.path, got, b.lists, b.gets, test.want, test.lists, test.gets, err, b.refused)
		}
	}
	wrong, nobody := store, store
	wrong.SecretKey, nobody.AccessKey = "guessed", ""
	for _, test := range []struct {
		path  string
		store gagg.Store
		says  string
	}{
		{"s3://things/nothing", store, "s3://things/nothing: HTTP 404 Not Found"},
		{"s3://things/nothing/*", store, "s3://things/nothing/*: no object matches"},
		{"s3:///x", store, ""},
		{"s3://things/logs/year=2023/a.parquet", wrong, "HTTP 403 Forbidden"},
		{"s3://things/logs/", nobody, "HTTP 403 Forbidden; no credentials were given"},
		{"s3://things/[", store, "not a valid pattern"},
	} {
		if _, err := count(test.path, test.store); !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", test.path, err, test.says)
		}
	}
	b.secret = ""
	if got, err := count("s3://things/logs/year=2023/a.parquet", nobody); err != nil || got != "12000" {
		t.Errorf("without credentials: %s, %v; %q", got, err, b.refused)
	}
}

// A folder of a store has the states that are in it, as one on disk does.
func TestStatesInStore(t *testing.T) {
	q := gagg.Query{From: gagg.Files("testdata/orders.parquet"), Aggs: exprs("count(*)")}
	states, err := os.ReadFile(stateFileOf(t, q, gagg.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	b := &bucket{name: "b", keys: []string{"d/1.state", "d/readme.txt"}, file: states}
	b.Server = httptest.NewServer(b)
	defer b.Close()
	o := gagg.Options{Stores: map[string]gagg.Store{"s3": {Endpoint: b.URL}}}
	q = gagg.Query{From: gagg.Merge(gagg.Files("s3://b/d/"))}
	if got := mustAnswer(t, q, o); !slices.Equal(got, []string{"12000"}) {
		t.Error(got)
	}
	b.keys = append(b.keys, "d/x.parquet")
	if _, err := gagg.Run(t.Context(), q, o); !errors.Is(err, gagg.ErrUsage) || !strings.Contains(err.Error(), "s3://b/d/ has states, s3://b/d/1.state, and Parquet files, s3://b/d/x.parquet: name those that are meant") {
		t.Error(err)
	}
}
