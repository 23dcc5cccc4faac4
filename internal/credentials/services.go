package credentials

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/gagg-dev/gagg/internal/remote"
)

// This file asks: the Security Token Service, containers and machines.

const (
	maxAnswer   = 1 << 20
	attempts    = 3
	serviceTime = 10 * time.Second // the longest for an answer of a service
	machineTime = time.Second      // of the metadata service, which may not be there
	sessionName = "gagg"
)

// given is keys as containers, machines and processes give them.
type given struct {
	Code, Message       string
	AccessKeyID         string `json:"AccessKeyId"`
	SecretAccessKey     string
	Token, SessionToken string
	Expiration          *time.Time
	Version             int
}

// parseKeys reads keys.
func parseKeys(b []byte, now time.Time) (k remote.Keys, err error) {
	var g given
	if err := json.Unmarshal(b, &g); err != nil {
		return k, errors.New("it is no JSON of keys") // whose text may have secrets
	}
	switch {
	case g.Code != "" && g.Code != "Success":
		return k, fmt.Errorf("%s: %s", tidy(g.Code), tidy(g.Message))
	case g.AccessKeyID == "" || g.SecretAccessKey == "":
		return k, errNoKeys
	}
	k = remote.Keys{AccessKey: g.AccessKeyID, SecretKey: g.SecretAccessKey, SessionToken: g.Token + g.SessionToken}
	if g.Token != "" && g.SessionToken != "" {
		k.SessionToken = g.SessionToken
	}
	if g.Expiration != nil {
		if k.Expires = *g.Expiration; !k.Expires.After(now) {
			return remote.Keys{}, errors.New("the keys have ended already")
		}
	}
	return k, nil
}

// statusError is an answer that is none.
type statusError struct {
	code int
	body []byte
}

func (e *statusError) Error() string {
	return fmt.Sprintf("HTTP %d %s", e.code, http.StatusText(e.code))
}

// ask makes a request, again where that may help. request makes it anew each time.
func ask(ctx context.Context, client *http.Client, tries int, request func(ctx context.Context) (*http.Request, error)) (body []byte, err error) {
	for try := 1; ; try++ {
		body, err = askOnce(ctx, client, request)
		var status *statusError
		if err == nil || try == tries || ctx.Err() != nil || errors.As(err, &status) && status.code < 500 && status.code != http.StatusTooManyRequests {
			break
		}
		timer := time.NewTimer(time.Duration(try) * 200 * time.Millisecond)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var inner *url.Error
	if errors.As(err, &inner) { // without the URL
		err = inner.Err
	}
	return body, err
}

func askOnce(ctx context.Context, client *http.Client, request func(ctx context.Context) (*http.Request, error)) ([]byte, error) {
	r, err := request(ctx)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "gagg")
	a, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.Body.Close() }() // all that counts was read
	body, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	if err == nil && a.StatusCode != http.StatusOK {
		err = &statusError{a.StatusCode, body}
	}
	return body, err
}

// service is a client of what may be far.
func (f *finding) service() *http.Client {
	return &http.Client{Transport: f.Transport, Timeout: serviceTime, CheckRedirect: noRedirect}
}

// near is a client of what is on the machine or beside it: no proxy is asked.
func near(wait time.Duration) *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}, Timeout: wait, CheckRedirect: noRedirect}
}

// noRedirect keeps tokens where they were sent.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// webIdentity takes a role for a token in a file, which is read anew each time: it is replaced.
func (f *finding) webIdentity(file, role, session string) provider {
	return func(ctx context.Context) (remote.Keys, error) {
		token, err := os.ReadFile(file)
		if err != nil {
			return remote.Keys{}, fmt.Errorf("the token of a web identity: %w", err)
		}
		return f.sts(ctx, "AssumeRoleWithWebIdentity", role, url.Values{
			"RoleSessionName": {orDefault(session, sessionName)}, "WebIdentityToken": {strings.TrimSpace(string(token))},
		}, nil)
	}
}

// assume takes the role of a profile for other keys.
func (f *finding) assume(p map[string]string, base provider) provider {
	return func(ctx context.Context) (remote.Keys, error) {
		keys, err := base(ctx)
		if err != nil {
			return keys, err
		}
		if keys.AccessKey == "" {
			return keys, fmt.Errorf("the role %s: what it is taken for has no keys", p["role_arn"])
		}
		values := url.Values{"RoleSessionName": {orDefault(p["role_session_name"], sessionName)}}
		for name, key := range map[string]string{"ExternalId": "external_id", "DurationSeconds": "duration_seconds"} {
			if p[key] != "" {
				values.Set(name, p[key])
			}
		}
		return f.sts(ctx, "AssumeRole", p["role_arn"], values, &keys)
	}
}

func orDefault(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// stsAnswer is the answer to either action, without its outer element.
type stsAnswer struct {
	Credentials struct {
		AccessKeyID     string `xml:"AccessKeyId"`
		SecretAccessKey string
		SessionToken    string
		Expiration      time.Time
	}
}

// sts asks the Security Token Service, signed with keys; nil: it is not signed.
func (f *finding) sts(ctx context.Context, action, role string, values url.Values, keys *remote.Keys) (k remote.Keys, err error) {
	region := orDefault(f.Region, "us-east-1")
	endpoint := orDefault(f.Variable("AWS_ENDPOINT_URL_STS"), f.Variable("AWS_ENDPOINT_URL"))
	if endpoint == "" {
		endpoint = "https://sts." + region + ".amazonaws.com"
		if strings.HasPrefix(region, "cn-") {
			endpoint += ".cn"
		}
	}
	values.Set("Action", action)
	values.Set("Version", "2011-06-15")
	values.Set("RoleArn", role)
	form := []byte(values.Encode())
	body, err := ask(ctx, f.service(), attempts, func(ctx context.Context) (*http.Request, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(endpoint, "/")+"/", bytes.NewReader(form))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if keys == nil {
			return r, nil
		}
		hash := sha256.Sum256(form)
		who := aws.Credentials{AccessKeyID: keys.AccessKey, SecretAccessKey: keys.SecretKey, SessionToken: keys.SessionToken}
		return r, v4.NewSigner().SignHTTP(ctx, who, r, hex.EncodeToString(hash[:]), "sts", region, f.Now())
	})
	if err != nil {
		return k, fmt.Errorf("the role %s: %w%s", role, err, reason(err))
	}
	var a struct {
		WithKeys stsAnswer `xml:"AssumeRoleResult"`
		WithWeb  stsAnswer `xml:"AssumeRoleWithWebIdentityResult"`
	}
	if err := xml.Unmarshal(body, &a); err != nil {
		return k, fmt.Errorf("the role %s: the answer makes no sense", role)
	}
	c := a.WithKeys.Credentials
	if c.AccessKeyID == "" {
		c = a.WithWeb.Credentials
	}
	if c.AccessKeyID == "" || c.SecretAccessKey == "" {
		return k, fmt.Errorf("the role %s: the answer has %w", role, errNoKeys)
	}
	return remote.Keys{AccessKey: c.AccessKeyID, SecretKey: c.SecretAccessKey, SessionToken: c.SessionToken, Expires: c.Expiration}, nil
}

// reason is what a service says of why it refuses.
func reason(err error) string {
	var status *statusError
	var said struct {
		Error struct{ Code, Message string }
	}
	if !errors.As(err, &status) || xml.Unmarshal(status.body, &said) != nil || said.Error.Code == "" {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", tidy(said.Error.Code), tidy(said.Error.Message))
}

// container asks the agent of a container; nil: there is none.
func (f *finding) container() (provider, error) {
	at := f.Variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if rest := f.Variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); rest != "" {
		at = "http://169.254.170.2" + rest
	}
	if at == "" {
		return nil, nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !beside(u.Hostname())) {
		return nil, errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI is no URL with https, nor one with http of this machine")
	}
	return func(ctx context.Context) (remote.Keys, error) {
		token := f.Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if file := f.Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
			b, err := os.ReadFile(file) // anew: it is replaced
			if err != nil {
				return remote.Keys{}, fmt.Errorf("the token of the container: %w", err)
			}
			token = strings.TrimSpace(string(b))
		}
		if strings.ContainsAny(token, "\r\n") {
			return remote.Keys{}, errors.New("the token of the container has more than a line")
		}
		body, err := ask(ctx, near(serviceTime), attempts, func(ctx context.Context) (*http.Request, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
			if err == nil && token != "" {
				r.Header.Set("Authorization", token)
			}
			return r, err
		})
		var k remote.Keys
		if err == nil {
			k, err = parseKeys(body, f.Now())
		}
		if err != nil {
			return k, fmt.Errorf("the keys of the container: %w", err)
		}
		return k, nil
	}, nil
}

// beside reports whether a host is this machine, or an agent of Amazon's beside a container: their
// secrets leave it without encryption for no other.
func beside(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && (ip.IsLoopback() || host == "169.254.170.2" || host == "169.254.170.23" || ip.Equal(net.ParseIP("fd00:ec2::23")))
}

// machine asks the metadata service of a machine of EC2. One that has no role, or no such service,
// has no keys.
func (f *finding) machine() provider {
	if strings.EqualFold(f.Variable("AWS_EC2_METADATA_DISABLED"), "true") {
		return nil
	}
	endpoint := f.Variable("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	switch {
	case endpoint != "":
	case strings.EqualFold(f.Variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"), "ipv6"):
		endpoint = "http://[fd00:ec2::254]"
	default:
		endpoint = "http://169.254.169.254"
	}
	endpoint = strings.TrimSuffix(endpoint, "/") + "/latest/"
	const path = "meta-data/iam/security-credentials/"
	known := false // this is such a machine
	return func(ctx context.Context) (remote.Keys, error) {
		client, tries := near(machineTime), 1
		if known {
			client, tries = near(serviceTime), attempts
		}
		get := func(method, path, header, value string) ([]byte, error) {
			return ask(ctx, client, tries, func(ctx context.Context) (*http.Request, error) {
				r, err := http.NewRequestWithContext(ctx, method, endpoint+path, http.NoBody)
				if err == nil {
					r.Header.Set(header, value)
				}
				return r, err
			})
		}
		token, err := get(http.MethodPut, "api/token", "X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		if err != nil {
			if ctx.Err() != nil || known {
				return remote.Keys{}, fmt.Errorf("the metadata of the machine: %w", err)
			}
			return remote.Keys{}, nil
		}
		client, tries = near(serviceTime), attempts
		auth := strings.TrimSpace(string(token))
		roles, err := get(http.MethodGet, path, "X-Aws-Ec2-Metadata-Token", auth)
		var status *statusError
		if errors.As(err, &status) && status.code == http.StatusNotFound && !known {
			return remote.Keys{}, nil // it has no role
		}
		role, _, _ := strings.Cut(strings.TrimSpace(string(roles)), "\n")
		var body []byte
		if err == nil {
			body, err = get(http.MethodGet, path+url.PathEscape(role), "X-Aws-Ec2-Metadata-Token", auth)
		}
		var k remote.Keys
		if err == nil {
			k, err = parseKeys(body, f.Now())
		}
		if err != nil {
			return k, fmt.Errorf("the keys of the machine: %w", err)
		}
		known = true // who calls holds the lock of the Finder
		return k, nil
	}
}
