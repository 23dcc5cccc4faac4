package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// Credentials are found as Amazon's tools find them: variables before files, keys together.
func TestStoresFound(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		"credentials": "[default]\naws_access_key_id = file-key\naws_secret_access_key=file-secret\n\n[other]\naws_access_key_id=other-key\naws_secret_access_key=o=s\naws_session_token=t\n",
		"config":      "# a comment\n[default]\nregion = mars-1\n[profile  other]\nregion=mars-2\nendpoint_url = http://localhost:9000\n",
	} {
		if err := os.MkdirAll(filepath.Join(home, ".aws"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".aws", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		env  []string
		want gagg.Store
	}{
		{[]string{"AWS_EC2_METADATA_DISABLED=true"}, gagg.Store{}},
		{[]string{"HOME=" + home}, gagg.Store{Region: "mars-1", AccessKey: "file-key", SecretKey: "file-secret"}},
		{
			[]string{"HOME=" + home, "AWS_PROFILE=other"},
			gagg.Store{Endpoint: "http://localhost:9000", Region: "mars-2", AccessKey: "other-key", SecretKey: "o=s", SessionToken: "t"},
		},
		{
			[]string{"HOME=" + home, "AWS_ACCESS_KEY_ID=k", "AWS_SECRET_ACCESS_KEY=s", "AWS_REGION=r", "AWS_ENDPOINT_URL=e"},
			gagg.Store{Endpoint: "e", Region: "r", AccessKey: "k", SecretKey: "s"},
		},
		{[]string{"HOME=/nowhere", "AWS_SHARED_CREDENTIALS_FILE=" + home + "/.aws/credentials"}, gagg.Store{AccessKey: "file-key", SecretKey: "file-secret"}},
	} {
		c := &command{env: test.env}
		if all, err := c.stores(); err != nil || all != nil {
			t.Errorf("asked for by nobody: %v, %v", all, err)
		}
		c.inputs = []string{"x", "s3://b/k"}
		if all, err := c.stores(); err != nil || all["s3"] != test.want || all["gs"].Endpoint != googleEndpoint {
			t.Errorf("%q: %+v, want %+v; %v", test.env, all["s3"], test.want, err)
		}
	}
}

// Where neither variables nor profiles have keys as they are, they are found when they are needed;
// those of a machine are for Amazon alone.
func TestStoresFinder(t *testing.T) {
	for _, test := range []struct {
		env  []string
		want bool
	}{
		{nil, true}, // the machine is asked when keys are needed, not here
		{[]string{"AWS_EC2_METADATA_DISABLED=true"}, false},
		{[]string{"AWS_ENDPOINT_URL_S3=http://localhost:9000"}, false},
		{[]string{"AWS_ENDPOINT_URL_S3=https://bucket.vpce-1-2.s3.us-east-1.vpce.amazonaws.com"}, true},
		{[]string{"AWS_ENDPOINT_URL_S3=https://amazonaws.com.example.org"}, false},
		{[]string{"AWS_ENDPOINT_URL_S3=http://localhost:9000", "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://localhost:1/x"}, true},
		{[]string{"AWS_ENDPOINT_URL_S3=http://localhost:9000", "AWS_WEB_IDENTITY_TOKEN_FILE=t", "AWS_ROLE_ARN=r"}, true},
		{[]string{"AWS_ACCESS_KEY_ID=k", "AWS_WEB_IDENTITY_TOKEN_FILE=t", "AWS_ROLE_ARN=r"}, false},
	} {
		c := &command{env: append(test.env, "HOME=/nowhere")}
		c.inputs = []string{"s3://b/k"}
		if all, err := c.stores(); err != nil || (all["s3"].Finder != nil) != test.want {
			t.Errorf("%q: %+v, %v", test.env, all["s3"], err)
		}
	}
	for _, env := range []string{
		"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.org/x", // a token would leave the machine without encryption
		"AWS_PROFILE=misspelt",
	} {
		c := &command{env: []string{env, "HOME=/nowhere"}}
		c.inputs = []string{"s3://b/k"}
		if _, err := c.stores(); err == nil {
			t.Errorf("%s is taken", env)
		}
	}
}

// AWS_CA_BUNDLE has certificates that are trusted too; without any it is a mistake.
func TestCABundle(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for bundle, want := range map[string]bool{file: true, "": false} {
		c := &command{env: []string{"AWS_CA_BUNDLE=" + bundle}}
		transport, err := c.transport()
		if err != nil {
			t.Fatal(err)
		}
		r, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err == nil {
			_ = r.Body.Close()
		}
		if (err == nil) != want {
			t.Errorf("%q: %v", bundle, err)
		}
	}
	if _, err := (&command{env: []string{"AWS_CA_BUNDLE=/nowhere"}}).transport(); err == nil {
		t.Error("a file that is not there is taken")
	}
	transport, err := (&command{env: []string{"AWS_CA_BUNDLE=" + os.Args[0]}}).transport()
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&http.Client{Transport: transport}).Get(server.URL)
	if err == nil {
		_ = r.Body.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "no certificates") {
		t.Errorf("a file without certificates: %v", err)
	}
}
