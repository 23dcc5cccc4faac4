package expr

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
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
		`[0-9]{4}-[0-9]{2}`:               true,
		`[0-9]{2,}x`:                      true,
		`[0-9]{2,3}9`:                     false,
		`.{3}`:                            false,
		`google\.(com|ru)/`:               true,
		`a(?:bc|bcd)`:                     false, // both may match
		`(fix|bug)[a-z]* [0-9]+`:          true,
		`<b>(.*?)</b>`:                    true,
		`<b>(.*?)</b>c*`:                  false, // the run may have to go on
		`<b>(.+?)`:                        false,
		`a*b`:                             false, // may begin with either
		`(?:ab)?c`:                        false,
		`$`:                               false,
		``:                                false,
		`(?m)^a`:                          false,
		`(?i)^a`:                          false,
		`^a+?b`:                           true,
		`^a??b`:                           false,
		`^(a|b)`:                          true, // a class
		`^(ab|cd)`:                        true,
	} {
		if got := newPlainPattern(regexp.MustCompile(pattern)) != nil; got != want {
			t.Errorf("%s: plain is %t, want %t", pattern, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	pieces := []string{
		"a", "ab", "b", "é", "/", "\n", "a*", "b+", "[ab]*", "[^/]+", "[^/]*", ".*", "(?s:.)*", "(?:ab)?", "a?", "[0-9]?", "(a)", "([^b]*)", "(?:é)?", "$", `\z`, "[^a-é]+",
		"(b*(/))", "[é-ü]*", "()", "[ab]{2}", "[0-9]{1,2}", "b{2,}", "(ab|é)", "(?:aa|b/)", "(.*?)/", "[ab]*?b", "a+?/", "a{2,3}?b", "a{0}", "(?s:.*?)ab",
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

// Every match is replaced as package regexp does it, by patterns that may begin anywhere and by
// others.
func TestReplaceAll(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 6))
	for _, pattern := range []string{"[0-9]+", "a([^/]*)/", "é+", "^a+", "a*", "(a|b)b", "[0-9]{2}", "/(.*?)b", "b"} {
		re := regexp.MustCompile(pattern)
		e := bindText(t, "regexp_replace(s, '"+pattern+"', '<\\0>', 'g')")
		var texts []column.Value
		for range 500 {
			var text strings.Builder
			for range r.IntN(60) {
				text.WriteString(pick(r, "a", "b", "1", "23", "/", "é", "\n", "\ufffd"))
			}
			texts = append(texts, column.Value{Type: stringType, Bytes: text.String()})
		}
		var out column.Vector
		if err := e.NewEval().Eval(&column.Batch{Rows: len(texts), Cols: []column.Vector{8: flatVector(stringType, texts)}}, &out); err != nil {
			t.Fatal(err)
		}
		for i, x := range texts {
			if got, want := out.At(i).Bytes, re.ReplaceAllString(x.Bytes, "<${0}>"); got != want {
				t.Fatalf("%s in %q: %q, want %q", pattern, x.Bytes, got, want)
			}
		}
	}
}
