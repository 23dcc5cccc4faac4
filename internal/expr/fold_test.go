package expr

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// appendFolded makes letters of ASCII small, and changes nothing else.
func TestAppendFolded(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(36, 3))
	for range 20_000 {
		s := make([]byte, r.IntN(40))
		for i := range s {
			s[i] = byte(r.Uint32())
		}
		want := []byte("x")
		for _, c := range s {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			want = append(want, c)
		}
		if got := appendFolded([]byte("x"), s); !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
	}
}

// ilike is like of both in lower case, whatever the letters: those of ASCII, those that become
// ASCII, and others.
func TestLikeFolded(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(36, 4))
	draw := func(n int, from []string) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	ascii := []string{"a", "A", "b", "K", "k", "I", "i", "Z", "[", "@", "0"}
	all := append([]string{"İ", "K", "ß", "É", "é", "Å", "\xff", "\xc4", "日"}, ascii...)
	found := 0
	for round := range 4000 {
		letters := ascii
		if round%3 == 0 {
			letters = all
		}
		pattern := draw(4, append([]string{"%", "_"}, letters...))
		if round%2 == 0 {
			pattern = "%" + strings.ReplaceAll(pattern, "_", "") + "%"
		}
		var texts [][]byte
		for range 20 {
			texts = append(texts, []byte(draw(8, [][]string{letters, all}[r.IntN(2)])))
		}
		v := stringsOf(texts, nil, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})
		f := frame{n: v.Len, args: []*column.Vector{&v}}
		f.reset(v.Len, &bound{typ: boolType})
		if err := likeFolded(strings.ToLower(pattern))(&f); err != nil {
			t.Fatal(err)
		}
		for i, s := range texts {
			want := matchLike([]byte(strings.ToLower(pattern)), bytes.ToLower(s))
			if got := f.out.Int[i] == 1; got != want {
				t.Fatalf("%q ilike %q: %t, want %t", s, pattern, got, want)
			}
			found += int(f.out.Int[i])
		}
	}
	if found < 4000 {
		t.Errorf("%d texts were found", found)
	}
}
