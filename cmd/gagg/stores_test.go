package main

import (
	"os"
	"path/filepath"
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
		{nil, gagg.Store{}},
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
