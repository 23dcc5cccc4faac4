// Package credentials finds the keys of who asks Amazon's services, as Amazon's tools find them:
//
//	variables        AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
//	web identity     AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN: as pods of Kubernetes have it
//	a profile        keys, a role by source_profile or credential_source, a web identity, a process
//	a container      AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, AWS_CONTAINER_CREDENTIALS_FULL_URI
//	a machine        its role, by the metadata service of EC2 (version 2)
//
// The first that is there counts; where it fails, that is an error, and the next is not tried. A
// machine that has no role has no keys, and so has one that does not answer within a second.
//
// It reads no environment of its own: who calls it hands the variables in. Keys that end are found
// anew some minutes before ([Finder]).
package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/internal/remote"
)

// Config says where to look.
type Config struct {
	Variable func(name string) string
	// Profile is the settings of a profile, of both files; none: there is no such profile.
	Profile func(name string) (map[string]string, error)
	Name    string // of the profile that is asked for
	Region  string
	// Machine allows to ask the metadata service of the machine where nothing else has keys.
	Machine   bool
	Transport http.RoundTripper // to services; containers and machines are asked without a proxy
	Now       func() time.Time  // nil: time.Now; tests have others
}

// early is how long before their end keys are found anew.
const early = 5 * time.Minute

// maxHops is how many profiles a role may be taken through.
const maxHops = 8

// provider finds keys.
type provider func(ctx context.Context) (remote.Keys, error)

// Finder finds keys, and keeps them until soon before their end. It is safe for concurrent use.
type Finder struct {
	find provider
	now  func() time.Time

	mu   sync.Mutex
	has  bool
	keys remote.Keys
	next time.Time // before which a search that has failed is not begun again
}

// retryAfter is how long keys that are still good are used without another search, after one that
// has failed.
const retryAfter = 10 * time.Second

// Keys implements remote.KeyFinder.
func (f *Finder) Keys(ctx context.Context) (remote.Keys, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	left := f.keys.Expires.Sub(now)
	endless := f.keys.Expires.IsZero()
	switch {
	case f.has && (endless || left > early || left > 0 && now.Before(f.next)):
		return f.keys, nil
	}
	keys, err := f.find(ctx)
	if err != nil {
		if f.has && left > 0 && ctx.Err() == nil { // the old ones will do for a while
			f.next = now.Add(retryAfter)
			return f.keys, nil
		}
		return remote.Keys{}, err
	}
	f.has, f.keys = true, keys
	f.next = now.Add(retryAfter) // of a service that gives keys which end soon
	return keys, nil
}

// New returns what finds keys; keys that are in variables or in a profile as they are come at once,
// and then nothing has to be found.
func New(c Config) (remote.Keys, *Finder, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	f := &finding{Config: c}
	if k := f.variables(); k.AccessKey != "" {
		return k, nil, nil
	}
	find, err := f.chain()
	if err != nil {
		return remote.Keys{}, nil, err
	}
	if k, ok := f.plain[c.Name]; ok && find == nil {
		return k, nil, nil
	}
	if find == nil {
		return remote.Keys{}, nil, nil
	}
	return remote.Keys{}, &Finder{find: find, now: c.Now}, nil
}

type finding struct {
	Config
	plain map[string]remote.Keys // of profiles that have them as they are
}

func (f *finding) variables() remote.Keys {
	return remote.Keys{AccessKey: f.Variable("AWS_ACCESS_KEY_ID"), SecretKey: f.Variable("AWS_SECRET_ACCESS_KEY"), SessionToken: f.Variable("AWS_SESSION_TOKEN")}
}

// chain is the first place that there is; nil: none, or keys that are plain.
func (f *finding) chain() (provider, error) {
	if file, role := f.Variable("AWS_WEB_IDENTITY_TOKEN_FILE"), f.Variable("AWS_ROLE_ARN"); file != "" && role != "" {
		return f.webIdentity(file, role, f.Variable("AWS_ROLE_SESSION_NAME")), nil
	}
	find, err := f.profile(f.Name, nil)
	if err != nil || find != nil || f.plain[f.Name].AccessKey != "" {
		return find, err
	}
	if find, err = f.container(); err != nil || find != nil {
		return find, err
	}
	if f.Machine {
		return f.machine(), nil
	}
	return nil, nil
}

// profile is what a profile says; nil: nothing, or keys that are plain. above are those whose roles
// it is the source of.
func (f *finding) profile(name string, above []string) (provider, error) {
	p, err := f.Profile(name)
	switch {
	case err != nil:
		return nil, err
	case len(p) == 0 && name != "default": // it was asked for by this name
		return nil, fmt.Errorf("there is no profile %s, or nothing in it", name)
	}
	keys := remote.Keys{AccessKey: p["aws_access_key_id"], SecretKey: p["aws_secret_access_key"], SessionToken: p["aws_session_token"]}
	source := p["source_profile"]
	own := len(above) > 0 && above[len(above)-1] == name // its role has its own keys as source
	switch role := p["role_arn"]; {
	case role != "" && !own && p["web_identity_token_file"] != "":
		return f.webIdentity(p["web_identity_token_file"], role, p["role_session_name"]), nil
	case role != "" && !own && (source != "" || p["credential_source"] != ""):
		return f.role(name, p, above)
	case keys.AccessKey != "":
		if f.plain == nil {
			f.plain = map[string]remote.Keys{}
		}
		f.plain[name] = keys
		return nil, nil
	case p["credential_process"] != "":
		return f.process(p["credential_process"]), nil
	case p["sso_session"] != "" || p["sso_start_url"] != "":
		return nil, fmt.Errorf("the profile %s signs on by a browser (sso), which gagg does not do: eval \"$(aws configure export-credentials --profile %s --format env)\" hands its keys over", name, name)
	}
	return nil, nil
}

// role is a role that a profile names, for keys of another profile or place.
func (f *finding) role(name string, p map[string]string, above []string) (base provider, err error) {
	switch source, place := p["source_profile"], p["credential_source"]; {
	case p["mfa_serial"] != "":
		return nil, fmt.Errorf("the role of the profile %s asks for a code of a device (mfa_serial), which gagg does not: hand the keys over in variables", name)
	case len(above) >= maxHops:
		return nil, fmt.Errorf("the profile %s: its sources go in a circle", name)
	case source != "":
		if base, err = f.profile(source, append(above, name)); err != nil {
			return nil, err
		}
		if k, ok := f.plain[source]; ok && base == nil {
			base = func(context.Context) (remote.Keys, error) { return k, nil }
		}
	case place == "Environment":
		if k := f.variables(); k.AccessKey != "" {
			base = func(context.Context) (remote.Keys, error) { return k, nil }
		}
	case place == "EcsContainer":
		base, err = f.container()
	case place == "Ec2InstanceMetadata":
		base = f.machine()
	default:
		return nil, fmt.Errorf("the profile %s: credential_source %q is none of Environment, EcsContainer and Ec2InstanceMetadata", name, place)
	}
	if err == nil && base == nil {
		err = fmt.Errorf("the role of the profile %s: %s has no keys", name, cmp.Or(p["source_profile"], p["credential_source"]))
	}
	if err != nil {
		return nil, err
	}
	return f.assume(p, base), nil
}

// processTime is the longest that a process may take.
const processTime = time.Minute

// process runs a command that prints keys.
func (f *finding) process(command string) provider {
	return func(ctx context.Context) (remote.Keys, error) {
		ctx, cancel := context.WithTimeout(ctx, processTime)
		defer cancel()
		shell, flag := "sh", "-c"
		if runtime.GOOS == "windows" {
			shell, flag = "cmd.exe", "/C"
		}
		out, err := exec.CommandContext(ctx, shell, flag, command).Output()
		if err != nil {
			return remote.Keys{}, fmt.Errorf("credential_process: %w", err)
		}
		k, err := parseKeys(out, f.Now())
		if err != nil {
			return k, fmt.Errorf("credential_process: what it prints: %w", err)
		}
		return k, nil
	}
}

var errNoKeys = errors.New("no keys in it")

// tidy is a text of a server for one line of a message.
func tidy(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	return text[:min(len(text), 200)]
}
