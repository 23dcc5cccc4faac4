package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/remote"
)

// services is what may be asked, on loopback: the token service, a container's agent, a machine's
// metadata. Nothing else is asked: each test names the endpoints.
type services struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string
	expire time.Time
	role   string              // of the machine; "": it has none
	fail   func(n int) int     // a status for the n-th request; 0: none
	verify func(*http.Request) // looks at requests
}

func newServices(t *testing.T) *services {
	t.Helper()
	s := &services{expire: time.Now().Add(time.Hour).UTC().Truncate(time.Second)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Form.Get("Action")))
	n := len(s.asked)
	if s.fail != nil && s.fail(n) != 0 {
		w.WriteHeader(s.fail(n))
		fmt.Fprint(w, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not\n you</Message></Error></ErrorResponse>")
		return
	}
	if s.verify != nil {
		s.verify(r)
	}
	end := s.expire.Format(time.RFC3339)
	document := fmt.Sprintf(`{"Code":"Success","AccessKeyId":"k%d","SecretAccessKey":"s","Token":"t","Expiration":%q}`, n, end)
	switch {
	case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut && r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") != "":
		fmt.Fprint(w, "imds-token")
	case strings.HasPrefix(r.URL.Path, "/latest/") && r.Header.Get("X-Aws-Ec2-Metadata-Token") != "imds-token":
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/latest/meta-data/iam/security-credentials/" && s.role != "":
		fmt.Fprintln(w, s.role)
	case r.URL.Path == "/latest/meta-data/iam/security-credentials/"+s.role && s.role != "", r.URL.Path == "/container":
		fmt.Fprint(w, document)
	case r.Form.Get("Action") != "":
		a := r.Form.Get("Action")
		fmt.Fprintf(w, `<%sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%sResult><Credentials><AccessKeyId>k%d</AccessKeyId>`+
			`<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></%sResult></%sResponse>`, a, a, n, end, a, a)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *services) config(variables map[string]string, profiles map[string]map[string]string) Config {
	all := map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": s.URL, "AWS_ENDPOINT_URL_STS": s.URL}
	for name, value := range variables {
		all[name] = strings.ReplaceAll(value, "URL", s.URL)
	}
	return Config{
		Variable: func(name string) string { return all[name] }, Name: "default", Region: "mars-1", Machine: true,
		Profile: func(name string) (map[string]string, error) { return profiles[name], nil },
	}
}

type profiles = map[string]map[string]string

// Keys are found where Amazon's tools find them, in their order, by the requests that these make.
func TestFound(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("web-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const machine = "PUT /latest/api/token, GET /latest/meta-data/iam/security-credentials/, GET /latest/meta-data/iam/security-credentials/my role"
	static := map[string]string{"aws_access_key_id": "base", "aws_secret_access_key": "s"}
	for name, test := range map[string]struct {
		variables map[string]string
		profiles  profiles
		want      string // the key, and what was asked
		verify    func(r *http.Request) bool
	}{
		"variables": {variables: map[string]string{"AWS_ACCESS_KEY_ID": "v", "AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "r"}, want: "v"},
		"profile":   {profiles: profiles{"default": static}, want: "base"},
		"web": {
			variables: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:r", "AWS_ROLE_SESSION_NAME": "me"}, profiles: profiles{"default": static},
			want: "k1 POST / AssumeRoleWithWebIdentity", verify: func(r *http.Request) bool {
				return r.Form.Get("WebIdentityToken") == "web-token" && r.Form.Get("RoleArn") == "arn:r" && r.Form.Get("RoleSessionName") == "me" && r.Header.Get("Authorization") == ""
			},
		},
		"web of a profile": {profiles: profiles{"default": {"role_arn": "r", "web_identity_token_file": token}}, want: "k1 POST / AssumeRoleWithWebIdentity"},
		"role": {
			profiles: profiles{"default": {"role_arn": "arn:r", "source_profile": "base", "external_id": "x", "duration_seconds": "900"}, "base": static},
			want:     "k1 POST / AssumeRole", verify: func(r *http.Request) bool {
				return strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=base/") && strings.Contains(r.Header.Get("Authorization"), "/mars-1/sts/aws4_request") &&
					r.Form.Get("ExternalId") == "x" && r.Form.Get("DurationSeconds") == "900"
			},
		},
		"role of itself":    {profiles: profiles{"default": {"role_arn": "r", "source_profile": "default", "aws_access_key_id": "base", "aws_secret_access_key": "s"}}, want: "k1 POST / AssumeRole"},
		"role of a role":    {profiles: profiles{"default": {"role_arn": "r", "source_profile": "b"}, "b": {"role_arn": "q", "source_profile": "c"}, "c": static}, want: "k2 POST / AssumeRole, POST / AssumeRole"},
		"role of a machine": {profiles: profiles{"default": {"role_arn": "r", "credential_source": "Ec2InstanceMetadata"}}, want: "k4 " + machine + ", POST / AssumeRole"},
		"role of a process": {profiles: profiles{"default": {"role_arn": "r", "source_profile": "b"}, "b": {"credential_process": `echo '{"Version":1,"AccessKeyId":"p","SecretAccessKey":"s"}'`}}, want: "k1 POST / AssumeRole"},
		"role of a container": {
			variables: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "URL/container"},
			profiles:  profiles{"default": {"role_arn": "r", "credential_source": "EcsContainer"}}, want: "k2 GET /container, POST / AssumeRole",
		},
		"process": {profiles: profiles{"default": {"credential_process": `echo '{"Version":1,"AccessKeyId":"p","SecretAccessKey":"s","SessionToken":"t"}'`}}, want: "p"},
		"container": {
			variables: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "URL/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token, "AWS_CONTAINER_AUTHORIZATION_TOKEN": "other"},
			want:      "k1 GET /container", verify: func(r *http.Request) bool { return r.Header.Get("Authorization") == "web-token" },
		},
		"machine":           {want: "k3 " + machine},
		"machine, disabled": {variables: map[string]string{"AWS_EC2_METADATA_DISABLED": "true"}},
		"no machine":        {variables: map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServices(t)
			s.role = "my role"
			ok := true
			if test.verify != nil {
				s.verify = func(r *http.Request) { ok = ok && test.verify(r) }
			}
			keys, finder, err := New(s.config(test.variables, test.profiles))
			if finder != nil {
				keys, err = finder.Keys(t.Context())
			}
			if got := strings.TrimSpace(keys.AccessKey + " " + strings.Join(s.asked, ", ")); err != nil || got != test.want || !ok {
				t.Errorf("%q, want %q; as it should be: %t; %v", got, test.want, ok, err)
			}
		})
	}
}

// A machine without a role has no keys; one that does not answer is waited for a second.
func TestMachineWithout(t *testing.T) {
	s := newServices(t)
	_, finder, err := New(s.config(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if k, err := finder.Keys(t.Context()); err != nil || k != (remote.Keys{}) || len(s.asked) != 2 {
			t.Error(k, err, s.asked)
		}
	}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	_, finder, err = New(s.config(map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": silent.URL}, nil))
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if k, err := finder.Keys(t.Context()); err != nil || k != (remote.Keys{}) || time.Since(begin) > 10*machineTime {
		t.Error(k, err, time.Since(begin))
	}
}

// What is there and fails is an error that names it, in one line, without a secret.
func TestRefused(t *testing.T) {
	static := map[string]string{"aws_access_key_id": "base", "aws_secret_access_key": "geheim"}
	role := profiles{"default": {"role_arn": "arn:r", "source_profile": "base"}, "base": static}
	for name, test := range map[string]struct {
		variables map[string]string
		profiles  profiles
		status    int
		want      string
		asked     int
	}{
		"refused":        {profiles: role, status: 403, want: "the role arn:r: HTTP 403 Forbidden (AccessDenied: not you)", asked: 1},
		"not there":      {profiles: role, status: 503, want: "the role arn:r: HTTP 503", asked: attempts},
		"no token":       {variables: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/nowhere", "AWS_ROLE_ARN": "r"}, want: "the token of a web identity: open /nowhere"},
		"no source":      {profiles: profiles{"default": {"role_arn": "r", "source_profile": "gone"}}, want: "there is no profile gone"},
		"empty source":   {profiles: profiles{"default": {"role_arn": "r", "source_profile": "b"}, "b": {"region": "x"}}, want: "b has no keys"},
		"circle":         {profiles: profiles{"default": {"role_arn": "r", "source_profile": "b"}, "b": {"role_arn": "r", "source_profile": "default"}}, want: "circle"},
		"code":           {profiles: profiles{"default": {"role_arn": "r", "source_profile": "b", "mfa_serial": "m"}}, want: "mfa_serial"},
		"sso":            {profiles: profiles{"default": {"sso_session": "x"}}, want: "aws configure export-credentials"},
		"place":          {profiles: profiles{"default": {"role_arn": "r", "credential_source": "Moon"}}, want: `credential_source "Moon"`},
		"process":        {profiles: profiles{"default": {"credential_process": "echo geheim >&2; exit 3"}}, want: "credential_process: exit status 3"},
		"process prints": {profiles: profiles{"default": {"credential_process": "echo geheim"}}, want: "it is no JSON of keys"},
		"ended":          {profiles: profiles{"default": {"credential_process": `echo '{"AccessKeyId":"p","SecretAccessKey":"s","Expiration":"2001-01-01T00:00:00Z"}'`}}, want: "have ended already"},
		"container":      {variables: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "URL/container"}, status: 500, want: "the keys of the container: HTTP 500", asked: attempts},
		"plain":          {variables: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://example.org/container"}, want: "is no URL with https"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServices(t)
			if test.status != 0 {
				s.fail = func(int) int { return test.status }
			}
			_, finder, err := New(s.config(test.variables, test.profiles))
			if err == nil && finder != nil {
				_, err = finder.Keys(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "geheim") || len(s.asked) != test.asked {
				t.Errorf("%v, want %s; %v", err, test.want, s.asked)
			}
		})
	}
}

// Keys that end are found anew before, by one request whatever asks for them; a service that fails
// then matters when they have ended.
func TestRefresh(t *testing.T) {
	s := newServices(t)
	now := time.Now()
	c := s.config(map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "URL/container"}, nil)
	c.Now = func() time.Time { return now }
	_, finder, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if k, err := finder.Keys(context.Background()); err != nil || k.AccessKey != want {
					t.Errorf("%+v, want %s; %v", k, want, err)
				}
			})
		}
		all.Wait()
	}
	is("k1")
	now = s.expire.Add(-early - time.Minute)
	is("k1")
	now = s.expire.Add(-early + time.Second)
	s.expire = s.expire.Add(time.Hour)
	is("k2")
	s.fail = func(int) int { return http.StatusForbidden }
	now = s.expire.Add(-time.Minute)
	is("k2")
	if len(s.asked) != 3 { // not for each that asks
		t.Error(s.asked)
	}
	now = s.expire.Add(time.Second)
	if _, err := finder.Keys(t.Context()); err == nil {
		t.Error("keys that have ended are used")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := finder.Keys(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.fail = nil
	s.expire = s.expire.Add(2 * time.Hour)
	is(fmt.Sprintf("k%d", len(s.asked)+1))
}
