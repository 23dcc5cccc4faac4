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
		`a+b`:                             true,
		`@([a-z.]+)`:                      true,
		`([0-9])(x)`:                      true,
		`a*b`:                             false, // may begin with either
		`(?:ab)?c`:                        false,
		`$`:                               false,
		``:                                false,
		`(?m)^a`:                          false,
		`(?i)^a`:                          false,
		`^a+?b`:                           false,
		`^(a|b)`:                          true, // a class
		`^(ab|cd)`:                        false,
	} {
		if got := newPlainPattern(regexp.MustCompile(pattern)) != nil; got != want {
			t.Errorf("%s: plain is %t, want %t", pattern, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	pieces := []string{
		"a", "ab", "b", "é", "/", "\n", "a*", "b+", "[ab]*", "[^/]+", "[^/]*", ".*", "(?s:.)*", "(?:ab)?", "a?", "[0-9]?", "(a)", "([^b]*)", "(?:é)?", "$", `\z`, "[^a-é]+",
		"(b*(/))", "[é-ü]*", "()",
	}
	letters := []string{"a", "b", "ab", "é", "/", "\n", "0", "\xff", "\xc3", "\ufffd", "aab", "//"}
	plain, anywhere, matches := 0, 0, 0
	for range 20_000 {
		pattern := pick(r, "^", "")
		for range r.IntN(6) {
			pattern += pick(r, pieces...)
		}
		re := regexp.MustCompile(pattern)
		p := newPlainPattern(re)
		if p == nil {
			continue
		}
		plain++
		if p.anywhere {
			anywhere++
		}
		for range 10 {
			var text strings.Builder
			for range r.IntN(9) + r.IntN(2)*r.IntN(200) {
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
	if plain < 2000 || anywhere < 1000 || matches < 5000 {
		t.Errorf("%d plain patterns, %d of them without ^, %d matches: the test has lost its force", plain, anywhere, matches)
	}
}
