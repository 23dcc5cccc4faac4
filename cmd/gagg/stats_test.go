package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// docs/stats.md has each key of the JSON of --stats, by its path, and no other.
func TestStatsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/stats.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.\\[\\]]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented[m[1]] = true
	}
	keys := jsonKeys(reflect.TypeFor[runStats](), "")
	if len(keys) < 60 {
		t.Errorf("only %d keys were found", len(keys))
	}
	for _, key := range keys {
		if !documented[key] {
			t.Errorf("docs/stats.md says nothing of %s", key)
		}
		delete(documented, key)
	}
	for key := range documented {
		t.Errorf("docs/stats.md has %s, which is no key", key)
	}
}

// jsonKeys are the paths of the keys of a type as JSON: devices[].streams[].jobs.
func jsonKeys(of reflect.Type, under string) (keys []string) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		return jsonKeys(of.Elem(), under)
	case reflect.Struct:
	default:
		return nil
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			keys = append(keys, jsonKeys(field.Type, under)...)
			continue
		}
		if field.Type.Kind() == reflect.Slice {
			name += "[]"
		}
		keys = append(append(keys, under+name), jsonKeys(field.Type, under+name+".")...)
	}
	return keys
}
