package expr

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// The text that a pattern needs is in all its matches. A text that only some matches have is not
// chosen.
func TestNeededText(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"google":                  "google",
		`google\.(com|ru)/search`: "google.",
		"a(bc)+d*":                "bc",
		"a(bc)*d":                 "",
		"(abc){2,3}":              "abc",
		"(abc){0,3}":              "",
		"abc|abd":                 "ab",
		"abc|xbc":                 "",
		"(?i)google":              "",
		"x?yz":                    "yz",
		"[a-c]bc":                 "bc",
		"\uFFFDabc":               "",
		"^$":                      "",
		"(?i:a)bcd":               "bcd",
	} {
		got := ""
		if n := neededText(regexp.MustCompile(pattern)); n != nil {
			got = string(n.text)
		}
		if got != want {
			t.Errorf("%s needs %q, want %q", pattern, got, want)
		}
	}
}

// Functions of regular expressions that look for a needed text first give what package regexp
// gives: for strings with the text, with the text but no match, and without it.
func TestNeededTextResults(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 9))
	parts := []string{"go", "gle", "google", ".com", ".ru", "/", "a", "\xff", "é", "goo"}
	matches := 0
	for _, pattern := range []string{`goo+gle\.(com|ru)+`, `(go)+gle/?$`, `[a-g]oo(gle|/)+a`, `a.*google`, `éa+/`, `google([a-z.]+)`} {
		re := regexp.MustCompile(pattern)
		if neededText(re) == nil {
			t.Fatalf("%s needs no text", pattern)
		}
		for range 200 {
			var strs [][]byte
			for range 30 {
				var s []byte
				for range r.IntN(12) {
					s = append(s, parts[r.IntN(len(parts))]...)
				}
				strs = append(strs, s)
			}
			v := stringsOf(strs, nil, r.Perm(len(strs)))
			f := frame{n: v.Len, args: []*column.Vector{&v}}
			f.out.Int = make([]int64, v.Len)
			if err := testPattern(re)(&f); err != nil {
				t.Fatal(err)
			}
			find := finder(re, true)
			for i := range v.Len {
				want := re.FindSubmatchIndex(v.Bytes(i))
				got := find(v.Bytes(i), new(matchMarks))
				if f.out.Int[i] != truth(want != nil) || len(got) != len(want) || want != nil && (got[0] != want[0] || got[1] != want[1]) {
					t.Fatalf("%s in %q: %d, %v, want %v", pattern, v.Bytes(i), f.out.Int[i], got, want)
				}
				if want != nil {
					matches++
				}
			}
		}
	}
	if matches < 300 {
		t.Errorf("%d matches", matches)
	}
}
