package expr

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPlainPattern protects that patterns which go through a text once match
// as in package regexp, groups too, and which patterns they are.
func TestPlainPattern(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		`^https?://(?:www\.)?([^/]+)/.*$`: true,
		`^a*b`:                            true,
		`^[a-z]+([0-9]*)`:                 true,
		`^(?:a)?(?:a)?(?:a)?(?:a)?`:       true,
		`^a?a?a?a?a?a?`:                   false, // too many ways, or ways back
		`^a*ab`:                           false, // the run has to give back
		`^.*/`:                            false,
		`^.`:                              false, // one character may be several bytes
		`^é+`:                             false,
		`a+b`:                             false, // may begin anywhere
		`(?m)^a`:                          false,
		`(?i)^a`:                          false,
		`^a+?b`:                           false,
		`^(a|b)`:                          true, // a class
		`^(ab|cd)`:                        false,
	} {
		if got := newPlainPattern(pattern) != nil; got != want {
			t.Errorf("%s: plain is %t, want %t", pattern, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	pieces := []string{
		"a", "ab", "b", "é", "/", "\n", "a*", "b+", "[ab]*", "[^/]+", "[^/]*", ".*", "(?s:.)*", "(?:ab)?", "a?", "[0-9]?", "(a)", "([^b]*)", "(?:é)?", "$", `\z`, "[^a-é]+",
		"(b*(/))", "[é-ü]*", "()",
	}
	letters := []string{"a", "b", "ab", "é", "/", "\n", "0", "\xff", "\xc3", "\ufffd", "aab", "//"}
	plain, matches := 0, 0
	for range 20_000 {
		pattern := "^"
		for range r.IntN(6) {
			pattern += pick(r, pieces...)
		}
		p := newPlainPattern(pattern)
		if p == nil {
			continue
		}
		plain++
		re := regexp.MustCompile(pattern)
		for range 10 {
			var text strings.Builder
			for range r.IntN(9) {
				text.WriteString(pick(r, letters...))
			}
			var slots matchMarks
			s := []byte(text.String())
			got, want := p.match(s, slots[:]), re.FindSubmatchIndex(s)
			if !slices.Equal(got, want) {
				t.Fatalf("%q in %q: %v, want %v", pattern, s, got, want)
			}
			matches += int(truth(want != nil))
		}
	}
	if plain < 2000 || matches < 5000 {
		t.Errorf("%d plain patterns, %d matches: the test has lost its force", plain, matches)
	}
}
