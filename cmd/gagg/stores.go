package main

import (
	"bufio"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg"
)

const googleEndpoint = "https://storage.googleapis.com"

// stores are where s3:// and gs:// are, as the variables and files of Amazon's tools say, and
// GS_ACCESS_KEY_ID and the like; nil: no input is there.
func (c *command) stores() (map[string]gagg.Store, error) {
	if !slices.ContainsFunc(c.inputs, isStored) {
		return nil, nil
	}
	s3, err := c.amazonStore()
	return map[string]gagg.Store{"s3": s3, "gs": {
		Endpoint: cmp.Or(c.variable("GS_ENDPOINT_URL"), googleEndpoint), Region: "auto",
		AccessKey: c.variable("GS_ACCESS_KEY_ID"), SecretKey: c.variable("GS_SECRET_ACCESS_KEY"),
	}}, err
}

func isStored(input string) bool {
	scheme, _, ok := strings.Cut(strings.ToLower(input), "://")
	return ok && (scheme == "s3" || scheme == "gs")
}

// variable is one of the environment; "": it is not set.
func (c *command) variable(name string) (value string) {
	for _, v := range c.env {
		if text, ok := strings.CutPrefix(v, name+"="); ok {
			value = text // the last one counts
		}
	}
	return value
}

// amazonStore puts variables before files, and the file of credentials before that of settings.
func (c *command) amazonStore() (gagg.Store, error) {
	home := filepath.Join(c.variable("HOME"), ".aws")
	profile := cmp.Or(c.variable("AWS_PROFILE"), c.variable("AWS_DEFAULT_PROFILE"), "default")
	section := "profile " + profile
	if profile == "default" {
		section = profile
	}
	config, err1 := profileOf(cmp.Or(c.variable("AWS_CONFIG_FILE"), filepath.Join(home, "config")), section)
	secrets, err2 := profileOf(cmp.Or(c.variable("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, "credentials")), profile)
	s := gagg.Store{
		Endpoint:  cmp.Or(c.variable("AWS_ENDPOINT_URL_S3"), c.variable("AWS_ENDPOINT_URL"), config["endpoint_url"]),
		Region:    cmp.Or(c.variable("AWS_REGION"), c.variable("AWS_DEFAULT_REGION"), config["region"]),
		AccessKey: c.variable("AWS_ACCESS_KEY_ID"), SecretKey: c.variable("AWS_SECRET_ACCESS_KEY"), SessionToken: c.variable("AWS_SESSION_TOKEN"),
	}
	for _, from := range []map[string]string{secrets, config} {
		if s.AccessKey == "" { // keys go together
			s.AccessKey, s.SecretKey, s.SessionToken = from["aws_access_key_id"], from["aws_secret_access_key"], from["aws_session_token"]
		}
	}
	return s, errors.Join(err1, err2)
}

// profileOf is the settings of a section of a file of Amazon's tools; none if there is no such
// file.
func profileOf(file, section string) (map[string]string, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usagef("%v", err)
	}
	defer func() { _ = f.Close() }() // only read from
	settings := map[string]string{}
	in := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch name, value, ok := strings.Cut(line, "="); {
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, ";"):
		case strings.HasPrefix(line, "["):
			in = strings.Join(strings.Fields(strings.Trim(line, "[]")), " ") == section
		case in && ok:
			settings[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return settings, lines.Err()
}
