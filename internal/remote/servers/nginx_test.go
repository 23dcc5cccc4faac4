package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
)

// nginx is a server of the files in a folder.
type nginx struct {
	dir    string
	socket string
	cmd    *exec.Cmd
}

// config of nginx: as it is (/), slowly (/slow), at most 10 requests a second (/busy).
const config = `
daemon off; master_process off; worker_processes 1;
pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path %[1]s/t1; proxy_temp_path %[1]s/t2; fastcgi_temp_path %[1]s/t3; uwsgi_temp_path %[1]s/t4; scgi_temp_path %[1]s/t5;
	limit_req_zone $uri zone=few:1m rate=10r/s;
	server {
		listen unix:%[1]s/socket;
		root %[1]s/files;
		location / { access_log %[1]s/access.log; }
		location /slow/ { alias %[1]s/files/; limit_rate 3m; }
		location /busy/ { alias %[1]s/files/; limit_req zone=few; limit_req_status 503; add_header Retry-After 1 always; }
	}
}
`

func newNginx(t *testing.T) *nginx {
	t.Helper()
	binary, err := exec.LookPath("nginx")
	if err != nil {
		binary, err = exec.LookPath("/usr/sbin/nginx")
	}
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal("no nginx: .ci/run installs it")
	case err != nil:
		t.Skip("SKIPPED: no nginx on this machine (apt-get install nginx-light)")
	}
	dir, err := os.MkdirTemp("", "nginx") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	n := &nginx{dir: dir, socket: filepath.Join(dir, "socket")}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "files"), 0o700), os.WriteFile(filepath.Join(dir, "conf"), fmt.Appendf(nil, config, dir), 0o600)); err != nil {
		t.Fatal(err)
	}
	n.cmd = exec.Command(binary, "-p", dir, "-c", filepath.Join(dir, "conf"), "-e", filepath.Join(dir, "error.log"))
	n.cmd.Stderr = os.Stderr
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.stop)
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) { // it says nothing when it listens
		c, err := net.Dial("unix", n.socket)
		if err == nil {
			_ = c.Close()
			return n
		}
		if time.Since(began) > 20*time.Second {
			t.Fatal(err)
		}
	}
}

// stop ends the server, after the answers under way.
func (n *nginx) stop() {
	if n.cmd.ProcessState == nil {
		_ = n.cmd.Process.Signal(syscall.SIGQUIT)
		_ = n.cmd.Wait()
	}
}

func (n *nginx) put(t *testing.T, name string, data []byte) {
	t.Helper()
	at := filepath.Join(n.dir, "files", name)
	if err := errors.Join(os.WriteFile(at+".new", data, 0o600), os.Rename(at+".new", at)); err != nil {
		t.Fatal(err)
	}
}

// transport asks the server whatever the host in a URL; before is called with each request.
func (n *nginx) transport(before func(n int64, r *http.Request)) *hooked {
	return &hooked{before: before, RoundTripper: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", n.socket)
		},
	}}
}

// Files on nginx are read as on S3: in few requests, whole, whatever comes in between.
func TestNginx(t *testing.T) {
	t.Parallel()
	n := newNginx(t)
	file := wide(t, 300_000, 1) // 19.2 MB
	small := wide(t, 20_000, 3) // 1.3 MB
	n.put(t, "x.parquet", file)
	n.put(t, "small.parquet", small)
	check := func(t *testing.T, path string, of []byte, o gagg.Options, aggs string) gagg.Stats {
		t.Helper()
		want, _, err := ask(t, "", of, aggs, "", gagg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, stats, err := ask(t, "http://nginx"+path, nil, aggs, "", o)
		if err != nil || got != want {
			t.Fatalf("%s, want %s; %+v; %v", got, want, stats.Remote, err)
		}
		return stats
	}
	total := int64(0)
	for aggs, most := range map[string]int64{all: 1 + 3, "sum(c3)": 1 + 1, "sum(c0), sum(c7)": 1 + 2, "count(*)": 1} {
		h := n.transport(nil)
		s := check(t, "/x.parquet", file, gagg.Options{Transport: h}, aggs)
		if h.n.Load() > most || s.Remote.Requests != h.n.Load() {
			t.Errorf("%s: %d requests, want %d; %+v", aggs, h.n.Load(), most, s.Remote)
		}
		total += h.n.Load()
	}
	began := time.Now()
	if s := check(t, "/slow/small.parquet", small, gagg.Options{Transport: n.transport(nil)}, all); s.Remote.Retries != 0 || time.Since(began) < 200*time.Millisecond {
		t.Errorf("slowly: %+v after %v", s.Remote, time.Since(began))
	}
	if s := check(t, "/busy/x.parquet", file, gagg.Options{Transport: n.transport(nil)}, all); s.Remote.Retries == 0 {
		t.Errorf("at most so many requests a second: %+v", s.Remote)
	}
	at := newResets(t, "unix", n.socket, func(n int) int64 { return []int64{40_000, 0, 3_000_000, 20}[n%4] })
	got, stats, err := ask(t, "http://"+at+"/slow/small.parquet", nil, "sum(c1)", "", gagg.Options{})
	want, _, _ := ask(t, "", small, "sum(c1)", "", gagg.Options{})
	if err != nil || got != want || stats.Remote.Retries == 0 {
		t.Errorf("resets: %s, want %s; %+v; %v", got, want, stats.Remote, err)
	}
	replaced := n.transport(func(i int64, _ *http.Request) {
		if i == 1 {
			n.put(t, "x.parquet", changed(file))
		}
	})
	if got, _, err := ask(t, "http://nginx/x.parquet", nil, all, "", gagg.Options{Transport: replaced}); !errors.Is(err, gagg.ErrInput) ||
		!strings.Contains(err.Error(), "http://nginx/x.parquet: ") || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("replaced: %q, %v", got, err)
	}
	total += replaced.n.Load()
	n.stop()
	log, err := os.ReadFile(filepath.Join(n.dir, "access.log"))
	// one whose run has failed may not have come so far
	if lines := int64(strings.Count(string(log), "\n")); err != nil || lines > total || lines < total-2 {
		t.Errorf("the server counts %d requests of %d; %v", lines, total, err)
	}
}
