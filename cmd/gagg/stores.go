package main

import (
	"bufio"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/credentials"
)

const googleEndpoint = "https://storage.googleapis.com"

// stores are the stores behind s3:// and gs://, by the variables and files of Amazon's tools, and
// by GS_ACCESS_KEY_ID and the like; nil: no input is in one.
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
	profile := cmp.Or(c.variable("AWS_PROFILE"), c.variable("AWS_DEFAULT_PROFILE"), "default")
	settings, err := c.profile(profile)
	if err != nil {
		return gagg.Store{}, err
	}
	s := gagg.Store{
		Endpoint: cmp.Or(c.variable("AWS_ENDPOINT_URL_S3"), c.variable("AWS_ENDPOINT_URL"), settings["endpoint_url"]),
		Region:   cmp.Or(c.variable("AWS_REGION"), c.variable("AWS_DEFAULT_REGION"), settings["region"]),
	}
	transport, err := c.transport()
	if err != nil {
		return s, err
	}
	keys, finder, err := credentials.New(credentials.Config{
		Variable: c.variable, Profile: c.profile, Name: profile, Region: s.Region, Machine: isAmazon(s.Endpoint), Transport: transport,
	})
	if err != nil {
		return s, usagef("%v", err)
	}
	if s.AccessKey, s.SecretKey, s.SessionToken = keys.AccessKey, keys.SecretKey, keys.SessionToken; finder != nil {
		s.Finder = finder
	}
	return s, nil
}

// isAmazon reports whether an endpoint is one of Amazon's: the keys of a machine are sent to no
// other endpoint.
func isAmazon(endpoint string) bool {
	if endpoint == "" {
		return true
	}
	u, err := url.Parse(endpoint)
	return err == nil && (strings.HasSuffix(u.Hostname(), ".amazonaws.com") || strings.HasSuffix(u.Hostname(), ".amazonaws.com.cn"))
}

// profile returns the settings of a profile, from both files. A key and its secret always come
// from one file.
func (c *command) profile(name string) (map[string]string, error) {
	home := filepath.Join(c.variable("HOME"), ".aws")
	section := "profile " + name
	if name == "default" {
		section = name
	}
	config, err1 := profileOf(cmp.Or(c.variable("AWS_CONFIG_FILE"), filepath.Join(home, "config")), section)
	secrets, err2 := profileOf(cmp.Or(c.variable("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, "credentials")), name)
	all := map[string]string{}
	maps.Copy(all, config)
	if secrets["aws_access_key_id"] != "" {
		for _, key := range []string{"aws_access_key_id", "aws_secret_access_key", "aws_session_token"} {
			delete(all, key)
		}
	}
	maps.Copy(all, secrets)
	return all, errors.Join(err1, err2)
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
