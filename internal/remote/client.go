// Package remote reads files on HTTP servers at any place, in few requests.
//
// The first request for an [Object] asks for its end, where the footer of a file is, and tells its
// size and its version (ETag). Where a listing has told the size, that range is an exact one.
// Readers announce the ranges that they read next ([Object.Want]): ranges that are near each other
// become one request of up to 8 MiB, and several requests are under way at once. Other ranges are
// requested when they are read. All requests name the version: an object that was replaced is
// [ErrChanged]. A request that fails in a way that may pass is repeated, from the byte where it
// broke off.
//
// A server that knows no ranges sends the whole of an object, which [Whole] then is.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagg-dev/gagg/internal/budget"
)

// ErrChanged says that an object is not the one that was opened.
var ErrChanged = errors.New("changed while it was read; run again when nothing writes to it")

// Config says how a client asks. Zero fields mean their defaults.
type Config struct {
	Transport http.RoundTripper // nil: one of the client's own, without a proxy
	Attempts  int               // the most for a request; default 6
	// before the second attempt, about, then twice as long; default 200 ms
	Backoff time.Duration
	Stall   time.Duration // the longest without a byte; default 30 s
	// the most bytes that are fetched before they are read; default 64 MiB
	Ahead  int64
	Stores map[string]Store // by scheme, in small letters: buckets
}

const (
	tailBytes    = 64 << 10 // of the first request: what most footers have
	requestBytes = 8 << 20  // the most of a request
	nearBytes    = 256 << 10
	inFlight     = 12
	maxBackoff   = 10 * time.Second
)

// Client sends requests to servers. It is safe for concurrent use. Its owner closes it.
type Client struct {
	config  Config
	http    http.Client
	tickets chan struct{} // one for each request under way

	requests, retries, bytes atomic.Int64

	mu      sync.Mutex
	objects map[string]*Object
	listed  map[string]int64 // sizes by path, as listings have them
	ahead   int64            // bytes of extents
}

// New returns a client.
func New(c Config) *Client {
	if c.Transport == nil {
		c.Transport = &http.Transport{
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: inFlight, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second,
			DisableCompression: true,
		}
	}
	if c.Attempts == 0 {
		c.Attempts = 6
	}
	if c.Backoff == 0 {
		c.Backoff = 200 * time.Millisecond
	}
	if c.Stall == 0 {
		c.Stall = 30 * time.Second
	}
	if c.Ahead == 0 {
		c.Ahead = 64 << 20
	}
	return &Client{config: c, http: http.Client{Transport: c.Transport}, tickets: make(chan struct{}, inFlight), objects: map[string]*Object{}, listed: map[string]int64{}}
}

// Close ends the use of all objects, and closes idle connections.
func (c *Client) Close() {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.objects))
	c.mu.Unlock()
	for _, o := range all {
		o.Rest()
	}
	c.http.CloseIdleConnections()
}

// Stats is how many requests were made, how many of them again, and the bytes of their bodies.
type Stats struct{ Requests, Retries, Bytes int64 }

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	return Stats{c.requests.Load(), c.retries.Load(), c.bytes.Load()}
}

// Whole is an object whose server knows no ranges: all of it, to be read once and closed.
type Whole struct{ io.ReadCloser }

// Open opens the object at a URL, the same one if it was opened before; its memory is drawn from a
// lender from now on. Of a server that knows no ranges it returns what comes.
func (c *Client) Open(ctx context.Context, at string, from budget.Lender) (*Object, *Whole, error) {
	c.mu.Lock()
	o, listed := c.objects[at], c.listed[at]
	c.mu.Unlock()
	if o != nil {
		o.use(ctx, from)
		return o, nil, nil
	}
	if u, err := url.Parse(at); !c.Stores(at) && (err != nil || u.Host == "") {
		return nil, nil, errors.New("not a URL")
	}
	o = &Object{client: c, url: at, parts: map[int]*wanted{}}
	whole, err := o.open(ctx, listed)
	if err != nil || whole != nil {
		return nil, whole, err
	}
	o.use(ctx, from)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[at] = o
	return o, nil, nil
}

// Name is a URL without what may be secret: passwords, and the query, which has signatures.
func Name(at string) string {
	if scheme, _, _ := strings.Cut(strings.ToLower(at), "://"); scheme != "http" && scheme != "https" {
		return at // a key of a store, which may have any character
	}
	u, err := url.Parse(at)
	if err != nil {
		name, _, _ := strings.Cut(at, "?")
		return name
	}
	u.RawQuery, u.ForceQuery, u.Fragment = "", false, ""
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}

// statusError is an answer that is none.
type statusError struct {
	code int
	wait time.Duration // that the server asks for
	hint string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("HTTP %d %s%s", e.code, http.StatusText(e.code), e.hint)
}

// passing reports whether another attempt may go better.
func passing(err error) bool {
	var status *statusError
	if errors.As(err, &status) {
		switch status.code {
		case http.StatusRequestTimeout, http.StatusTooManyRequests:
			return true
		case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
			return false
		}
		return status.code >= 500
	}
	if keys := (*keysError)(nil); errors.As(err, &keys) { // who finds them has tried
		return false
	}
	return !errors.Is(err, ErrChanged) && !errors.Is(err, errAnswer)
}

// errAnswer says that an answer breaks the rules of HTTP.
var errAnswer = errors.New("the server's answer makes no sense")

// again calls do until it succeeds, or fails for good.
func (c *Client) again(ctx context.Context, do func() error) error {
	for attempt := 1; ; attempt++ {
		err := do()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !passing(err):
			return err
		case attempt == c.config.Attempts:
			return fmt.Errorf("%w (after %d attempts)", bare(err), attempt)
		}
		c.retries.Add(1)
		if err := c.pause(ctx, attempt, err); err != nil {
			return err
		}
	}
}

// pause waits before another attempt: twice as long each time, about.
func (c *Client) pause(ctx context.Context, attempt int, because error) error {
	wait := min(c.config.Backoff<<(attempt-1), maxBackoff)
	wait = wait/2 + rand.N(wait)
	var status *statusError
	if errors.As(because, &status) {
		wait = max(wait, min(status.wait, maxBackoff))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// bare takes the method and the URL, which may have secrets, off an error.
func bare(err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// answer is a response whose body is watched: a reader waits for the next byte no longer than the
// stall time.
type answer struct {
	*http.Response
	cancel context.CancelCauseFunc
	timer  *time.Timer
	client *Client
}

var errStalled = errors.New("the server sends nothing")

// get makes one request. The caller closes the answer.
func (c *Client) get(ctx context.Context, at, ranges string, version *version) (*answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	request, sign, err := c.request(ctx, at)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("%w: %w", errAnswer, bare(err))
	}
	request.Header.Set("Range", "bytes="+ranges)
	version.condition(request.Header)
	if err := sign(); err != nil {
		cancel(nil)
		return nil, err
	}
	return c.do(request, at, cancel)
}

// do makes one request for a path; cancel ends it.
func (c *Client) do(request *http.Request, at string, cancel context.CancelCauseFunc) (a *answer, err error) {
	a = &answer{cancel: cancel, client: c}
	a.timer = time.AfterFunc(c.config.Stall, func() { cancel(errStalled) })
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", "gagg")
	c.requests.Add(1)
	a.Response, err = c.http.Do(request)
	if err != nil {
		if errors.Is(context.Cause(request.Context()), errStalled) {
			err = errStalled
		}
		a.end()
		return nil, bare(err)
	}
	switch code := a.StatusCode; code {
	case http.StatusOK, http.StatusPartialContent:
		return a, nil
	case http.StatusPreconditionFailed:
		err = ErrChanged
	default:
		seconds, _ := strconv.Atoi(a.Header.Get("Retry-After"))
		err = &statusError{code, time.Duration(seconds) * time.Second, c.advice(at, a.Response)}
	}
	_ = a.Close()
	return nil, err
}

func (a *answer) end() {
	a.timer.Stop()
	a.cancel(nil)
}

// Read reads the body.
func (a *answer) Read(p []byte) (int, error) {
	a.timer.Reset(a.client.config.Stall)
	n, err := a.Body.Read(p)
	a.client.bytes.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(a.Request.Context()), errStalled) {
		err = errStalled
	}
	return n, err
}

// Close ends the answer, also one that was not read to its end.
func (a *answer) Close() error {
	err := a.Body.Close()
	a.end()
	return err
}
