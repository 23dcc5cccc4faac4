package gagg_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Go code in the pages is a part of a function in an example, which go test compiles and runs.
func TestGoCodeInDocs(t *testing.T) {
	var compiled strings.Builder
	for _, name := range []string{"example_test.go", "example_etl_test.go", "arrow18/example_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		compiled.Write(text)
	}
	page, err := os.ReadFile("docs/embed.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) < 4 {
		t.Errorf("%d pieces of Go in the page", len(blocks))
	}
	for _, b := range blocks {
		code := "\n" + string(b[1])
		if !strings.Contains(compiled.String(), strings.TrimRight(strings.ReplaceAll(code, "\n", "\n\t"), "\t")) {
			t.Errorf("no example has this code of the page:%s", code)
		}
	}
}
