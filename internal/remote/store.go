package remote

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Store is where the buckets of a scheme are, and the credentials to read them.
type Store struct {
	Endpoint                           string    // a URL; "": that of Amazon in the region
	Region                             string    // "": us-east-1
	AccessKey, SecretKey, SessionToken string    // none: Finder has them
	Finder                             KeyFinder // asked before each request; nil: they are not signed
}

// Keys are those of who asks. Without an AccessKey there are none.
type Keys struct {
	AccessKey, SecretKey, SessionToken string
	Expires                            time.Time // when they end; zero: never
}

// KeyFinder finds keys. It keeps them, and finds others before they end. It may be called
// concurrently.
type KeyFinder interface {
	Keys(ctx context.Context) (Keys, error)
}

// keysError says that there are no keys to ask with.
type keysError struct{ cause error }

func (e *keysError) Error() string { return "credentials: " + e.cause.Error() }
func (e *keysError) Unwrap() error { return e.cause }

// keys are those that a request is signed with; none: it is not.
func (s *Store) keys(ctx context.Context) (Keys, error) {
	if s.AccessKey != "" || s.Finder == nil {
		return Keys{AccessKey: s.AccessKey, SecretKey: s.SecretKey, SessionToken: s.SessionToken}, nil
	}
	k, err := s.Finder.Keys(ctx)
	if err != nil && ctx.Err() == nil {
		err = &keysError{err}
	}
	return k, err
}

const defaultRegion = "us-east-1"

// place is a bucket in a store, and a key or a pattern in it.
type place struct {
	store       Store
	bucket, key string
}

// place takes a path SCHEME://BUCKET/KEY of one of the stores apart.
func (c *Client) place(at string) (p place, ok bool) {
	scheme, rest, ok := strings.Cut(at, "://")
	if ok {
		p.store, ok = c.config.Stores[strings.ToLower(scheme)]
	}
	p.bucket, p.key, _ = strings.Cut(rest, "/")
	return p, ok
}

// Stores reports whether a path is in one of the stores.
func (c *Client) Stores(at string) bool {
	if c == nil {
		return false
	}
	_, ok := c.place(at)
	return ok
}

// url is where a key is, "": the bucket itself. A bucket is a part of the host's name where that
// works: with Amazon's own endpoint, whose certificate does not know dots there.
func (p *place) url(key string) (*url.URL, error) {
	endpoint, bucket := p.store.Endpoint, "/"+p.bucket
	if endpoint == "" {
		host := "s3." + p.region() + ".amazonaws.com"
		if !strings.Contains(p.bucket, ".") {
			host, bucket = p.bucket+"."+host, ""
		}
		endpoint = "https://" + host
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no URL of an endpoint", endpoint)
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + bucket + "/" + key
	u.RawPath = escaped(u.Path)
	return u, nil
}

func (p *place) region() string {
	if p.store.Region == "" {
		return defaultRegion
	}
	return p.store.Region
}

// escaped is a path as it is signed: all but letters, digits and -._~/ are %XX.
func escaped(path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// emptyHash is the SHA-256 of the body of a GET.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// request makes a request for a path, a URL or a key of a store, signed if there are credentials.
func (c *Client) request(ctx context.Context, at string) (r *http.Request, sign func() error, err error) {
	p, stored := c.place(at)
	if !stored {
		r, err = http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
		return r, func() error { return nil }, err
	}
	u, err := p.url(p.key)
	if err != nil {
		return nil, nil, err
	}
	r, err = p.get(ctx, u)
	return r, func() error { return p.sign(r) }, err
}

func (p *place) get(ctx context.Context, u *url.URL) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+u.Host, http.NoBody)
	if err == nil {
		r.URL = u
	}
	return r, err
}

// sign signs a request, which does not change afterwards.
func (p *place) sign(r *http.Request) error {
	keys, err := p.store.keys(r.Context())
	if err != nil || keys.AccessKey == "" {
		return err
	}
	r.Header.Set("X-Amz-Content-Sha256", emptyHash)
	who := aws.Credentials{AccessKeyID: keys.AccessKey, SecretAccessKey: keys.SecretKey, SessionToken: keys.SessionToken}
	return v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }).
		SignHTTP(r.Context(), who, r, emptyHash, "s3", p.region(), time.Now())
}

// advice says what may help where a store refuses.
func (c *Client) advice(at string, a *http.Response) string {
	p, stored := c.place(at)
	there := a.Header.Get("X-Amz-Bucket-Region")
	switch {
	case !stored:
	case there != "" && there != p.region():
		return fmt.Sprintf("; the bucket is in the region %s, and %s was asked", there, p.region())
	case a.Request != nil && a.Request.Header.Get("Authorization") == "" && a.StatusCode == http.StatusForbidden:
		return "; no credentials were given"
	}
	return ""
}
