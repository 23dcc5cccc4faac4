package expr

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// letters draws n of the first so many letters.
func letters(r *rand.Rand, n, of int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = "ab\x00e\xffg/"[r.IntN(of)]
	}
	return out
}

// index finds what bytes.Index finds: texts that are there by chance, texts that were put at the
// beginning and the end, and texts whose bytes are everywhere.
func TestNeedleIndex(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for round := range 40_000 {
		data := letters(r, r.IntN(300), 1+r.IntN(7))
		text := letters(r, 2+r.IntN(1+r.IntN(40)), 1+r.IntN(7))
		if round%3 == 0 && len(data) >= len(text) {
			copy(data[r.IntN(len(data)-len(text)+1):], text)
		}
		want := bytes.Index(data, text)
		if got := newNeedle(text).index(data); got != want {
			t.Fatalf("%q in %q: %d, want %d", text, data, got, want)
		}
		if want >= 0 {
			found++
		}
	}
	if found < 5000 {
		t.Errorf("%d texts were found", found)
	}
	a := bytes.Repeat([]byte("a"), 100_000)
	if got := newNeedle(append(a[:50:50], 'b')).index(append(a, "b"...)); got != len(a)-50 {
		t.Errorf("found at %d", got)
	}
}

// stringsOf lays strings one behind the other, with gaps of the bytes of between, and gives rows
// of them in order.
func stringsOf(strs [][]byte, between []byte, order []int) column.Vector {
	v := column.Vector{Type: column.Type{Kind: column.String}, Len: len(order)}
	spans := make([]column.Span, len(strs))
	for i, s := range strs {
		v.Data = append(v.Data, between...)
		spans[i] = column.Span{Off: uint32(len(v.Data)), Len: uint32(len(s))}
		v.Data = append(v.Data, s...)
	}
	v.Data = append(v.Data, make([]byte, column.SpanPadding)...)[:len(v.Data)]
	for _, i := range order {
		v.Span = append(v.Span, spans[i])
	}
	return v
}

// The kernel says of each string whether it contains the text: strings end to end, strings with
// gaps that contain the text too, and strings in any order.
func TestNeedleKernel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 5))
	together, apart, hits := 0, 0, 0
	for round := range 3000 {
		strs := make([][]byte, 1+r.IntN(60))
		for i := range strs {
			strs[i] = letters(r, r.IntN(1+r.IntN(60)), 1+r.IntN(7))
		}
		text := letters(r, 2+r.IntN(5), 1+r.IntN(7))
		order := r.Perm(len(strs))
		if round%2 == 0 {
			order = nil
			for i := range strs {
				if round%4 == 0 || r.IntN(3) > 0 {
					order = append(order, i)
				}
			}
		}
		between := [][]byte{nil, text, text[1:], bytes.Repeat(text, 20)}[r.IntN(4)]
		v := stringsOf(strs, between, order)
		if ordered(v.Span) {
			together++
		} else {
			apart++
		}
		f := frame{n: v.Len, args: []*column.Vector{&v}}
		f.out.Int = make([]int64, v.Len)
		for i := range f.out.Int {
			f.out.Int[i] = 7
		}
		if err := newNeedle(text).kernel(&f); err != nil {
			t.Fatal(err)
		}
		for i := range v.Len {
			want := truth(bytes.Contains(v.Bytes(i), text))
			if f.out.Int[i] != want {
				t.Fatalf("round %d: %q in %q: %d, want %d", round, text, v.Bytes(i), f.out.Int[i], want)
			}
			hits += int(want)
		}
	}
	if together < 500 || apart < 500 || hits < 1000 {
		t.Errorf("%d were ordered, %d not; %d hits", together, apart, hits)
	}
}

// like gives what its definition says, whatever the shape of the pattern, with letters of both
// cases and characters of several bytes.
func TestLikeShapes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 7))
	pieces := []string{"", "%", "_", "a", "go", "Go", "ß", "É", "%%", "ogl"}
	texts := []string{"", "a", "google", "a Google b", "GOO", "éßÉ", "go\xffgle", strings.Repeat("goo ", 30) + "google"}
	for range 400 {
		var pattern string
		for range r.IntN(5) {
			pattern += pieces[r.IntN(len(pieces))]
		}
		for _, fold := range []bool{false, true} {
			var strs [][]byte
			var order []int
			for i := range 40 {
				strs = append(strs, []byte(texts[r.IntN(len(texts))]))
				order = append(order, i)
			}
			v := stringsOf(strs, nil, order)
			f := frame{n: v.Len, args: []*column.Vector{&v}}
			f.out.Int = make([]int64, v.Len)
			match, known := likeConst, pattern
			if fold {
				match, known = likeFolded, strings.ToLower(pattern)
			}
			if err := match(known)(&f); err != nil {
				t.Fatal(err)
			}
			for i, s := range strs {
				p := []byte(pattern)
				if fold {
					s, p = bytes.ToLower(s), bytes.ToLower(p)
				}
				if want := truth(matchLike(p, s)); f.out.Int[i] != want {
					t.Fatalf("%q like %q, fold %v: %d, want %d", strs[i], pattern, fold, f.out.Int[i], want)
				}
			}
		}
	}
}
