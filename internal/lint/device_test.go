package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Tests of whole queries that need a device run where there is one: make picks them by their names.
func TestDeviceTestsAreRun(t *testing.T) {
	const root = "../.."
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	packages := regexp.MustCompile(`(?m)^QUERY_PACKAGES = (.+)$`).FindSubmatch(makefile)
	if packages == nil {
		t.Fatal("the Makefile has no QUERY_PACKAGES")
	}
	files := 0
	for dir := range strings.FieldsSeq(string(packages[1])) {
		list, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(source), "gputest.") {
				continue
			}
			files++
			for _, name := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(source), -1) {
				if !strings.Contains(name[1], "Device") {
					t.Errorf("%s: %s has no Device in its name, so make test-emu and test-gpu pass it over", file, name[1])
				}
			}
		}
	}
	if files < 8 {
		t.Errorf("only %d files of tests that need a device found", files)
	}
}
